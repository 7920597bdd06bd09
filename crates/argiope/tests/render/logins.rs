//! Sessions that end while an application is shown in a browser: its shell is public, and only its scripts learn that they are strangers.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use testweb::{Reply, Request, Site, Web, from_fn};

use crate::crawls::Crawled;

/// Pages that a session shows before it ends; the first one shows none.
const PAGES_A_SESSION: usize = 2;
const PAGES: usize = 5;

/// An application whose data needs a session. `strangers` is the script that runs without one. The pages that each session has shown are
/// in `sessions`.
fn application(strangers: &'static str, sessions: Arc<Mutex<Vec<usize>>>) -> impl Site {
    from_fn(move |request: &Request| {
        match (request.method.as_str(), request.path()) {
        (_, "/robots.txt") => Reply::text(""),
        ("POST", "/login") => {
            let mut sessions = sessions.lock().expect("no panic");
            let shown = if sessions.is_empty() { PAGES_A_SESSION } else { 0 };
            sessions.push(shown);
            Reply::redirect(303, "/welcome").header("Set-Cookie", format!("session={}", sessions.len() - 1))
        }
        (_, "/login") => Reply::html("<form method=post><input name=user><input type=password name=pass></form>"),
        (_, "/welcome") => Reply::html("<p>Welcome"),
        (_, "/app.js") => Reply::new(200).header("Content-Type", "text/javascript").body(format!(
            "fetch('/api' + location.pathname).then(async answer => {{
               if (answer.status === 401) {{ await import('/strangers.js'); {strangers} }} else {{ document.body.innerHTML = await answer.text() }} }})"
        )),
        (_, "/strangers.js") => Reply::new(200).header("Content-Type", "text/javascript").body(""),
        (_, "/end") => Reply::html("<p>the end<script type=module src=/strangers.js></script>"),
        (_, path) => match path.strip_prefix("/api/") {
            None => Reply::html("<!DOCTYPE html><title>App</title><body><script src=/app.js></script>"),
            Some(number) => {
                let mut sessions = sessions.lock().expect("no panic");
                let session = request.header("cookie").and_then(|cookie| cookie.strip_prefix("session=")?.parse().ok());
                match session.and_then(|session: usize| sessions.get_mut(session)).filter(|shown| **shown < PAGES_A_SESSION) {
                    None => Reply::error(401, path),
                    Some(shown) => {
                        *shown += 1;
                        let next = number.parse::<usize>().map_or(PAGES, |number| number + 1);
                        let next = if next < PAGES { next.to_string() } else { "end".to_owned() };
                        Reply::text(format!("<p>members only<a href=/{next}>next</a>"))
                    }
                }
            }
        },
    }
    })
}

#[test]
fn a_session_that_ends_in_an_application_is_noticed_in_what_the_browser_shows() {
    let form = "document.body.innerHTML = '<form>Sign in<input name=user><input type=password name=pass></form>'";
    for (strangers, more) in [
        // The page after the login is public: it tells nothing.
        (form, "success = { text = \"Welcome\" }"),
        ("location = '/login'", ""),
        ("document.body.innerHTML = '<p>Please sign in'", "logged-out = { text = \"Please sign in\" }"),
    ] {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("logins.toml");
        let description =
            "[login.a]\nurl = \"http://app.test/login\"\nfields = { user = \"ana\", pass = \"S3CRET\" }\n";
        std::fs::write(&file, format!("{description}{more}\n")).expect("written");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("set");
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let web = Web::new().site("app.test", application(strangers, sessions.clone()));
        let arguments = ["--render", "always", "--login", &file.display().to_string()];
        let crawled = Crawled::of(web, "http://app.test/0", &arguments);

        let outcomes = (0..PAGES).map(|number| format!("/{number}")).chain(["/end".to_owned()]);
        let expect: BTreeMap<String, String> = outcomes.map(|path| (path, "html".to_owned())).collect();
        assert_eq!(crawled.outcomes(), expect, "{strangers}");
        let shown = vec![PAGES_A_SESSION, PAGES_A_SESSION, PAGES_A_SESSION, 1];
        assert_eq!(*sessions.lock().expect("no panic"), shown, "{strangers}");
        // The first page was shown twice and is recorded once, with the script for which it asked the first time.
        assert_eq!(crawled.asked["GET app.test/app.js"], 1, "{strangers}");
        let records = crawled.records();
        // What only strangers got is requested again by a page that is recorded.
        for path in ["/0", "/app.js", "/api/0", "/strangers.js"] {
            let line = format!("response http://app.test{path}");
            assert_eq!(records.iter().filter(|record| **record == line).count(), 1, "{line}: {records:?}");
        }
    }
}
