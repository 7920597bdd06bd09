//! The blocks of a page: texts that stand by themselves, with what is known of each.

use std::ops::Range;

use extract::html::dom::{Document, Id, ROOT, Tag};
use foldhash::HashSet;

use crate::steps;
use crate::vocabulary::{HIDDEN, LEVELS, ROLE_WORDS, TOPIC_WORDS, TOPICS, Word, level_of};

/// Words of a block that are compared with the vocabulary.
const COMPARED_WORDS_MAX: u32 = 32;

/// A text that stands by itself: between two tags of blocks.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its first text.
    pub(crate) first: Id,
    /// Its last text.
    pub(crate) last: Id,
    /// The element that it stands in, with other blocks perhaps.
    pub(crate) element: Id,
    /// How many elements are around it.
    pub(crate) depth: u8,
    pub(crate) count: Count,
    /// For each level, how deep the innermost element is that has it, from 1; 0 for none.
    pub(crate) levels: [u8; LEVELS],
    /// Elements in its line: links, images, emphasis, line breaks.
    pub(crate) links: u16,
    pub(crate) images: u16,
    pub(crate) strong: u16,
    pub(crate) breaks: u16,
    pub(crate) has_time: bool,
    /// How many of its first words are of each topic.
    pub(crate) topics: [u8; TOPICS.len()],
    /// How many of its first words the title has.
    pub(crate) in_title: u8,
    /// How many of the pairs of its first words stand in what the page says of itself.
    pub(crate) in_description: u8,
    /// A number for its text.
    pub(crate) hash: u64,
    last_word: u64,
}

/// Of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) words: u32,
    pub(crate) link_words: u32,
    pub(crate) chars: u32,
    pub(crate) digits: u32,
    pub(crate) marks: u32,
    pub(crate) capitals: u32,
    /// Amounts of money.
    pub(crate) prices: u32,
    pub(crate) ends_sentence: bool,
}

/// What an element holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holds {
    pub(crate) words: u32,
    pub(crate) link_words: u32,
    pub(crate) blocks: u32,
    /// How many of the children of its parent are named as it is.
    pub(crate) alike: u32,
}

/// A page in blocks.
pub(crate) struct Blocks {
    pub(crate) blocks: Vec<Block>,
    /// By node.
    pub(crate) holds: Vec<Holds>,
}

/// What is open while the page is read.
#[derive(Clone, Copy)]
struct Open {
    id: Id,
    end: Id,
    levels: [u8; LEVELS],
    is_in_link: bool,
}

/// Elements whose content is never shown as text, or is no text of the page.
pub(crate) fn is_no_text(tree: &Document<'_>, id: Id, tag: Tag) -> bool {
    match tag {
        Tag::Script
        | Tag::Style
        | Tag::IFrame
        | Tag::NoEmbed
        | Tag::NoFrames
        | Tag::Frameset
        | Tag::Object
        | Tag::Canvas
        | Tag::Audio
        | Tag::Video
        | Tag::Svg
        | Tag::Select
        | Tag::Datalist
        | Tag::TextArea
        | Tag::Head
        | Tag::Title
        | Tag::Map => true,
        // The content of a shadow root is shown.
        Tag::Template => tree.attribute(id, "shadowrootmode").is_none(),
        _ => false,
    }
}

/// What a page says of itself in its head: its title, and texts that describe it.
#[derive(Debug, Default)]
pub(crate) struct Said {
    title: HashSet<u64>,
    /// Pairs of words, as one number each.
    description: HashSet<u64>,
}

impl Said {
    /// Adds words of the title.
    pub(crate) fn title(&mut self, text: &str) {
        words_of(text, |word| _ = self.title.insert(word));
    }

    /// Adds a text that describes the page or is part of it.
    pub(crate) fn description(&mut self, text: &str) {
        let mut before = 0;
        words_of(text, |word| {
            self.description.insert(pair(before, word));
            before = word;
        });
    }
}

fn pair(before: u64, word: u64) -> u64 {
    before.rotate_left(29) ^ word
}

pub(crate) fn read(tree: &Document<'_>, said: &Said) -> Blocks {
    let mut reader = Reader {
        tree,
        said,
        blocks: Vec::with_capacity(tree.len() / 8),
        open: vec![Open { id: ROOT, end: tree.len(), levels: [0; LEVELS], is_in_link: false }],
        block: None,
        code: 0..0,
    };
    reader.read();
    let blocks = reader.blocks;
    let mut holds = vec![Holds::default(); tree.len()];
    for block in &blocks {
        let of = &mut holds[block.element];
        of.words += block.count.words;
        of.link_words += block.count.link_words;
        of.blocks += 1;
    }
    for id in (1..tree.len()).rev() {
        let Holds { words, link_words, blocks, .. } = holds[id];
        if blocks > 0 {
            let parent = &mut holds[tree.parent(id)];
            parent.words += words;
            parent.link_words += link_words;
            parent.blocks += blocks;
        }
    }
    count_alike(tree, &mut holds);
    Blocks { blocks, holds }
}

/// Counts, for each element that holds text, those of its siblings that are named alike.
fn count_alike(tree: &Document<'_>, holds: &mut [Holds]) {
    let mut counts: foldhash::HashMap<(u32, u64), u32> = foldhash::HashMap::default();
    let mut keys: Vec<(Id, (u32, u64))> = Vec::new();
    for (id, held) in holds.iter().enumerate().skip(1) {
        let Some(tag) = tree.tag(id).filter(|_| held.blocks > 0) else { continue };
        let class = tree.attribute(id, "class").unwrap_or_default();
        // Of the classes the first counts: others say that one is the first or the chosen one.
        let class = class.split_ascii_whitespace().next().unwrap_or_default();
        let name = class
            .bytes()
            .fold(tag as u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5));
        let key = (tree.parent(id) as u32, name);
        *counts.entry(key).or_default() += 1;
        keys.push((id, key));
    }
    for (id, key) in keys {
        holds[id].alike = counts.get(&key).copied().unwrap_or_default();
    }
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

struct Reader<'t, 'd> {
    tree: &'t Document<'d>,
    said: &'t Said,
    blocks: Vec<Block>,
    open: Vec<Open>,
    /// The block that is being read.
    block: Option<Block>,
    /// The last `pre` and what is in it: one block.
    code: Range<Id>,
}

impl Reader<'_, '_> {
    fn read(&mut self) {
        let mut id = 1;
        while id < self.tree.len() {
            steps::count(1);
            while self.open.len() > 1 && self.open.last().is_some_and(|open| open.end <= id) {
                self.close();
            }
            match self.tree.tag(id) {
                None => self.text(id),
                Some(tag) if is_no_text(self.tree, id, tag) => {
                    id = self.tree.end(id);
                    continue;
                }
                Some(tag) => self.element(id, tag),
            }
            id += 1;
        }
        while self.open.len() > 1 {
            self.close();
        }
        self.end_block();
    }

    fn close(&mut self) {
        let ends_block = self.open.pop().is_some_and(|open| self.is_border(open.id));
        if ends_block {
            self.end_block();
        }
    }

    /// How many elements are open, as far as a byte counts.
    fn depth(&self) -> u8 {
        u8::try_from(self.open.len()).unwrap_or(u8::MAX)
    }

    /// Whether a tag ends the line before it. Code has many lines, but is one block.
    fn is_border(&self, id: Id) -> bool {
        let is_in_code = self.code.start < id && id < self.code.end;
        !is_in_code && self.tree.tag(id).is_some_and(is_border)
    }

    fn element(&mut self, id: Id, tag: Tag) {
        if self.is_border(id) {
            self.end_block();
        }
        if tag == Tag::Pre && id >= self.code.end {
            self.code = self.tree.subtree(id);
        }
        if let Some(block) = &mut self.block {
            match tag {
                Tag::A => block.links += 1,
                Tag::Img => block.images += 1,
                Tag::B | Tag::Strong | Tag::Em | Tag::I => block.strong += 1,
                Tag::Br => block.breaks += 1,
                _ => {}
            }
            block.has_time |= tag == Tag::Time;
        }
        let end = self.tree.end(id);
        if end == id + 1 {
            return;
        }
        let depth = self.depth();
        let around = self.open[self.open.len() - 1];
        let mut open = Open { id, end, is_in_link: around.is_in_link || tag == Tag::A, ..around };
        if let Some(level) = level_of(tag) {
            open.levels[level] = depth;
        }
        let mut groups = 0;
        for (name, value) in self.tree.attributes(id) {
            match name.len() {
                5 if name.eq_ignore_ascii_case("class") => groups |= ROLE_WORDS.groups_of_name(&value()),
                2 if name.eq_ignore_ascii_case("id") => groups |= ROLE_WORDS.groups_of_name(&value()),
                4 if name.eq_ignore_ascii_case("role") => groups |= ROLE_WORDS.groups_of_name(&value()),
                8 if name.eq_ignore_ascii_case("itemprop") => groups |= ROLE_WORDS.groups_of_name(&value()),
                6 if name.eq_ignore_ascii_case("hidden") => open.levels[HIDDEN] = depth,
                11 if name.eq_ignore_ascii_case("aria-hidden") && value() == "true" => open.levels[HIDDEN] = depth,
                5 if name.eq_ignore_ascii_case("style") && is_hiding(&value()) => open.levels[HIDDEN] = depth,
                _ => {}
            }
        }
        // The names of the whole page say nothing about its parts.
        while groups != 0 && !matches!(tag, Tag::Html | Tag::Body) {
            open.levels[groups.trailing_zeros() as usize] = depth;
            groups &= groups - 1;
        }
        self.open.push(open);
    }

    fn text(&mut self, id: Id) {
        let text = self.tree.text(id);
        if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return;
        }
        let open = &self.open[self.open.len() - 1];
        let mut block = self.block.take().unwrap_or_else(|| {
            let around = self.open.iter().rev().map(|open| open.id).find(|id| self.is_border(*id));
            let has_time = self.open.iter().any(|open| self.tree.tag(open.id) == Some(Tag::Time));
            Block {
                first: id,
                last: id,
                element: around.unwrap_or(ROOT),
                depth: self.depth(),
                count: Count::default(),
                levels: open.levels,
                links: u16::from(open.is_in_link),
                images: 0,
                strong: 0,
                breaks: 0,
                has_time,
                topics: [0; TOPICS.len()],
                in_title: 0,
                in_description: 0,
                last_word: 0,
                hash: 0,
            }
        });
        block.last = id;
        block.add(&text, open.is_in_link, self.said);
        self.block = Some(block);
    }

    fn end_block(&mut self) {
        self.blocks.extend(self.block.take().filter(|block| block.count.words > 0));
    }
}

/// Whether a tag ends the line before it: all but those that stand inside of one.
pub(crate) fn is_border(tag: Tag) -> bool {
    tag.is_block() || matches!(tag, Tag::Button | Tag::Option | Tag::Other | Tag::Legend)
}

fn is_hiding(style: &str) -> bool {
    let style: String = style.chars().filter(|character| !character.is_whitespace()).collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

impl Block {
    /// Adds a text.
    fn add(&mut self, text: &str, is_in_link: bool, said: &Said) {
        let mut word = Word::default();
        let bytes = text.as_bytes();
        for (at, &byte) in bytes.iter().enumerate() {
            let is_of_word = match byte {
                b'a'..=b'z' | b'_' => true,
                b'A'..=b'Z' => {
                    self.count.capitals += u32::from(word.is_empty());
                    true
                }
                b'0'..=b'9' => {
                    self.count.digits += 1;
                    true
                }
                b'.' | b',' | b'!' | b'?' | b';' | b':' => {
                    self.count.marks += 1;
                    false
                }
                b'$' => {
                    self.count.prices += u32::from(bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
                    false
                }
                0x80.. => is_of_word(&bytes[at..], word),
                _ => false,
            };
            if byte > b' ' {
                self.count.chars += u32::from(byte & 0xc0 != 0x80);
                self.count.ends_sentence = matches!(byte, b'.' | b'!' | b'?' | b':');
            }
            if is_of_word {
                word.push(byte);
            } else if !word.is_empty() {
                self.end_word(std::mem::take(&mut word), is_in_link, said);
            }
        }
        if !word.is_empty() {
            self.end_word(word, is_in_link, said);
        }
    }

    fn end_word(&mut self, word: Word, is_in_link: bool, said: &Said) {
        self.count.words += 1;
        self.count.link_words += u32::from(is_in_link);
        self.hash = (self.hash.rotate_left(7) ^ word.letters).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.count.words > COMPARED_WORDS_MAX {
            return;
        }
        self.in_title += u8::from(said.title.contains(&word.letters));
        self.in_description += u8::from(said.description.contains(&pair(self.last_word, word.letters)));
        self.last_word = word.letters;
        let mut groups = TOPIC_WORDS.groups(word);
        while groups != 0 {
            self.topics[groups.trailing_zeros() as usize] += 1;
            groups &= groups - 1;
        }
    }
}

/// Whether a character beyond ASCII, of which this is a byte, belongs to a word: not spaces, dashes, quotation marks, symbols.
fn is_of_word(bytes: &[u8], word: Word) -> bool {
    match bytes {
        [0xc2 | 0xf0, ..] | [0xe2, 0x80..=0xaf, ..] | [0xe3, 0x80, ..] | [0xef, 0xbc | 0xbd, ..] => false,
        // A later byte belongs where the first one does.
        [0x80..0xc0, ..] => !word.is_empty(),
        _ => true,
    }
}
