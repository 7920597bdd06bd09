//! `inspect robots`.

use super::run::Dir;

const FILE: &[u8] = b"\
User-agent: foo
User-agent: bar
Disallow: /foo

User-agent: *
Disallow: /private/ # nothing to see
Allow: /private/*.html$
Crawl-delay: 0.5

Sitemap: https://a.test/sitemap.xml
Sitemap: /relative\x1b[31m.xml
";

fn dir() -> Dir {
    Dir::new(&[("robots.txt", FILE)])
}

#[test]
fn text_names_the_deciding_lines() {
    dir().check(
        &[
            "robots",
            "robots.txt",
            "/private/a.html",
            "https://a.test/x/../private/x.pdf?q",
            "/x",
            "/robots.txt",
            "mailto:a@b",
        ],
        "\
agent        argiope
match        rfc9309
access       rules, final (status 200)
crawl delay  0.5 s
sitemaps     2
  https://a.test/sitemap.xml
  /relative\\u{1b}[31m.xml
allowed      /private/a.html  (line 7: Allow: /private/*.html$)
disallowed   https://a.test/x/../private/x.pdf?q  (line 6: Disallow: /private/ # nothing to see)
allowed      /x  (no rule of robots.txt matches)
allowed      /robots.txt  (robots.txt itself is always allowed)
disallowed   mailto:a@b  (not crawled: the scheme is mailto, not http or https)
",
    );
}

#[test]
fn json_gives_one_object_a_url() {
    let about = r#""product_token":"argiope","match":"rfc9309","status":200,"access":"rules","lifetime":"final","crawl_delay_s":0.5,"sitemaps":["https://a.test/sitemap.xml","/relative\u001b[31m.xml"],"unread":[],"unread_more":0,"truncated":false}"#;
    let allowed = r#"{"inspect":"robots","url":"/private/a.html","allowed":true,"reason":"a rule of robots.txt matches","line_number":7,"line":"Allow: /private/*.html$","#;
    let refused = r#"{"inspect":"robots","url":"mailto:a@b","allowed":false,"reason":"not crawled: the scheme is mailto, not http or https","line_number":null,"line":null,"#;
    let none = r#"{"inspect":"robots","url":null,"allowed":null,"reason":null,"line_number":null,"line":null,"#;
    let dir = dir();
    dir.check(
        &["robots", "--json", "robots.txt", "/private/a.html", "mailto:a@b"],
        &format!("{allowed}{about}\n{refused}{about}\n"),
    );
    dir.check(&["--json", "robots", "robots.txt"], &format!("{none}{about}\n"));
}

#[test]
fn lines_that_cannot_be_read_are_shown() {
    let dir =
        Dir::new(&[("robots.txt", b"User-agent: *\nCrawl-delay: 1m\nCrawl-delay: 1_0 \x1b[31m\nDisallow: private\n")]);
    let run = dir.run(&["robots", "robots.txt"]);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(
        stdout.ends_with(
            "\
crawl delay  60 s
sitemaps     0
not read     line 3: Crawl-delay: 1_0 \u{fffd}[31m (no number of seconds, and no unit that is known)
not read     line 4: Disallow: private (begins with neither / nor *, so it matches no path)
"
        ),
        "{stdout}"
    );
    let run = dir.run(&["--json", "robots", "robots.txt"]);
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["unread"][1]["line_number"], 4);
    assert_eq!(json["unread"][1]["line"], "Disallow: private");
    let run = dir.run(&["robots", "robots.txt", "--status", "404"]);
    assert!(!String::from_utf8(run.stdout).unwrap().contains("not read"), "there is no file");
}

#[test]
fn the_first_rule_that_matches_may_decide() {
    let run = dir().run(&["robots", "robots.txt", "--match", "first-match", "/private/a.html"]);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(
        stdout.ends_with("disallowed   /private/a.html  (line 6: Disallow: /private/ # nothing to see)\n"),
        "{stdout}"
    );
}

#[test]
fn the_user_agent_chooses_the_group() {
    for (user_agent, token, verdict) in [
        ("Foo", "Foo", "disallowed"),
        ("bar/2.0 (+http://bar.test/)", "bar", "disallowed"),
        ("Mozilla/5.0 (compatible; FOO/1.0; +http://foo.test/)", "FOO", "disallowed"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla", "allowed"),
        ("foobar", "foobar", "allowed"),
    ] {
        let run = dir().run(&["robots", "robots.txt", "--user-agent", user_agent, "/foo"]);
        let stdout = String::from_utf8(run.stdout).unwrap();
        assert!(stdout.starts_with(&format!("agent        {token}\n")), "{stdout}");
        assert!(stdout.lines().last().unwrap().starts_with(&format!("{verdict:<12} /foo")), "{stdout}");
    }
}

#[test]
fn the_answer_of_the_server_gives_or_takes_access() {
    for (status, access, line) in [
        ("204", "rules, final", "disallowed   /private/  (line 6: Disallow: /private/ # nothing to see)"),
        ("301", "allow_all, final", "allowed      /private/  (the site has no robots.txt)"),
        ("404", "allow_all, final", "allowed      /private/  (the site has no robots.txt)"),
        ("429", "disallow_all, temporary", "disallowed   /private/  (robots.txt answered with status 429)"),
        ("503", "disallow_all, temporary", "disallowed   /private/  (robots.txt answered with status 503)"),
        ("too-many-redirects", "allow_all, final", "allowed      /private/  (the site has no robots.txt)"),
        ("unreachable", "disallow_all, temporary", "disallowed   /private/  (robots.txt was unreachable)"),
    ] {
        let run = dir().run(&["robots", "robots.txt", "--status", status, "/private/"]);
        let stdout = String::from_utf8(run.stdout).unwrap();
        assert!(stdout.contains(&format!("\naccess       {access} (status {status})\n")), "{stdout}");
        assert_eq!(stdout.lines().last(), Some(line));
    }
}

#[test]
fn standard_input_can_be_the_file() {
    let run = dir().run_with(&["robots", "-", "/x"], b"User-agent: *\nDisallow: /\n");
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.ends_with("disallowed   /x  (line 2: Disallow: /)\n"), "{stdout}");
}

#[test]
fn what_is_past_500_kib_does_not_count() {
    let mut file = vec![b'\n'; 500 << 10];
    file.extend_from_slice(b"User-agent: *\nDisallow: /\n");
    let run = Dir::new(&[]).run_with(&["robots", "-", "/x"], &file);
    let stdout = String::from_utf8(run.stdout).unwrap();
    assert!(stdout.contains("\ntruncated    only the first 512000 bytes count\nallowed      /x  "), "{stdout}");
}
