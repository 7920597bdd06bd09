//! Cookies of answers and of files: whatever comes, a server gets its own cookies only, and what is kept is kept.
//!
//! Input: a file of cookies, and, line by line, fields `Set-Cookie` of answers from two hosts of a domain, with and without TLS.

use cookies::{COOKIES_PER_DOMAIN_MAX, Cookie, Jar, from_text};
use model::Timestamp;
use weburl::{CanonicalRules, CanonicalUrl};

/// When all of it happens: in November 2023.
const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

/// Where answers come from.
const ANSWERING: [&str; 3] = ["https://www.example.com/a/b", "http://www.example.com/", "https://example.com/x?y"];

/// Where nothing comes from.
const OTHERS: [&str; 3] = ["https://example.org/", "https://com/", "https://badexample.com/"];

/// Asserts it.
pub fn hold(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut jar = Jar::default();
    for (index, line) in text.lines().enumerate() {
        // What is refused leaves nothing.
        let _ = jar.receive(&url(ANSWERING[index % ANSWERING.len()]), line, NOW);
    }
    assert!(jar.live(NOW).count() <= COOKIES_PER_DOMAIN_MAX, "all are of one domain");
    for other in OTHERS {
        assert_eq!(jar.field(&url(other), NOW), None, "{other}");
    }
    lasts(&jar);

    let mut jar = Jar::default();
    for cookie in from_text(&text).unwrap_or_default().cookies {
        let _ = jar.put(cookie, NOW);
    }
    lasts(&jar);
}

/// What a jar has can be sent, goes only where it belongs, and is the same when it was written and read.
fn lasts(jar: &Jar) {
    let mut again = Jar::default();
    for cookie in jar.live(NOW) {
        let written = serde_json::to_string(cookie).expect("a cookie can be written");
        let read: Cookie = serde_json::from_str(&written).expect("and read");
        assert_eq!(&read, cookie);
        assert!(again.put(read, NOW).is_ok_and(|kept| kept.is_some()), "{written}");
    }
    for to in ANSWERING.iter().chain(&OTHERS) {
        let to = url(to);
        let field = jar.field(&to, NOW);
        assert_eq!(again.field(&to, NOW), field);
        let field = field.unwrap_or_default();
        assert!(field.bytes().all(|byte| byte == b'\t' || !byte.is_ascii_control()), "{field:?}");
        let fitting: Vec<&Cookie> = jar.live(NOW).filter(|cookie| cookie.is_for(&to)).collect();
        for cookie in &fitting {
            let is_below = to.host().ends_with(&format!(".{}", cookie.domain));
            assert!(to.host() == cookie.domain || is_below && !cookie.host_only, "{cookie:?} for {to}");
            assert!(to.site().is_https() || !cookie.secure, "{cookie:?} for {to}");
        }
        assert_eq!(field.is_empty(), fitting.is_empty());
    }
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("one of ours")
}
