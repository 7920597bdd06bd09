//! The field `Set-Cookie` (RFC 6265bis §5.6).

use std::time::Duration;

use model::Timestamp;

use crate::cookie::SameSite;
use crate::date;
use crate::refused::{COOKIE_BYTES_MAX, Refused};

/// Bytes of the value of an attribute; a longer one is ignored (§5.6, step 6).
const ATTRIBUTE_BYTES_MAX: usize = 1024;

/// The field as it is written, nothing of it judged.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SetCookie<'t> {
    /// The name; it may be empty.
    pub name: &'t str,
    /// The value: a secret.
    pub value: &'t str,
    /// `Expires` or `Max-Age`, of which the second counts.
    pub expires: Option<Timestamp>,
    /// `Domain`, without a dot in front; `None` if it is missing or empty.
    pub domain: Option<&'t str>,
    /// `Path`, if it is one.
    pub path: Option<&'t str>,
    /// `Secure`
    pub secure: bool,
    /// `HttpOnly`
    pub http_only: bool,
    /// `SameSite`
    pub same_site: SameSite,
}

impl<'t> SetCookie<'t> {
    /// Reads the value of a field that came at `now`.
    ///
    /// # Errors
    /// It has control characters, no content, or more bytes than a cookie may have.
    pub fn parse(text: &'t str, now: Timestamp) -> Result<Self, Refused> {
        if text.bytes().any(|byte| matches!(byte, 0..=8 | 10..=31 | 127)) {
            return Err(Refused::Control);
        }
        let (pair, attributes) = text.split_once(';').unwrap_or((text, ""));
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        let (name, value) = (trimmed(name), trimmed(value));
        if name.is_empty() && value.is_empty() {
            return Err(Refused::Empty);
        }
        if name.len() + value.len() > COOKIE_BYTES_MAX {
            return Err(Refused::TooLong);
        }
        let mut read = SetCookie { name, value, ..SetCookie::default() };
        let mut max_age = None;
        for attribute in attributes.split(';') {
            let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            let (name, value) = (trimmed(name), trimmed(value));
            if value.len() > ATTRIBUTE_BYTES_MAX {
                continue;
            }
            match name.to_ascii_lowercase().as_str() {
                "expires" => read.expires = date::parse(value).or(read.expires),
                "max-age" => max_age = seconds(value).or(max_age),
                "domain" => read.domain = Some(value.strip_prefix('.').unwrap_or(value)).filter(|d| !d.is_empty()),
                "path" => read.path = Some(value).filter(|path| path.starts_with('/')),
                "secure" => read.secure = true,
                "httponly" => read.http_only = true,
                "samesite" => read.same_site = same_site(value),
                _ => {}
            }
        }
        if let Some(age) = max_age {
            let ends = age.map(|age| Timestamp(now.0.saturating_add(micros(age))));
            read.expires = Some(ends.unwrap_or(Timestamp(0)));
        }
        Ok(read)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// The value of `Max-Age`: `Some(None)` means that the cookie has ended (§5.6.2).
fn seconds(value: &str) -> Option<Option<Duration>> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || digits.bytes().any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    // More digits than a number has are more seconds than any limit.
    let seconds = if digits.len() < value.len() { 0 } else { digits.parse().unwrap_or(u64::MAX) };
    Some((seconds > 0).then(|| Duration::from_secs(seconds)))
}

/// The value of `SameSite`, in a field or in a file.
pub(crate) fn same_site(value: &str) -> SameSite {
    match value.to_ascii_lowercase().as_str() {
        "none" | "no_restriction" => SameSite::None,
        "lax" => SameSite::Lax,
        "strict" => SameSite::Strict,
        _ => SameSite::Unset,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn read(text: &str) -> SetCookie<'_> {
        SetCookie::parse(text, NOW).expect(text)
    }

    #[test]
    fn a_field_is_read_as_browsers_read_it() {
        let all = read(" a = b=c ; Path=/x;DOMAIN=.Example.com; secure; HttpOnly; SameSite=lax; unknown=1");
        assert_eq!((all.name, all.value, all.path, all.domain), ("a", "b=c", Some("/x"), Some("Example.com")));
        assert!(all.secure && all.http_only && all.same_site == SameSite::Lax);
        let without_name = read("only");
        assert_eq!((without_name.name, without_name.value), ("", "only"));
        // The last of a kind counts; what is no path is none.
        assert_eq!(read("a=b; Path=/x; Path=y").path, None);
        assert_eq!(read("a=b; Domain=").domain, None);
        assert_eq!(read("a=\"b\"").value, "\"b\"");
    }

    #[test]
    fn max_age_counts_before_expires() {
        let check = |text: &str, expect: Option<u64>| {
            assert_eq!(read(text).expires.map(|time| time.0 / 1_000_000), expect, "{text}");
        };
        check("a=b", None);
        check("a=b; Max-Age=10", Some(11));
        check("a=b; Max-Age=10; Expires=Wed, 21 Oct 2026 07:28:00 GMT", Some(11));
        check("a=b; Max-Age=0", Some(0));
        check("a=b; Max-Age=-5", Some(0));
        check("a=b; Max-Age=ten; Expires=nonsense", None);
        check("a=b; Expires=Thu, 01 Jan 1970 00:00:09 GMT", Some(9));
        assert!(read("a=b; Max-Age=99999999999999999999999").expires.is_some_and(|time| time.0 > 1 << 60));
    }

    #[test]
    fn what_is_no_cookie_is_refused() {
        let check = |text: &str, expect: Refused| assert_eq!(SetCookie::parse(text, NOW).err(), Some(expect), "{text}");
        check("", Refused::Empty);
        check("=", Refused::Empty);
        check("a=b\u{1}", Refused::Control);
        check(&format!("a={}", "x".repeat(COOKIE_BYTES_MAX)), Refused::TooLong);
        let long = format!("a=b; Path=/{}", "x".repeat(ATTRIBUTE_BYTES_MAX));
        assert_eq!(read(&long).path, None);
    }
}
