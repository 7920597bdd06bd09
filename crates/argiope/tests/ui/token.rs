//! The way in by a token.

use testkit::axe::violations;
use testkit::browser::Browser;
use testkit::screens::PHONE;
use testkit::ui::Ui;

use crate::site::crawled;

const TOKEN: &str = "a-token-of-the-tests";

#[test]
fn the_token_is_typed_by_the_keyboard_or_leaves_the_address() {
    let (crawl, dir) = (crawled(), tempfile::tempdir().expect("a directory"));
    let token = dir.path().join("token");
    std::fs::write(&token, TOKEN).expect("written");
    let arguments = [crawl.dir(), "--ui-token-file", token.to_str().expect("UTF-8")];
    let ui = Ui::start_with(&arguments);
    let mut browser = Browser::start();
    browser.open(&ui.origin(), "/", PHONE, false);
    assert!(browser.text("main").contains("this interface asks for its token"), "{}", browser.text("main"));
    assert_eq!(violations(&mut browser), Vec::<String>::new());
    browser.tab_to("input[name=token]");
    browser.write(TOKEN);
    browser.follow();
    assert!(browser.text("main").contains("every URL found has its outcome"), "{}", browser.text("main"));

    // In another browser, the address has it.
    let mut browser = Browser::start();
    browser.open(&ui.origin(), &format!("/urls?token={TOKEN}&state=http_error"), PHONE, false);
    assert_eq!(browser.value("location.pathname + location.search"), "/urls?state=http_error");
    assert_eq!(browser.value("document.cookie"), "", "no script reads it");
    browser.open(&ui.origin(), "/sites", PHONE, false);
    assert!(browser.text("main").contains("http://ui.test"), "{}", browser.text("main"));
    browser.assert_quiet();
}
