//! Records to the one group that is for us (RFC 9309 §2.2.1).

use std::time::Duration;

use crate::record::{NoRecord, Record};
use crate::rule_list::{RuleList, WrittenRule};
use crate::unread::{Misread, Unread, UnreadLines};
use crate::{crawl_delay, lines::Lines};

/// How many `Sitemap` records of a file are kept.
pub const SITEMAPS_MAX: usize = 1_000;

/// The longest `Sitemap` value that is kept, in bytes: the sitemap protocol's own limit for a URL.
pub const SITEMAP_URL_BYTES_MAX: usize = 2_048;

/// What a file says to one product token.
#[derive(Debug, Default)]
pub(crate) struct OurPart {
    pub(crate) group: Group,
    pub(crate) sitemaps: Vec<String>,
}

/// All groups for the same token, merged.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) rules: RuleList,
    pub(crate) crawl_delay: Option<Duration>,
}

/// Reads a file for `product_token`.
pub(crate) fn read(body: &[u8], product_token: &str) -> OurPart {
    read_all(body, product_token).0
}

/// The same, and what could not be read.
fn read_all<'b>(body: &'b [u8], product_token: &str) -> (OurPart, UnreadLines<'b>) {
    let mut reader = GroupReader::new(product_token);
    for (line_number, line) in Lines::new(body) {
        match Record::read(line) {
            Ok(record) => reader.read(&record, line_number, line),
            Err(NoRecord::Unknown(value)) => reader.unknown(value, line_number, line),
            Err(NoRecord::Nothing) => {}
        }
    }
    if [[0xff, 0xfe], [0xfe, 0xff]].iter().any(|mark| body.starts_with(mark)) {
        reader.unread = UnreadLines::default();
        reader.unread.push(1, b"", Misread::Utf16);
    }
    reader.finish()
}

/// The lines of a file that would have told the crawler with this product token something, and could not be read. Those for other
/// crawlers are left out, as are fields that ask nothing of a crawler. The arguments are those of
/// [`RobotsTxt::parse`](crate::RobotsTxt::parse).
#[must_use]
pub fn unread(body: &[u8], product_token: &str) -> Unread {
    read_all(body, product_token).1.into()
}

/// The sitemaps that a file names, as [`RobotsTxt::sitemaps`](crate::RobotsTxt::sitemaps) has them. The rules are ignored, which
/// takes most of the time otherwise.
#[must_use]
pub fn sitemaps(body: &[u8]) -> Vec<String> {
    let mut reader = GroupReader::new("");
    for (line_number, line) in Lines::new(body) {
        if let Ok(Record::Sitemap(value)) = Record::read(line) {
            reader.sitemap(value, line_number, line);
        }
    }
    reader.sitemaps
}

/// Whom the user-agent lines of the current group name: us, everybody, both, or neither.
#[derive(Debug, Clone, Copy, Default)]
struct Addressees {
    us: bool,
    everybody: bool,
}

/// A group as it is written.
#[derive(Default)]
struct WrittenGroup<'b> {
    rules: Vec<WrittenRule<'b>>,
    crawl_delay: Option<Duration>,
    unread: UnreadLines<'b>,
}

struct GroupReader<'t, 'b> {
    token: &'t str,
    /// Groups that name us, and groups for `*`. The latter count only if there are none of the former.
    ours: WrittenGroup<'b>,
    everybodys: WrittenGroup<'b>,
    we_are_named: bool,
    sitemaps: Vec<String>,
    /// Unread lines that concern everybody, or would begin another group.
    unread: UnreadLines<'b>,
    /// There was a User-agent line.
    agent_seen: bool,

    rules_for: Addressees,
    /// A user-agent line behind a rule begins a new group. Other records do not (RFC 9309 §2.2.4).
    rule_seen: bool,
    /// A Crawl-delay is for the user-agent lines right above it. Though it ends no group, it is not
    /// for the agents named behind it: files that give each robot its own delay mean that.
    delay_for: Addressees,
    delay_seen: bool,
}

impl<'t, 'b> GroupReader<'t, 'b> {
    fn new(product_token: &'t str) -> Self {
        Self {
            token: product_token.split(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or_default(),
            ours: WrittenGroup::default(),
            everybodys: WrittenGroup::default(),
            we_are_named: false,
            sitemaps: Vec::new(),
            unread: UnreadLines::default(),
            agent_seen: false,
            rules_for: Addressees::default(),
            rule_seen: false,
            delay_for: Addressees::default(),
            delay_seen: false,
        }
    }

    fn read(&mut self, record: &Record<'b>, line_number: u32, line: &'b [u8]) {
        match *record {
            Record::UserAgent(value) => self.user_agent(value, line_number, line),
            Record::Allow(pattern) => self.rule(WrittenRule { allow: true, pattern, line, line_number }),
            Record::Disallow(pattern) => self.rule(WrittenRule { allow: false, pattern, line, line_number }),
            Record::CrawlDelay(value) => self.crawl_delay(value, line_number, line),
            Record::Sitemap(value) => self.sitemap(value, line_number, line),
        }
    }

    /// A line that is no record matters in a group for us, or where it names us as a User-agent line would.
    fn unknown(&mut self, value: &[u8], line_number: u32, line: &'b [u8]) {
        if names(value, self.token) || is_wildcard(value) {
            self.unread.push(line_number, line, Misread::Field);
        } else {
            self.unread_for(self.rules_for, line_number, line, Misread::Field);
        }
    }

    fn unread_for(&mut self, addressees: Addressees, line_number: u32, line: &'b [u8], why: Misread) {
        if addressees.us {
            self.ours.unread.push(line_number, line, why);
        }
        if addressees.everybody {
            self.everybodys.unread.push(line_number, line, why);
        }
    }

    fn user_agent(&mut self, value: &[u8], line_number: u32, line: &'b [u8]) {
        self.agent_seen = true;
        if self.rule_seen {
            self.rules_for = Addressees::default();
        }
        if self.rule_seen || self.delay_seen {
            self.delay_for = Addressees::default();
        }
        self.rule_seen = false;
        self.delay_seen = false;
        let us = names(value, self.token);
        let everybody = is_wildcard(value);
        self.we_are_named |= us;
        if value.is_empty() {
            self.unread.push(line_number, line, Misread::Nameless);
        } else if !us && (names_behind(value, self.token) || !everybody && lists_wildcard(value)) {
            self.unread.push(line_number, line, Misread::Agents);
        }
        for addressees in [&mut self.rules_for, &mut self.delay_for] {
            addressees.us |= us;
            addressees.everybody |= everybody;
        }
    }

    fn rule(&mut self, rule: WrittenRule<'b>) {
        self.rule_seen = true;
        let WrittenRule { pattern, line, line_number, .. } = rule;
        if !self.agent_seen && !pattern.is_empty() {
            self.unread.push(line_number, line, Misread::Nobody);
        } else if let Some(why) = misread(pattern) {
            self.unread_for(self.rules_for, line_number, line, why);
        }
        if self.rules_for.us {
            self.ours.rules.push(rule);
        }
        if self.rules_for.everybody && !self.we_are_named {
            self.everybodys.rules.push(rule);
        }
    }

    /// The longest delay counts where several are for us: it keeps the others' promise too.
    fn crawl_delay(&mut self, value: &[u8], line_number: u32, line: &'b [u8]) {
        self.delay_seen = true;
        let delay = crawl_delay::parse(value);
        if !self.agent_seen {
            self.unread.push(line_number, line, Misread::Nobody);
        } else if delay.is_none() {
            self.unread_for(self.delay_for, line_number, line, Misread::Delay);
        }
        if self.delay_for.us {
            self.ours.crawl_delay = self.ours.crawl_delay.max(delay);
        }
        if self.delay_for.everybody {
            self.everybodys.crawl_delay = self.everybodys.crawl_delay.max(delay);
        }
    }

    fn sitemap(&mut self, value: &[u8], line_number: u32, line: &'b [u8]) {
        if value.is_empty() {
            return;
        }
        let fits = value.len() <= SITEMAP_URL_BYTES_MAX;
        if !fits || !can_be_fetched(value) {
            self.unread.push(line_number, line, Misread::Sitemap);
        } else if self.sitemaps.len() >= SITEMAPS_MAX {
            self.unread.push(line_number, line, Misread::Sitemaps);
        }
        if fits && self.sitemaps.len() < SITEMAPS_MAX {
            self.sitemaps.push(String::from_utf8_lossy(value).into_owned());
        }
    }

    fn finish(mut self) -> (OurPart, UnreadLines<'b>) {
        let group = if self.we_are_named { self.ours } else { self.everybodys };
        let WrittenGroup { rules, crawl_delay, unread } = group;
        self.sitemaps.shrink_to_fit();
        let part = OurPart { group: Group { rules: RuleList::new(&rules), crawl_delay }, sitemaps: self.sitemaps };
        (part, unread.merge(self.unread))
    }
}

/// How a pattern is not read as it is meant.
fn misread(pattern: &[u8]) -> Option<Misread> {
    let begins = |text: &[u8]| matches!(text, [b'/' | b'*', ..]);
    let mut words = pattern.split(u8::is_ascii_whitespace);
    let first = words.next().unwrap_or_default();
    if !first.is_empty() && !begins(first) {
        return Some(Misread::Pattern);
    }
    words.any(begins).then_some(Misread::Patterns)
}

/// Whether the value of a Sitemap line is one reference, and to something on the web.
fn can_be_fetched(value: &[u8]) -> bool {
    let scheme = value.split(|octet| b":/?".contains(octet)).next().unwrap_or_default();
    let has_scheme = value.get(scheme.len()) == Some(&b':');
    let is_web = [&b"http"[..], b"https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (is_web || !has_scheme) && !value.iter().any(u8::is_ascii_whitespace)
}

/// Whether a user-agent value names `token`: it begins with it, in any case, and the token ends
/// there. Versions and further words behind it are ignored, as Google's parser does.
fn names(value: &[u8], token: &str) -> bool {
    let Some((head, tail)) = value.split_at_checked(token.len()) else {
        return false;
    };
    !token.is_empty() && head.eq_ignore_ascii_case(token.as_bytes()) && !tail.first().is_some_and(is_token_char)
}

/// Whether a user-agent value names `token` behind another name.
fn names_behind(value: &[u8], token: &str) -> bool {
    (1..value.len()).any(|at| !is_token_char(&value[at - 1]) && names(&value[at..], token))
}

/// Whether a list of names has `*` in it.
fn lists_wildcard(value: &[u8]) -> bool {
    value.split(|octet| b", ;\t".contains(octet)).any(|name| name == b"*")
}

/// What a product token consists of (RFC 9309 §2.2.1).
fn is_token_char(octet: &u8) -> bool {
    octet.is_ascii_alphabetic() || b"-_".contains(octet)
}

/// `*`, alone or before white space.
fn is_wildcard(value: &[u8]) -> bool {
    matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_matched_as_a_whole() {
        let check = |value: &str, token: &str, expect: bool| {
            assert_eq!(names(value.as_bytes(), token), expect, "{value:?} names {token:?}");
        };
        check("argiope", "argiope", true);
        check("ARGIOPE", "argiope", true);
        check("argiope", "Argiope", true);
        check("argiope/1.0", "argiope", true);
        check("argiope foo", "argiope", true);
        check("argiope*", "argiope", true);
        check("argiope-images", "argiope", false);
        check("argiope_images", "argiope", false);
        check("argiopeimages", "argiope", false);
        check("my-argiope", "argiope", false);
        check("argio", "argiope", false);
        check("", "argiope", false);
        check("", "", false);
        check("*", "argiope", false);
        check("cis5550-crawler", "cis5550-crawler", true);
        check("cis", "cis5550-crawler", false);
        check("cis5550-crawler", "cis", true);
    }
}
