//! The user name and password in a URL (RFC 3986 §3.2.1). A canonical URL has none.

use std::borrow::Cow;
use std::fmt;

/// What stands for a secret in a text that is shown or recorded.
const HIDDEN: &str = "***";

/// A user name with its password. Its debug form shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct UserInfo {
    /// `user:password` as they stand in a URL, percent-encoded; without a colon where there is no password.
    text: String,
}

impl UserInfo {
    /// That of a URL; `None` if it has none, or is no URL.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let url = url::Url::parse(url).ok()?;
        let text = match (url.username(), url.password()) {
            ("", None) => return None,
            (user, None) => user.to_owned(),
            (user, Some(password)) => format!("{user}:{password}"),
        };
        Some(UserInfo { text })
    }

    /// As it stands in a URL: secret.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The bytes of the user name, and those of the password.
    #[must_use]
    pub fn decoded(&self) -> (Vec<u8>, Vec<u8>) {
        let (user, password) = self.text.split_once(':').unwrap_or((&self.text, ""));
        (percent_decoded(user), percent_decoded(password))
    }
}

impl fmt::Debug for UserInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// A text that is meant as a URL, for a message: all that may be a user name and password is hidden. Where the text is no URL that is
/// everything up to its last `@`.
#[must_use]
pub fn without_user_info(text: &str) -> Cow<'_, str> {
    let Some((before, host)) = text.rsplit_once('@') else { return Cow::Borrowed(text) };
    let (scheme, secret) = match before.split_once("//") {
        Some((scheme, secret)) => (&before[..scheme.len() + 2], secret),
        None => ("", before),
    };
    // Neither `mailto:someone@example.com` nor the path of `http://a.test/@someone` is a secret.
    let is_address = scheme.is_empty() && before.matches(':').count() <= usize::from(before.starts_with("mailto:"));
    let is_path = match url::Url::parse(text) {
        Ok(url) => !scheme.is_empty() && url.username().is_empty() && url.password().is_none(),
        Err(_) => !secret.contains(':') && secret.contains('/'),
    };
    if is_address || is_path {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{scheme}{HIDDEN}@{host}"))
}

/// The bytes that a percent-encoded text stands for.
fn percent_decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, digit(after.first()), digit(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                decoded.push(byte);
                rest = after;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_name_and_password_are_read_from_a_url() {
        for (url, expect) in [
            ("http://ana:secret@h/", Some(("ana", "secret"))),
            ("http://ana@h/", Some(("ana", ""))),
            ("http://:secret@h/", Some(("", "secret"))),
            ("https://Aladdin:open%20sesame@h:1/x?y#z", Some(("Aladdin", "open sesame"))),
            ("http://a%3Ab:c@d:e@h/", Some(("a:b", "c@d:e"))),
            ("http://h/", None),
            ("http://@h/", None),
            ("http://h/@x", None),
            ("nonsense", None),
        ] {
            let found = UserInfo::of(url);
            assert!(!format!("{found:?}").contains("secret"));
            let found = found.map(|found| found.decoded());
            let expect = expect.map(|(user, password): (&str, &str)| (user.into(), password.into()));
            assert_eq!(found, expect, "{url}");
        }
    }

    #[test]
    fn no_message_shows_a_password() {
        for (text, expect) in [
            ("http://ana:secret@h/x", "http://***@h/x"),
            ("http://ana@h/x", "http://***@h/x"),
            ("http://ana:secret@h:99999/", "http://***@h:99999/"),
            ("http://ana:se/cret@h/", "http://***@h/"),
            ("http://ana:se@cret@h/", "http://***@h/"),
            ("ana:secret@h", "***@h"),
            ("ftp://ana:secret@h/", "ftp://***@h/"),
            ("http:ana:secret@h/", "***@h/"),
            ("http://h/@someone", "http://h/@someone"),
            ("mailto:someone@h", "mailto:someone@h"),
            ("someone@h", "someone@h"),
            ("http://h/", "http://h/"),
            ("", ""),
        ] {
            assert_eq!(without_user_info(text), expect, "{text}");
        }
    }
}
