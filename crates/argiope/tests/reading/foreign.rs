//! A crawl's directory from somebody else: it runs no program, gets no password, and has no file changed that lies elsewhere.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crawl::CrawlDir;
use serde_json::json;
use store::{Batch, Segment};
use testkit::crawled::Crawled;
use testkit::ran::{Ran, argiope};

fn set(dir: &str, key: &str, value: &str) {
    let path = Path::new(dir).join("crawl.toml");
    let text = std::fs::read_to_string(&path).expect("settings");
    let is_it = |line: &&str| !line.starts_with(&format!("{key} = "));
    let text: String = text.lines().filter(is_it).map(|line| format!("{line}\n")).collect();
    std::fs::write(path, format!("{key} = {value}\n{text}")).expect("settings");
}

/// Runs the binary with an environment.
fn with(environment: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
    for name in ["PGHOST", "PGPORT", "PGPASSWORD", "PGPASSFILE", "ARGIOPE_BROWSER"] {
        command.env_remove(name);
    }
    let output = command.args(arguments).envs(environment.iter().copied()).stdin(Stdio::null()).output();
    let output = output.expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: output.status.code().expect("no signal"), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn no_program_that_a_directory_names_is_run() {
    // Pages are left, for which a browser is started.
    let crawled = Crawled::with(&["--max-pages", "2"]);
    let elsewhere = tempfile::tempdir().expect("a directory");
    let at = |name: &str| elsewhere.path().join(name);
    let (program, ran) = (at("program"), at("ran"));
    for (program, trace) in [(&program, &ran), (&at("chromium"), &at("own"))] {
        std::fs::write(program, format!("#!/bin/sh\n: > {}\n", trace.display())).expect("written");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("set");
    }
    set(crawled.dir(), "browser", &format!("\"{}\"", program.display()));
    set(crawled.dir(), "render", "\"always\"");
    let crawl = ["crawl", "-o", crawled.dir(), "--progress", "none", "--max-pages", "100", "--delay", "0"];
    // The first in PATH is the user's own.
    let path = [at("").display().to_string(), std::env::var("PATH").expect("a path")].join(":");
    let again = with(&[("PATH", &path)], &crawl);
    assert!(again.stderr.contains("the browser that is named there is not used"), "{again:?}");
    assert!(again.stderr.contains("--browser"), "{again:?}");
    assert!(at("own").exists(), "a browser was started: {again:?}");
    assert!(!ran.exists());
    let again = with(&[("PATH", &path)], &[&crawl[..], &["--render", "never"]].concat());
    assert_eq!(again.code, 0, "{again:?}");
    let text = std::fs::read_to_string(Path::new(crawled.dir()).join("crawl.toml")).expect("settings");
    assert!(!text.contains("\nbrowser = ") && !text.starts_with("browser = "), "{text}");
    for command in ["status", "report", "derive"] {
        let ran = crawled.run(command, &[]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert!(!ran.exists());
}

#[test]
fn no_file_that_a_directory_names_is_read_where_a_command_only_reads() {
    let crawled = Crawled::small();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let at = |name: &str| elsewhere.path().join(name).display().to_string();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo").success());
    let crawl = |more: &[&str]| with(&[], &[&["crawl", "-o", crawled.dir(), "--progress", "none"], more].concat());
    for (path, why) in [
        (at("pipe"), "is not a regular file"),
        ("/etc/passwd".to_owned(), "line 1: matches no URL"),
        (at("missing"), "No such file"),
        ("ex.txt".to_owned(), "relative to the directory"),
    ] {
        for (key, value) in [("exclude-file", format!("\"{path}\"")), ("ca-cert", format!("[\"{path}\"]"))] {
            set(crawled.dir(), key, &value);
            for (command, arguments) in [
                ("check", &[][..]),
                ("explain", &["http://a.test/"]),
                ("export", &["jsonl"]),
                ("derive", &[]),
                ("steer", &["pause"]),
                ("steer", &["resume"]),
            ] {
                let ran = crawled.run(command, arguments);
                assert!(ran.code == 0 && !format!("{ran:?}").contains("root:"), "{key} {path}: {command}: {ran:?}");
                if (command, key) == ("explain", "exclude-file") {
                    assert!(ran.stdout.contains("are not kept with the crawl"), "{}", ran.stdout);
                }
            }
            let refused = crawl(&[]);
            assert!(refused.code == 2 && !refused.stderr.contains("root:"), "{key} {path}: {refused:?}");
            assert!(refused.stderr.contains(&format!("give it again with --{key} FILE")), "{refused:?}");
            assert!(key == "ca-cert" || refused.stderr.contains(why), "{refused:?}");
            assert_eq!(crawl(&["--unset", key]).code, 0);
        }
    }
    // One that is there, as crawls of earlier versions name it, is kept from now on.
    std::fs::write(at("patterns"), "*/nothing/*\n").expect("written");
    set(crawled.dir(), "exclude-file", &format!("\"{}\"", at("patterns")));
    let kept = crawl(&[]);
    assert!(kept.code == 0 && kept.stderr.contains("the file is not read again"), "{kept:?}");
    let text = std::fs::read_to_string(Path::new(crawled.dir()).join("crawl.toml")).expect("settings");
    assert!(text.contains("*/nothing/*") && !text.contains(&at("patterns")), "{text}");
}

/// What a database that wants a password is sent after it said so.
fn sent_to(listener: &TcpListener) -> Vec<u8> {
    let (mut stream, _) = listener.accept().expect("a client");
    let packet = |stream: &mut TcpStream, kind: bool| {
        let mut head = vec![0; if kind { 5 } else { 4 }];
        stream.read_exact(&mut head).ok()?;
        let length = head[head.len() - 4..].iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        let mut body = vec![0; length.saturating_sub(4)];
        stream.read_exact(&mut body).ok()?;
        Some([head, body].concat())
    };
    packet(&mut stream, false).expect("a greeting");
    // AuthenticationCleartextPassword (PostgreSQL, message formats).
    stream.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).expect("sent");
    packet(&mut stream, true).unwrap_or_default()
}

#[test]
fn no_host_that_only_a_directory_names_gets_a_password() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port().to_string();
    let url = format!("postgres://me@127.0.0.1:{port}/db");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().to_str().expect("UTF-8");
    std::fs::create_dir(dir.path().join("state")).expect("a directory");
    let passfile = dir.path().join("pass");
    std::fs::write(&passfile, "127.0.0.1:*:*:*:s3cret\n").expect("written");
    std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o600)).expect("set");
    let passfile = passfile.to_str().expect("UTF-8");
    let config = dir.path().join("config.toml");
    std::fs::write(&config, format!("store = \"{url}\"\n")).expect("written");
    std::fs::write(dir.path().join("crawl.toml"), format!("store = \"{url}\"\n")).expect("written");
    let sent = |environment: &[(&str, &str)], arguments: &[&str]| {
        std::thread::scope(|scope| {
            let sent = scope.spawn(|| sent_to(&listener));
            let ran = with(environment, arguments);
            assert_eq!(ran.code, 1, "{ran:?}");
            (sent.join().expect("no panic"), ran.stderr)
        })
    };
    let commands: [&[&str]; 4] =
        [&["status", path], &["report", path], &["crawl", "-o", path], &["explain", path, "http://a.test/"]];
    for command in commands {
        for environment in [[("PGPASSWORD", "s3cret")], [("PGPASSFILE", passfile)]] {
            let (sent, said) = sent(&environment, command);
            assert_eq!(sent, b"", "{command:?}");
            assert!(
                said.contains("only the crawl's directory names it") && said.contains("PGHOST=127.0.0.1"),
                "{said}"
            );
        }
    }
    // Named by the user, on the command line or in the environment, it gets it.
    let gets = |environment: &[(&str, &str)], command: &[&str]| {
        assert!(sent(environment, command).0.ends_with(b"s3cret\0"), "{command:?}");
    };
    gets(&[("PGPASSWORD", "s3cret")], &["crawl", "-o", path, "--store", &url]);
    gets(&[("PGPASSFILE", passfile)], &["crawl", "-o", path, "--store", &url]);
    gets(&[("PGPASSWORD", "s3cret"), ("PGHOST", "127.0.0.1"), ("PGPORT", &port)], &["status", path]);
    // That of another host is not for this one.
    let (sent, _) = sent(&[("PGPASSWORD", "s3cret"), ("PGHOST", "db.test"), ("PGPORT", &port)], &["status", path]);
    assert_eq!(sent, b"");
}

#[test]
fn no_file_elsewhere_is_changed_through_a_link() {
    /// In the way of every command.
    const UNSETTLED: &str = "dataset/unsettled";
    let crawled = Crawled::small();
    let (root, elsewhere) = (Path::new(crawled.dir()), tempfile::tempdir().expect("a directory"));
    let precious = elsewhere.path().join("precious");
    std::fs::write(&precious, "precious").expect("written");
    let segment = crawled.segments()[0].file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    std::fs::remove_dir_all(root.join("dataset/graph")).ok();
    std::fs::create_dir_all(root.join("dataset/graph")).expect("a directory");
    let names = [
        "crawl.toml.tmp".to_owned(),
        UNSETTLED.to_owned(),
        "dataset/graph/lock".to_owned(),
        format!("dataset/graph/{segment}.unfinished"),
        format!("dataset/pages/_{}.unfinished", segment.trim_end_matches(".warc.gz")),
        "live.socket".to_owned(),
        "live.socket.begun".to_owned(),
    ];
    let exported = elsewhere.path().join("export.cdxj");
    symlink(&precious, elsewhere.path().join("export.cdxj.tmp")).expect("a link");
    let commands: [&[&str]; 6] = [
        &["rank", crawled.dir()],
        &["links", crawled.dir(), "http://small.test/"],
        &["status", crawled.dir()],
        &["crawl", "-o", crawled.dir(), "--progress", "none"],
        &["derive", crawled.dir()],
        &["export", crawled.dir(), "cdxj", "-o", exported.to_str().expect("UTF-8")],
    ];
    for name in &names {
        let path = root.join(name);
        for command in commands {
            let _ = std::fs::remove_file(&path);
            symlink(&precious, &path).expect("a link");
            // Some links make a command fail: then it says why, and nothing is changed.
            let ran = argiope(command);
            assert!([0, 1].contains(&ran.code) && !ran.stderr.contains("panicked"), "{ran:?}");
            assert!(ran.code == 0 || ran.stderr.contains(&format!("{name}: ")), "{name}: {ran:?}");
            assert_eq!(std::fs::read_to_string(&precious).expect("a file"), "precious", "{command:?}");
            assert!(command[0] != "export" || (ran.code == 1) == (name == UNSETTLED), "{name}: {ran:?}");
        }
        let _ = std::fs::remove_file(&path);
    }
    assert!(std::fs::read_to_string(&exported).expect("an index").contains("http://small.test/"));
}

#[test]
fn a_state_with_a_link_in_it_is_not_opened() {
    let crawled = Crawled::small();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let precious = elsewhere.path().join("precious");
    std::fs::write(&precious, "precious").expect("written");
    symlink(&precious, Path::new(crawled.dir()).join("state/engine/9.jnl")).expect("a link");
    let ran = crawled.run("status", &[]);
    assert!(ran.code == 1 && ran.stderr.contains("state/engine/9.jnl is a symbolic link"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&precious).expect("a file"), "precious");
}

/// Has a directory say that its lines went to this target, and that one waits for it.
fn remember(root: &Path, target: &str, line: &str) {
    let stream = root.join("stream");
    let _ = std::fs::remove_dir_all(&stream);
    std::fs::create_dir(&stream).expect("a directory");
    let (none, end) = (json!({"bytes": 0, "lines": 0}), json!({"bytes": line.len(), "lines": 1}));
    let header = json!({"stream": {"version": 1, "target": target, "fields": [], "from": 0}});
    let lines = json!({"lines": {"begin": none, "end": end, "witness": null}});
    std::fs::write(stream.join("log"), format!("{header}\n{lines}\n")).expect("written");
    std::fs::write(stream.join("outbox.0"), line).expect("written");
}

#[test]
fn no_file_or_socket_that_only_a_directory_names_gets_a_line() {
    const PRECIOUS: &str = "precious\n";
    let crawled = Crawled::with(&["--max-pages", "2"]);
    let (root, elsewhere) = (Path::new(crawled.dir()), tempfile::tempdir().expect("a directory"));
    let at = |name: &str| elsewhere.path().join(name).display().to_string();
    std::fs::write(at("file"), PRECIOUS).expect("written");
    let reader = UnixListener::bind(at("socket")).expect("a socket");
    reader.set_nonblocking(true).expect("set");
    let is_untouched = |said: &Ran| {
        assert_eq!(std::fs::read_to_string(at("file")).expect("a file"), PRECIOUS, "{said:?}");
        assert!(!Path::new(&at("new")).exists(), "{said:?}");
        assert_eq!(reader.accept().map(drop).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock), "{said:?}");
    };
    let line = format!("{{\"seq\":1,\"of\":\"{}\"}}\n", "their choice ".repeat(10));
    let commands: [&[&str]; 7] = [
        &["crawl", "-o", crawled.dir(), "--max-pages", "100"],
        &["crawl", "-o", crawled.dir(), "--again"],
        &["watch", crawled.dir(), "--budget", "1000/min", "--every", "1s", "--rounds", "2"],
        &["status", crawled.dir()],
        &["derive", crawled.dir()],
        &["check", crawled.dir(), "--repair"],
        &["steer", crawled.dir(), "seeds", "http://small.test/"],
    ];
    for target in [at("file"), at("new"), format!("unix:{}", at("socket")), "-".to_owned()] {
        remember(root, &target, &line);
        for command in commands {
            let ran = argiope(command);
            is_untouched(&ran);
            if ["crawl", "watch"].contains(&command[0]) {
                assert!(ran.code == 2 && ran.stdout.is_empty(), "{ran:?}");
                assert!(ran.stderr.contains(&format!("went to `{target}`, and only the directory says so")), "{ran:?}");
                assert!(ran.stderr.contains("--stream") && ran.stderr.contains("--no-stream"), "{ran:?}");
            } else {
                assert!(ran.code != 2 && !ran.stdout.contains("their choice"), "{ran:?}");
            }
        }
    }
    // Behind a link in the directory, it is not what the user has named.
    symlink(at("file"), root.join("lines")).expect("a link");
    symlink(at("socket"), root.join("reader")).expect("a link");
    symlink(elsewhere.path(), root.join("out")).expect("a link");
    for name in ["lines", "out/file", "out/new", "unix:reader", "unix:out/socket"] {
        let (kind, path) = name.split_at(name.find(':').map_or(0, |colon| colon + 1));
        let target = format!("{kind}{}", root.join(path).display());
        remember(root, &target, &line);
        let ran = crawled.crawl(&["--max-pages", "100", "--stream", &target]);
        assert!(ran.code == 2 && ran.stderr.contains("is a symbolic link"), "{name}: {ran:?}");
        is_untouched(&ran);
    }
    // Nothing is lost: a target that the user names gets what waited.
    remember(root, &at("new"), &line);
    let ran = crawled.crawl(&["--max-pages", "3", "--stream", &at("mine")]);
    assert_eq!(ran.code, 3, "{ran:?}");
    is_untouched(&ran);
    let lines = std::fs::read_to_string(at("mine")).expect("a file");
    assert!(
        lines.starts_with(&line) && lines.lines().nth(1).is_some_and(|line| line.contains("\"seq\":2,")),
        "{lines}"
    );
    assert_eq!(crawled.crawl(&["--max-pages", "100", "--no-stream"]).code, 0);
    assert!(!root.join("stream").exists());
}

#[test]
fn no_file_outside_the_archive_is_taken_for_a_segment() {
    const PRECIOUS: &str = "precious\n";
    let elsewhere = tempfile::tempdir().expect("a directory");
    let precious = elsewhere.path().join("file");
    std::fs::write(&precious, PRECIOUS).expect("written");
    let out = elsewhere.path().join("out");
    let out = out.to_str().expect("UTF-8");
    for length in [0, 4, 1_000] {
        let crawled = Crawled::with(&["--max-pages", "2"]);
        let dir = CrawlDir::at(crawled.dir());
        let segment = Segment { serial: 7, name: precious.display().to_string(), length };
        let store = dir.open_store(&dir.options().expect("settings")).expect("a state");
        store.commit(&Batch { segments: vec![segment], ..Batch::default() }).expect("committed");
        drop(store);
        let commands: [&[&str]; 7] = [
            &["crawl", "-o", crawled.dir(), "--max-pages", "100"],
            &["check", crawled.dir()],
            &["check", crawled.dir(), "--repair"],
            &["derive", crawled.dir(), "--all"],
            &["export", crawled.dir(), "cdxj", "-o", out],
            &["export", crawled.dir(), "warc", "-o", out],
            &["adopt", crawled.dir()],
        ];
        for command in commands {
            let ran = argiope(command);
            assert!(ran.code == 1 && ran.stderr.contains("is not that of a file"), "{command:?}: {ran:?}");
            assert_eq!(std::fs::read_to_string(&precious).expect("a file"), PRECIOUS, "{command:?}");
            assert_eq!(elsewhere.path().read_dir().expect("a directory").count(), 1, "{command:?}");
        }
    }
}
