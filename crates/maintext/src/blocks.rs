//! The blocks of a page: texts that stand by themselves, with what is known of each.

use std::borrow::Cow;
use std::ops::Range;

use extract::html::dom::{Document, Id, ROOT, Tag};
use foldhash::HashMap;

use crate::said::{Said, pair};
use crate::steps;
use crate::vocabulary::{HIDDEN, LEVELS, ROLE_WORDS, TOPIC_WORDS, TOPICS, Word, level_of};
use crate::words;

/// Words of a block that are compared with the vocabulary.
pub(crate) const COMPARED_WORDS_MAX: u32 = 32;

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
    /// A number for what that element and those around it are called.
    pub(crate) place: u64,
    pub(crate) count: Count,
    /// Whether it is more than space.
    is_shown: bool,
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
    /// The most that this is of it and of the elements around it that hold nothing else.
    pub(crate) most_alike: u32,
    /// The nearest element around it that holds more; the document's is the document.
    pub(crate) larger: u32,
}

/// A page in blocks.
pub(crate) struct Blocks {
    pub(crate) blocks: Vec<Block>,
    /// Texts without words, between the others: symbols, of which the models know nothing.
    pub(crate) wordless: Vec<Block>,
    /// By node.
    pub(crate) holds: Vec<Holds>,
    /// The levels that any block has.
    pub(crate) has_level: [bool; LEVELS],
}

/// What is open while the page is read.
#[derive(Clone, Copy)]
struct Open {
    end: Id,
    levels: [u8; LEVELS],
    is_in_link: bool,
    /// A `time` is open.
    has_time: bool,
    /// Its tags end the line before them.
    is_border: bool,
    /// The innermost open element whose tags do.
    line: Id,
    /// A number for what that element and those around it are called.
    place: u64,
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

pub(crate) fn read(tree: &Document<'_>, said: &Said) -> Blocks {
    let mut reader = Reader {
        tree,
        said,
        blocks: Vec::with_capacity(tree.len() / 8),
        open: vec![Open {
            end: tree.len(),
            levels: [0; LEVELS],
            is_in_link: false,
            has_time: false,
            is_border: true,
            line: ROOT,
            place: 0,
        }],
        wordless: Vec::new(),
        in_block: false,
        whole: 0..0,
        names: Vec::new(),
        roles: HashMap::default(),
    };
    reader.read();
    let Reader { blocks, wordless, names, .. } = reader;
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
    count_alike(tree, names, &mut holds);
    look_around(tree, &mut holds);
    let mut has_level = [false; LEVELS];
    for block in &blocks {
        has_level.iter_mut().zip(block.levels).for_each(|(has, level)| *has |= level > 0);
    }
    Blocks { blocks, wordless, holds, has_level }
}

/// Notes, for each element that holds text, what the elements around it are that hold nothing else.
fn look_around(tree: &Document<'_>, holds: &mut [Holds]) {
    // The elements around one have smaller numbers: what is around them is known.
    for id in 0..holds.len() {
        let (parent, held) = (tree.parent(id), holds[id]);
        if held.blocks == 0 {
            continue;
        }
        let around = holds[parent];
        let is_same = id != ROOT && around.blocks == held.blocks;
        let (larger, alike) = if is_same { (around.larger, around.most_alike) } else { (parent as u32, 0) };
        (holds[id].larger, holds[id].most_alike) = (larger, held.alike.max(alike));
    }
}

/// Counts, for each element that holds text, those of its siblings that are named alike.
fn count_alike(tree: &Document<'_>, names: Vec<(Id, u64)>, holds: &mut [Holds]) {
    let mut groups: HashMap<(Id, u64), usize> = HashMap::with_capacity_and_hasher(names.len(), Default::default());
    let mut counts: Vec<u32> = Vec::new();
    let mut group_of: Vec<(Id, usize)> = Vec::with_capacity(names.len());
    for (id, name) in names.into_iter().filter(|(id, _)| holds[*id].blocks > 0) {
        let group = *groups.entry((tree.parent(id), name)).or_insert(counts.len());
        counts.resize(counts.len().max(group + 1), 0);
        counts[group] += 1;
        group_of.push((id, group));
    }
    group_of.into_iter().for_each(|(id, group)| holds[id].alike = counts[group]);
}

/// A number for what an element is called: its tag and the first of its classes. Others say that one is the first or the chosen one.
fn name_of(tag: Tag, class: &str) -> u64 {
    let class = class.split_ascii_whitespace().next().unwrap_or_default();
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    class.bytes().fold(tag as u64, add)
}

struct Reader<'t, 'd> {
    tree: &'t Document<'d>,
    said: &'t Said,
    blocks: Vec<Block>,
    open: Vec<Open>,
    wordless: Vec<Block>,
    /// Whether the last block is still being read.
    in_block: bool,
    /// The last `pre` or `math` and what is in it: one block, or part of one.
    whole: Range<Id>,
    /// Elements with content, and what they are called.
    names: Vec<(Id, u64)>,
    /// What the classes mean that were seen: pages repeat them.
    roles: HashMap<Cow<'d, str>, u32>,
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
        if self.open.pop().is_some_and(|open| open.is_border) {
            self.end_block();
        }
    }

    /// How many elements are open, as far as a byte counts.
    fn depth(&self) -> u8 {
        u8::try_from(self.open.len()).unwrap_or(u8::MAX)
    }

    fn element(&mut self, id: Id, tag: Tag) {
        // Code has many lines, and a formula elements of its own, but neither is more than one block.
        let is_in_whole = self.whole.start < id && id < self.whole.end;
        let is_border = !is_in_whole && is_border(tag);
        if is_border {
            self.end_block();
        }
        if matches!(tag, Tag::Pre | Tag::Math) && id >= self.whole.end {
            self.whole = self.tree.subtree(id);
        }
        if let Some(block) = self.blocks.last_mut().filter(|_| self.in_block) {
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
        let around = &self.open[self.open.len() - 1];
        let mut open = Open {
            end,
            is_in_link: around.is_in_link || tag == Tag::A,
            has_time: around.has_time || tag == Tag::Time,
            is_border,
            line: if is_border { id } else { around.line },
            ..*around
        };
        if let Some(level) = level_of(tag) {
            open.levels[level] = depth;
        }
        let mut groups = 0;
        let mut class = None;
        for (name, value) in self.tree.attributes(id) {
            match name.len() {
                5 if name.eq_ignore_ascii_case("class") => {
                    let value = value();
                    class.get_or_insert_with(|| name_of(tag, &value));
                    groups |= roles_of(value, &mut self.roles);
                }
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
        let name = class.unwrap_or_else(|| name_of(tag, ""));
        if is_border {
            open.place = (open.place.rotate_left(7) ^ name).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        self.names.push((id, name));
        self.open.push(open);
    }

    fn text(&mut self, id: Id) {
        // Most are: what is between the tags of two lines.
        if self.tree.is_blank(id) {
            return;
        }
        let text = self.tree.text(id);
        if text.trim_ascii().is_empty() {
            return;
        }
        let open = &self.open[self.open.len() - 1];
        let is_in_link = open.is_in_link;
        if !self.in_block {
            self.in_block = true;
            self.blocks.push(Block {
                first: id,
                last: id,
                element: open.line,
                depth: self.depth(),
                place: open.place,
                count: Count::default(),
                is_shown: false,
                levels: open.levels,
                links: u16::from(is_in_link),
                images: 0,
                strong: 0,
                breaks: 0,
                has_time: open.has_time,
                topics: [0; TOPICS.len()],
                in_title: 0,
                in_description: 0,
                last_word: 0,
                hash: 0,
            });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.last = id;
            block.is_shown = block.is_shown || text.chars().any(is_shown);
            block.add(&text, is_in_link, self.said);
        }
    }

    fn end_block(&mut self) {
        if std::mem::take(&mut self.in_block) {
            let wordless = self.blocks.pop_if(|block| block.count.words == 0);
            self.wordless.extend(wordless.filter(|block| block.is_shown));
        }
    }
}

/// Whether a tag ends the line before it: all but those that stand inside of one.
pub(crate) fn is_border(tag: Tag) -> bool {
    tag.is_block() || matches!(tag, Tag::Button | Tag::Option | Tag::Other | Tag::Legend)
}

/// Whether readers see something of a character: no space, nothing without width.
fn is_shown(character: char) -> bool {
    let is_nothing = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    !(is_nothing || character.is_whitespace() || character.is_control())
}

fn is_hiding(style: &str) -> bool {
    let style: String = style.chars().filter(|character| !character.is_whitespace()).collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// What a class means.
fn roles_of<'d>(class: Cow<'d, str>, known: &mut HashMap<Cow<'d, str>, u32>) -> u32 {
    if let Some(roles) = known.get(&class) {
        return *roles;
    }
    let roles = ROLE_WORDS.groups_of_name(&class);
    known.insert(class, roles);
    roles
}

impl Block {
    /// Whether it may stand in one of these elements, or in one of the same level: without a look at those around it.
    pub(crate) fn is_in(&self, tags: &[Tag]) -> bool {
        tags.iter().filter_map(|tag| level_of(*tag)).any(|level| self.levels[level] > 0)
    }

    /// Adds a text.
    fn add(&mut self, text: &str, is_in_link: bool, said: &Said) {
        let texts = words::for_each(text, |word| self.end_word(word, is_in_link, said));
        self.count.chars += texts.chars;
        self.count.digits += texts.digits;
        self.count.marks += texts.marks;
        self.count.capitals += texts.capitals;
        self.count.prices += texts.prices;
        self.count.ends_sentence = texts.ends_sentence.unwrap_or(self.count.ends_sentence);
    }

    fn end_word(&mut self, word: Word, is_in_link: bool, said: &Said) {
        self.count.words += 1;
        self.count.link_words += u32::from(is_in_link);
        self.hash = (self.hash.rotate_left(7) ^ word.letters).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.count.words > COMPARED_WORDS_MAX {
            return;
        }
        self.in_title += u8::from(said.title.has(word.letters));
        self.in_description += u8::from(said.description.has(pair(self.last_word, word.letters)));
        self.last_word = word.letters;
        let mut groups = TOPIC_WORDS.groups(word);
        while groups != 0 {
            self.topics[groups.trailing_zeros() as usize] += 1;
            groups &= groups - 1;
        }
    }
}
