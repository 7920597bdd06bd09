//! What a page says of itself in its head and in JSON-LD, as far as it helps to find the same in its body.

use extract::html::dom::{Document, Tag};
use foldhash::HashSet;

use crate::vocabulary::Word;

/// Names of texts in JSON-LD that are about the page, or in it.
const TEXTS: [&str; 4] = ["\"description\"", "\"articleBody\"", "\"text\"", "\"reviewBody\""];
/// Bytes of one of them that are read.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// What a page says of itself: its title, and texts that describe it.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) title: Numbers,
    /// Pairs of words, as one number each.
    pub(crate) description: Numbers,
}

impl Said {
    /// Adds words of the title.
    fn title(&mut self, text: &str) {
        words_of(text, |word| self.title.add(word));
    }

    /// Adds a text that describes the page or is part of it.
    fn description(&mut self, text: &str) {
        let mut before = 0;
        words_of(text, |word| {
            self.description.add(pair(before, word));
            before = word;
        });
    }
}

/// Two words in a row as one number.
pub(crate) fn pair(before: u64, word: u64) -> u64 {
    before.rotate_left(29) ^ word
}

/// A set of numbers. Most numbers that it is asked about are not in it, which a few bits tell nearly always.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    bits: [u64; 4],
    all: HashSet<u64>,
}

impl Numbers {
    fn add(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.bits[word] |= bit;
        self.all.insert(number);
    }

    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.bits[word] & bit != 0 && self.all.contains(&number)
    }

    #[inline]
    fn place(number: u64) -> (usize, u64) {
        let place = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        ((place / 64) as usize, 1 << (place % 64))
    }
}

pub(crate) fn is_json_ld(kind: &str) -> bool {
    kind.trim().eq_ignore_ascii_case("application/ld+json")
}

fn words_of(text: &str, mut each: impl FnMut(u64)) {
    let mut word = Word::default();
    for byte in text.bytes().chain([b' ']) {
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            word.push(byte);
        } else if !word.is_empty() {
            each(std::mem::take(&mut word).letters);
        }
    }
}

pub(crate) fn read(tree: &Document<'_>) -> Said {
    let mut said = Said::default();
    let mut has_title = false;
    for id in 1..tree.len() {
        match tree.tag(id) {
            Some(Tag::Title) if !has_title => {
                has_title = true;
                said.title(&tree.whole_text(id));
            }
            Some(Tag::Meta) => {
                let name = tree.attribute(id, "name").or(tree.attribute(id, "property")).unwrap_or_default();
                let content = tree.attribute(id, "content").unwrap_or_default();
                match &*name {
                    "description" | "og:description" | "twitter:description" => said.description(&content),
                    "og:title" => said.title(&content),
                    _ => {}
                }
            }
            Some(Tag::Script) if tree.attribute(id, "type").is_some_and(|kind| is_json_ld(&kind)) => {
                tree.children(id).for_each(|child| json(&tree.text(child), &mut said));
            }
            _ => {}
        }
    }
    said
}

/// Takes the texts of a JSON-LD text, without reading it as JSON: it may be broken.
fn json(text: &str, said: &mut Said) {
    for name in TEXTS {
        for rest in text.split(name).skip(1) {
            let value =
                rest.trim_start().strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
            let Some(value) = value else { continue };
            let value = &value[..value.floor_char_boundary(TEXT_BYTES_MAX)];
            let mut is_escaped = false;
            let end = value.bytes().position(|byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            let value = &value[..end.unwrap_or(value.len())];
            said.description(&value.replace("\\n", " ").replace("\\r", " ").replace("\\t", " "));
        }
    }
}
