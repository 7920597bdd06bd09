//! `argiope login`: what a person does in the window is here done by a script of the page, in a browser without a screen.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use testkit::python::runs;
use testkit::ran::argiope;
use testweb::{Config, Reply, Request, Server, Web, from_fn};

const SECRET: &str = "S3CRET";
/// The longest that the browser may take to get to the members' page.
const LOGIN_TIME_MAX: Duration = Duration::from_secs(60);

/// A site that logs a browser in by itself, and says when its cookie came back. Others see no members' page.
fn site(came_back: mpsc::SyncSender<()>) -> Web {
    let site = from_fn(move |request: &Request| {
        let has_session = request.header("cookie").is_some_and(|cookies| cookies.contains(SECRET));
        match request.target.as_str() {
            "/login" => Reply::html(
                "<script>localStorage.token = JSON.stringify({ access: 'S3CRET-of-the-storage' }); sessionStorage.tab = 'S3CRET-of-the-tab-1'; \
                 location = '/welcome'</script>",
            )
            .header("Set-Cookie", "session=S3CRET; Path=/; HttpOnly; SameSite=Lax"),
            // An application: the token of its storage goes into a field and a body.
            "/application" => Reply::html(
                "<body><script>const { access } = JSON.parse(localStorage.token ?? '{}'); \
                 fetch('/api', { method: 'POST', headers: { 'X-Token': access }, body: JSON.stringify({ access, tab: sessionStorage.tab }) }) \
                 .then(answer => answer.text()).then(text => { document.body.innerHTML = `<p>${text}</p>` })</script>",
            ),
            "/api" => {
                let has_token = request.header("x-token") == Some("S3CRET-of-the-storage");
                let body = String::from_utf8_lossy(&request.body).into_owned();
                let has_both = has_token && body.contains("S3CRET-of-the-storage") && body.contains("S3CRET-of-the-tab-1");
                Reply::new(200).body(if has_both { "for those who are logged in" } else { "for strangers" })
            }
            "/welcome" => {
                let _ = came_back.try_send(());
                Reply::html("in")
            }
            "/members" if has_session => Reply::html("<p>for members"),
            target => Reply::error(403, target),
        }
    });
    Web::new().site("127.0.0.1", site)
}

/// Chromium, which shows no window.
fn unseen_browser(dir: &Path) -> String {
    let browser = render::Settings::find_browser(None).expect("Chromium");
    program(dir, "browser", &format!("#!/bin/sh\nexec '{}' --headless \"$@\"\n", browser.display()))
}

/// What answers as a browser whose window is closed after the first look at its cookies.
const CLOSED: &str = r#"#!/usr/bin/env python3
import json, os
cookie = {"name": "session", "value": "S3CRET", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": True, "secure": False}
answers = {"Browser.getVersion": {}, "Storage.getCookies": {"cookies": [cookie]}}
received = b""
while True:
    received += os.read(3, 65536)
    while b"\0" in received:
        command, received = received.split(b"\0", 1)
        command = json.loads(command)
        os.write(4, json.dumps({"id": command["id"], "result": answers[command["method"]]}).encode() + b"\0")
        if command["method"] == "Storage.getCookies":
            raise SystemExit
"#;

fn program(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).expect("set");
    path.display().to_string()
}

fn login(arguments: &[&str], screen: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_argiope"))
        .arg("login")
        .args(arguments)
        .env("DISPLAY", screen)
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An application finds its tokens in storage, also in a crawl that goes on without the file. What is written has none of them.
fn check_application(files: &Path, url: &str, cookies: &str) {
    let run = |name: &str, more: &[&str]| {
        let dir = files.join(name).display().to_string();
        let ran = argiope(
            &[&["crawl", "-o", &dir, url, "--no-sitemaps", "--render", "always", "--delay", "0"], more].concat(),
        );
        assert_eq!(ran.code, 0, "{ran:?}");
        (argiope(&["search", &dir, "those who are logged in", "--json"]).stdout, ran.stderr)
    };
    assert!(!run("stranger", &[]).0.contains("/application"));
    let (found, said) = run("known", &["--cookies", cookies]);
    assert!(found.contains("/application"), "{found}\n{said}");
    assert!(said.contains("2 values in the storage of pages of their sites"), "{said}");
    assert!(
        said.contains("secrets: records have *** in place of 1 value in fields and 2 in bodies of requests ("),
        "{said}"
    );
    let dir = files.join("known");
    let secrets = dir.join("cookies.jsonl");
    assert_eq!(std::fs::metadata(&secrets).expect("written").permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&secrets).expect("text").contains("S3CRET-of-the-storage"));
    for segment in dir.join("archive").read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
        let bytes = std::fs::read(&segment).expect("a file");
        let text = if bytes.starts_with(&[0x1f, 0x8b]) {
            runs(Command::new("zcat").arg(&segment))
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        };
        assert!(!text.contains(SECRET), "{}", segment.display());
        if segment.extension().is_some_and(|name| name == "gz") {
            assert!(text.contains("X-Token: ***") && text.contains("\"access\":\"***\",\"tab\":\"***\""), "{text}");
        }
    }
    // Without the file: the jar of the crawl has it.
    assert!(run("known", &["--again"]).0.contains("/application"));
}

#[test]
fn a_window_keeps_the_cookies_and_the_storage_of_a_login() {
    let files = tempfile::tempdir().expect("a directory");
    let (browser, to) = (unseen_browser(files.path()), files.path().join("cookies.json").display().to_string());
    let (came_back, waiting) = mpsc::sync_channel(1);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let server = runtime.block_on(Server::start(Config::new(site(came_back)))).expect("a free port");
    let url = format!("http://{}/login", server.addresses()[0]);
    let members = format!("http://{}/members", server.addresses()[0]);
    let arguments = [url.as_str(), "-o", &to, "--browser", &browser];

    let mut child = login(&arguments, ":0");
    waiting.recv_timeout(LOGIN_TIME_MAX).expect("the browser logs in");
    child.stdin.as_mut().expect("a pipe").write_all(b"\n").expect("Enter");
    let ended = child.wait_with_output().expect("ended");
    let said = stderr_of(&ended);
    let expect = "1 cookie and 2 values of storage in ";
    assert!(ended.status.success() && said.contains(expect) && !said.contains(SECRET), "{said}");
    assert_eq!(std::fs::metadata(&to).expect("written").permissions().mode() & 0o777, 0o600);

    let crawl = |name: &str, more: &[&str]| {
        let dir = files.path().join(name).display().to_string();
        argiope(&[&["crawl", "-o", &dir, &members, "--no-sitemaps"], more].concat())
    };
    assert_eq!(crawl("without", &[]).code, 1, "nothing is shown without cookies");
    let with = crawl("with", &["--cookies", &to]);
    assert!(with.code == 0 && with.stdout.contains("html"), "{with:?}");

    check_application(files.path(), &format!("http://{}/application", server.addresses()[0]), &to);

    // The file stays unless it is to be replaced; then a closed window ends it too.
    let refused = login(&arguments, ":0").wait_with_output().expect("ended");
    assert!(refused.status.code() == Some(2) && stderr_of(&refused).contains("--replace"), "{}", stderr_of(&refused));
    let closed = program(files.path(), "closed", CLOSED);
    let mut child = login(&[&url, "-o", &to, "--browser", &closed, "--replace"], ":0");
    let open = child.stdin.take();
    let ended = child.wait_with_output().expect("ended");
    drop(open);
    assert!(ended.status.success() && stderr_of(&ended).contains("1 cookie in "), "{}", stderr_of(&ended));
    assert_eq!(crawl("again", &["--cookies", &to]).code, 0);

    let without_screen = login(&[&arguments[..], &["--replace"]].concat(), "").wait_with_output().expect("ended");
    let said = stderr_of(&without_screen);
    assert!(without_screen.status.code() == Some(1) && said.contains("no screen"), "{said}");
}
