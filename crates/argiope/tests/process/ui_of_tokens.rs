//! An interface that asks for a token.

use testkit::ui::{Answer, Ui};

use crate::binary;
use crate::served::Served;
use crate::ui::{crawled, web};

const TOKEN: &str = "a-token-of-the-tests";

/// Asks for a path with more fields of the head.
fn get(ui: &Ui, path: &str, more: &str) -> Answer {
    ui.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}{more}", ui.address), "")
}

/// The cookie that an answer sets.
fn cookie(answer: &Answer) -> String {
    let set = answer.head.lines().find_map(|field| field.strip_prefix("set-cookie: ")).unwrap();
    assert!(set.ends_with("; Path=/; HttpOnly; SameSite=Lax") && !set.contains(TOKEN), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[test]
fn other_machines_use_the_interface_with_its_token_alone() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let token = dirs.path().join("token");
    std::fs::write(&token, TOKEN).unwrap();
    let arguments = [dir.to_str().unwrap(), "--ui-token-file", token.to_str().unwrap()];
    let ui = Ui::start_at("0.0.0.0:0", &arguments);

    // Without the token, and with another one, there is the form for it, and nothing of the crawl.
    for (path, more, why) in [
        ("/", "", "asks for its token"),
        ("/urls.csv", "", "asks for its token"),
        ("/nothing", "", "asks for its token"),
        ("/?token=another-token-of-the-tests", "", "not the token"),
        ("/?token=", "", "not the token"),
        ("/", "\r\nAuthorization: Bearer another-token-of-the-tests", "asks for its token"),
        ("/", "\r\nCookie: argiope=1", "asks for its token"),
    ] {
        let refused = get(&ui, path, more);
        assert!(refused.status == 401 && refused.body.contains(why), "{path}: {} {}", refused.status, refused.body);
        assert!(refused.body.contains("action=\"/token\"") && !refused.body.contains("ui.test"), "{}", refused.body);
        assert!(
            !refused.head.contains("set-cookie") && refused.head.contains("default-src 'self'"),
            "{}",
            refused.head
        );
    }
    assert_eq!(get(&ui, "/ui.css", "").status, 200, "the form looks as it should");
    let steered = ui.ask(&format!("POST /steer HTTP/1.1\r\nHost: {}{}", ui.address, ui.own()), "what=pause&sure=yes");
    assert_eq!(steered.status, 401);
    assert!(
        !dir.join("crawl.toml").exists()
            || !std::fs::read_to_string(dir.join("crawl.toml")).unwrap().contains("paused = true")
    );
    let send =
        |token: &str| ui.ask(&format!("POST /token HTTP/1.1\r\nHost: {}", ui.address), &format!("token={token}"));
    assert_eq!(send("another-token-of-the-tests").status, 401);
    assert_eq!(send(&"x".repeat(1 << 20)).status, 401);

    // The form leads in. So does an address, which has no token then.
    let entered = send(TOKEN);
    assert_eq!((entered.status, entered.leads_to()), (303, Some("/")));
    let led = get(&ui, &format!("/urls?state=html&token={TOKEN}&depth=1"), "");
    assert_eq!((led.status, led.leads_to()), (303, Some("/urls?state=html&depth=1")));
    assert!(
        led.head.contains("cache-control: no-store") && led.head.contains("referrer-policy: no-referrer"),
        "{}",
        led.head
    );
    let cookie = cookie(&led);
    let with_cookie = format!("\r\nCookie: other=1; {cookie}");
    let overview = get(&ui, "/", &with_cookie);
    assert!(overview.status == 200 && overview.body.contains("Finished: every URL found has its outcome."));
    assert!(!overview.body.contains(TOKEN) && !overview.head.contains(TOKEN), "{}", overview.head);
    assert_eq!(get(&ui, "/", &format!("\r\nAuthorization: Bearer {TOKEN}")).status, 200);
    // A name may lead here: who knows the cookie is no page of the web.
    let named = ui.ask(&format!("GET /urls HTTP/1.1\r\nHost: crawler.test{with_cookie}"), "");
    assert_eq!(named.status, 200);
    // A page of another site sends no form, though the browser adds the cookie.
    let foreign = format!("POST /steer HTTP/1.1\r\nHost: {}{with_cookie}\r\nOrigin: http://evil.test", ui.address);
    assert_eq!(ui.ask(&foreign, "what=pause&sure=yes").status, 403);

    // The cookie of an interface opens no other one.
    let other = Ui::start_at("127.0.0.1:0", &arguments);
    assert_eq!(get(&other, "/", &with_cookie).status, 401);
}

#[test]
fn a_token_that_could_be_guessed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "secret").unwrap();
    let (dir, token) = (dir.path().to_str().unwrap(), token.to_str().unwrap());
    let ran = binary::run(&["ui", dir, "--listen", "0.0.0.0:0", "--ui-token-file", token]);
    let error = ran.expect_code(2).stderr;
    assert!(error.contains("--ui-token-file") && error.contains("16 characters at least"), "{error}");
}
