//! Wildcard patterns as users give them.

use weburl::{CanonicalUrl, Pattern, PatternError};

/// What is wrong with a pattern that can match no URL.
pub(crate) const MATCHES_NOTHING: &str =
    "matches no URL: a pattern is compared with the whole URL, `*` stands for any characters";

/// Why a text is no pattern.
#[derive(Debug, PartialEq)]
pub(crate) enum NoPattern {
    Form(PatternError),
    /// It is only a part of a URL.
    MatchesNothing,
    /// No URL has what it names.
    Never(&'static str),
}

impl NoPattern {
    /// The reason, without the text.
    pub(crate) fn without_text(&self) -> String {
        match self {
            NoPattern::Form(error) => error.to_string(),
            NoPattern::MatchesNothing => MATCHES_NOTHING.to_owned(),
            NoPattern::Never(why) => format!("matches no URL: {why}"),
        }
    }
}

/// A pattern as it is compared with whole URLs, in the spelling that canonical URLs have. One that can match none is refused: a part of a URL
/// without `*` around it, or what no canonical URL has.
pub(crate) fn pattern_of(text: &str) -> Result<Pattern, NoPattern> {
    let text = Pattern::new(text).map_err(NoPattern::Form)?;
    if text.as_str().contains(char::is_control) {
        return Err(NoPattern::Never("it has a control character, and no URL has one"));
    }
    let (origin, rest) = text.as_str().split_at(origin_length(text.as_str()));
    if !origin.is_ascii() {
        return Err(NoPattern::Never("the host of a URL is written in ASCII (xn--…)"));
    }
    let spelled = format!("{}{}", origin.to_ascii_lowercase(), spelled(rest));
    if spelled.split_once('#').is_some_and(|(_, route)| !route.starts_with(['/', '!', '*'])) {
        return Err(NoPattern::Never("of fragments, URLs have only routes (`#/…`, `#!…`)"));
    }
    let begins = |scheme: &str| match spelled.split_once('*') {
        Some((before, _)) => scheme.starts_with(before) || before.starts_with(scheme),
        None => CanonicalUrl::from_canonical(&spelled).is_some(),
    };
    if !["http://", "https://"].into_iter().any(begins) {
        return Err(NoPattern::MatchesNothing);
    }
    Pattern::new(&spelled).map_err(NoPattern::Form)
}

/// The same of a crawl that has it. Earlier versions took patterns with `*` that can match no URL: those still match none.
pub(crate) fn kept_pattern(text: &str) -> Result<Pattern, NoPattern> {
    match pattern_of(text) {
        Err(NoPattern::MatchesNothing | NoPattern::Never(_)) if text.contains('*') => {
            Pattern::new(text).map_err(NoPattern::Form)
        }
        pattern => pattern,
    }
}

/// The length of scheme and host, as far as no `*` is in the host: that may stand for a part of the path.
fn origin_length(pattern: &str) -> usize {
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'*';
    let Some((scheme, host)) = pattern.split_once("://").filter(|(scheme, _)| scheme.bytes().all(is_of_scheme)) else {
        return 0;
    };
    scheme.len() + "://".len() + host.find(['/', '?', '#', '*']).unwrap_or(host.len())
}

/// Path and query with the percent-encoding of canonical URLs: what they never have as it is becomes encoded, and what is encoded has upper-case
/// digits, or is decoded if it needs no code.
fn spelled(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        let digits = bytes.as_slice().get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let encoded = digits.filter(|digits| byte == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match encoded.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                bytes.nth(1);
                match code.is_ascii_alphanumeric() || b"-._~".contains(&code) {
                    true => spelled.push(code.into()),
                    false => spelled.push_str(&format!("%{code:02X}")),
                }
            }
            None if byte.is_ascii_graphic() && !b"\"<>".contains(&byte) => spelled.push(byte.into()),
            None => spelled.push_str(&format!("%{byte:02X}")),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_the_spelling_of_urls() {
        for (given, expect) in [
            ("*/cal/*", "*/cal/*"),
            ("*", "*"),
            ("h*", "h*"),
            ("http*://*/docs/*", "http*://*/docs/*"),
            ("HTTP://A.test/B*", "http://a.test/B*"),
            ("https://*.A.test/*", "https://*.A.test/*"),
            ("* *", "*%20*"),
            ("*\"*", "*%22*"),
            ("*é*", "*%C3%A9*"),
            ("*caf%c3%a9/*", "*caf%C3%A9/*"),
            ("*/%7euser/*", "*/~user/*"),
            ("*100%*", "*100%*"),
            ("*#/route*", "*#/route*"),
            ("*#*", "*#*"),
            ("http://a.test/b", "http://a.test/b"),
        ] {
            assert_eq!(pattern_of(given).expect(given).as_str(), expect, "{given}");
        }
    }

    #[test]
    fn a_pattern_that_can_match_nothing_is_refused() {
        for (given, why) in [
            ("p/1", "`*` stands for any characters"),
            ("calendar", "`*` stands for any characters"),
            ("www.example.org/*", "`*` stands for any characters"),
            ("127.0.0.1:48112/cal*", "`*` stands for any characters"),
            ("/cal/*", "`*` stands for any characters"),
            ("?a=*", "`*` stands for any characters"),
            ("ftp://a.test/*", "`*` stands for any characters"),
            ("http://a.test", "`*` stands for any characters"),
            ("http://café.test/*", "ASCII"),
            ("*#frag", "routes"),
            ("*#", "routes"),
            ("*/a\n*/b", "control"),
        ] {
            let error = pattern_of(given).expect_err(given).without_text();
            assert!(error.starts_with("matches no URL: ") && error.contains(why), "{given}: {error}");
            // A crawl that has one goes on with it.
            assert_eq!(kept_pattern(given).is_ok(), given.contains('*'), "{given}");
        }
    }
}
