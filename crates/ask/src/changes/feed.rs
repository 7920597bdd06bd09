//! Changes as an Atom feed (RFC 4287).

use std::collections::BTreeMap;
use std::io::Write;

use model::{Change, Timestamp};
use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;

use super::difference::{Block, Difference};
use super::{Changed, NO_PLACE};

/// The most entries of a feed. It shows the newest and counts the others.
pub const FEED_ENTRIES_MAX: usize = 1_000;
/// Characters of a block that an entry shows.
const BLOCK_CHARS_MAX: usize = 500;

/// The changes of which a feed tells.
#[derive(Debug, Default)]
pub struct Feed {
    /// By when they were found, and in which order they came.
    newest: BTreeMap<(Timestamp, u64), Changed>,
    seen: u64,
}

impl Feed {
    /// Takes in a change, in place of the oldest where there are too many.
    pub fn add(&mut self, changed: Changed) {
        self.newest.insert((changed.at, self.seen), changed);
        self.seen += 1;
        if self.newest.len() > FEED_ENTRIES_MAX {
            self.newest.pop_first();
        }
    }

    /// How many changes came that the feed does not tell.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.seen - self.newest.len() as u64
    }

    /// Writes the feed of a crawl, the newest change first. The ids are the same each time.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, crawl_id: &str, title: &str, now: Timestamp, to: &mut dyn Write) -> std::io::Result<()> {
        let mut xml = Writer::new_with_indent(to, b' ', 1);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
        let updated = self.newest.last_key_value().map_or(now, |((at, _), _)| *at);
        let feed = xml.create_element("feed").with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
        feed.write_inner_content(|xml| {
            text(xml, "id", &format!("urn:argiope:{crawl_id}"))?;
            text(xml, "title", title)?;
            text(xml, "updated", &updated.to_rfc3339())?;
            xml.create_element("author").write_inner_content(|xml| text(xml, "name", "argiope"))?;
            self.newest.values().rev().try_for_each(|changed| entry(xml, crawl_id, changed))
        })?;
        xml.write_event(Event::Text(BytesText::new("\n")))
    }
}

fn entry(xml: &mut Writer<&mut dyn Write>, crawl_id: &str, changed: &Changed) -> std::io::Result<()> {
    xml.create_element("entry")
        .write_inner_content(|xml| {
            let title = changed.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&changed.url);
            text(xml, "id", &format!("urn:argiope:{crawl_id}:{}:{}", changed.at.0, changed.url))?;
            text(xml, "title", &format!("{}: {title}", changed.change))?;
            text(xml, "updated", &changed.at.to_rfc3339())?;
            xml.create_element("link").with_attribute(("href", changed.url.as_str())).write_empty()?;
            xml.create_element("category").with_attribute(("term", changed.change.as_str())).write_empty()?;
            // Without a type it is text (RFC 4287 §4.1.3.1).
            text(xml, "content", &said(changed))
        })
        .map(drop)
}

fn text(xml: &mut Writer<&mut dyn Write>, name: &str, value: &str) -> std::io::Result<()> {
    // Controls are left out, and what else no XML document may have (XML 1.0 §2.2).
    let is_char = |c: &char| matches!(c, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    let value: String = value.chars().filter(is_char).collect();
    xml.create_element(name).write_text_content(BytesText::new(&value)).map(drop)
}

/// What is different, in words.
fn said(changed: &Changed) -> String {
    let mut said = match (&changed.change, &changed.target) {
        (Change::Moved, Some(target)) if changed.probable => format!("gone; {target} has its content\n"),
        (Change::Moved, Some(target)) => format!("moved to {target}\n"),
        (Change::Moved, None) => format!("moved: {NO_PLACE}\n"),
        _ => String::new(),
    };
    if let Some(title) = &changed.title_before {
        said.push_str(&format!("title before: {title}\n"));
    }
    if let Some(Difference { text, links_added, links_removed }) = &changed.difference {
        for block in text {
            let (sign, block) = match block {
                Block::Removed(block) => ('-', block),
                Block::Added(block) => ('+', block),
            };
            said.push_str(&format!("{sign} {}\n", shortened(block)));
        }
        links_removed.iter().for_each(|link| said.push_str(&format!("- link {link}\n")));
        links_added.iter().for_each(|link| said.push_str(&format!("+ link {link}\n")));
    }
    said
}

fn shortened(block: &str) -> String {
    match block.char_indices().nth(BLOCK_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &block[..end]),
        None => block.to_owned(),
    }
}
