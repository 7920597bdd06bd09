//! One line to one record: field name, value, and nothing of the comment.

/// A line that says something to us. The value is trimmed and without its comment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    UserAgent(&'a [u8]),
    Allow(&'a [u8]),
    Disallow(&'a [u8]),
    CrawlDelay(&'a [u8]),
    Sitemap(&'a [u8]),
}

/// Fields that are known, and ask nothing of a crawler: they are for indexes, or say who else may use what was fetched.
const FIELDS_FOR_OTHERS: [&[u8]; 9] = [
    b"host",
    b"clean-param",
    b"content-signal",
    b"content-usage",
    b"license",
    b"noindex",
    b"nofollow",
    b"noarchive",
    b"sitemap-index",
];

/// What a line is that is no record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoRecord<'a> {
    /// Empty, a comment, or not for a crawler.
    Nothing,
    /// Its field is unknown, or it has none. The value is what stands behind the first colon.
    Unknown(&'a [u8]),
}

impl<'a> Record<'a> {
    /// Reads a line.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, NoRecord<'a>> {
        let content = without_comment(line).trim_ascii();
        let Some((field, value)) = split(content) else {
            return Err(if content.is_empty() { NoRecord::Nothing } else { NoRecord::Unknown(b"") });
        };
        let record = match field.to_ascii_lowercase().as_slice() {
            b"user-agent" | b"useragent" | b"user agent" => Self::UserAgent,
            b"allow" => Self::Allow,
            // The misspellings that Google's open-source parser accepts too: what is meant is
            // beyond doubt, and reading them as nothing would open what was to be closed.
            b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => Self::Disallow,
            b"crawl-delay" | b"crawldelay" | b"crawl delay" => Self::CrawlDelay,
            b"sitemap" | b"site-map" => Self::Sitemap,
            field if FIELDS_FOR_OTHERS.contains(&field) => return Err(NoRecord::Nothing),
            _ => return Err(NoRecord::Unknown(value)),
        };
        Ok(record(value))
    }
}

fn without_comment(line: &[u8]) -> &[u8] {
    memchr::memchr(b'#', line).map_or(line, |at| &line[..at])
}

/// Field and value, split at the colon; or, where the colon was forgotten, at the white space
/// between exactly two words (as Google does).
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(colon) = memchr::memchr(b':', line) {
        return Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()));
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    match (words.next(), words.next(), words.next()) {
        (Some(field), Some(value), None) => Some((field, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::NoRecord;
    use super::Record::{self, Allow, CrawlDelay, Disallow, Sitemap, UserAgent};

    fn check(line: &str, expect: Option<Record<'_>>) {
        assert_eq!(Record::read(line.as_bytes()).ok(), expect, "{line:?}");
    }

    #[test]
    fn a_record_is_field_colon_value() {
        check("Disallow: /a", Some(Disallow(b"/a")));
        check("disallow:/a", Some(Disallow(b"/a")));
        check("\t DISALLOW \t:\t /a \t", Some(Disallow(b"/a")));
        check("Allow: /a b", Some(Allow(b"/a b")));
        check("Disallow:", Some(Disallow(b"")));
        check("User-Agent: Foo/1.0", Some(UserAgent(b"Foo/1.0")));
        check("Sitemap: https://a.example/s.xml", Some(Sitemap(b"https://a.example/s.xml")));
        check("crawl-delay: 1.5", Some(CrawlDelay(b"1.5")));
    }

    #[test]
    fn comments_end_a_line_anywhere() {
        check("Allow: / # comment in line", Some(Allow(b"/")));
        check("Allow: /a#b", Some(Allow(b"/a")));
        check("# Allow: /", None);
        check("Allow # : /", None);
        check("Disallow: #", Some(Disallow(b"")));
    }

    #[test]
    fn common_slips_are_understood() {
        check("Disalow: /a", Some(Disallow(b"/a")));
        check("useragent: foo", Some(UserAgent(b"foo")));
        check("user agent: foo", Some(UserAgent(b"foo")));
        check("disallow /a", Some(Disallow(b"/a")));
        check("disallow \t /a", Some(Disallow(b"/a")));
        check("site-map: /s.xml", Some(Sitemap(b"/s.xml")));
    }

    #[test]
    fn anything_else_is_no_record() {
        for line in
            ["", ":", ": /a", "disallow", "disallow /a b", "Host: a.example", "<a href=\"http://x/\">", "allowed: /"]
        {
            check(line, None);
        }
    }

    #[test]
    fn what_is_no_record_is_nothing_or_unknown() {
        let check = |line: &'static str, expect| assert_eq!(Record::read(line.as_bytes()), Err(expect), "{line:?}");
        for line in ["", " \t", "# Disallow: /", "Host: a.example", "Content-Signal: ai-train=no"] {
            check(line, NoRecord::Nothing);
        }
        check("allowed: /", NoRecord::Unknown(b"/"));
        check("disallow /a b", NoRecord::Unknown(b""));
        check(": /a", NoRecord::Unknown(b"/a"));
    }
}
