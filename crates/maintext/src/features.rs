//! What the models look at, each a number of 0 to 255. The same code serves training and use.

use extract::html::dom::{Document, Id, ROOT, Tag};
use foldhash::HashMap;

use crate::blocks::{Block, Blocks, Holds};
use crate::kind::Kind;
use crate::scale::{log, share};
use crate::steps;
use crate::vocabulary::{LEVELS, TOPICS};

/// How many elements around a block are looked at.
pub(crate) const AROUND: usize = 5;
/// How many blocks on each side are looked at.
const SIDES: [isize; 6] = [-3, -2, -1, 1, 2, 3];

const OF_BLOCK: usize = 36 + TOPICS.len();
const OF_ELEMENT: usize = 5;
const OF_SIDE: usize = 5;
/// How many numbers a block has.
pub(crate) const FEATURES: usize =
    OF_BLOCK + LEVELS + AROUND * OF_ELEMENT + SIDES.len() * OF_SIDE + Kind::ALL.len() + PAGE;
/// How many numbers of its page a block has.
const PAGE: usize = 6;

pub(crate) type Row = [u8; FEATURES];

struct Values<'r> {
    row: &'r mut Row,
    length: usize,
}

impl Values<'_> {
    fn push(&mut self, value: u8) {
        self.row[self.length] = value;
        self.length += 1;
    }

    fn flag(&mut self, value: bool) {
        self.push(u8::from(value));
    }
}

/// What is known of the page as a whole.
struct Whole<'t, 'd> {
    tree: &'t Document<'d>,
    page: &'t Blocks,
    words: u32,
    /// The element that holds most paragraphs.
    densest: Id,
    /// The smallest element that holds nearly all text outside of links.
    dominant: Id,
    /// Where the first `h1` is, as a block.
    first_h1: Option<usize>,
    times: HashMap<u64, u32>,
    long_words: u32,
}

/// The numbers of all blocks.
pub(crate) fn rows(tree: &Document<'_>, page: &Blocks, kinds: [f32; Kind::ALL.len()]) -> Vec<Row> {
    let blocks = &page.blocks;
    let mut times = HashMap::default();
    blocks.iter().for_each(|block| *times.entry(block.hash).or_default() += 1);
    let whole = Whole {
        tree,
        page,
        words: page.holds[ROOT].words,
        densest: densest(tree, blocks),
        dominant: dominant(tree, &page.holds),
        first_h1: blocks.iter().position(|block| rank(tree, block) == 1),
        times,
        long_words: blocks.iter().filter(|block| is_prose(block)).map(|block| block.count.words).sum(),
    };
    let kinds = kinds.map(|share| (share.clamp(0.0, 1.0) * 64.0) as u8);
    let mut before = Before::default();
    let mut rows = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        let mut row = [0; FEATURES];
        whole.row(at, &before, kinds, &mut Values { row: &mut row, length: 0 });
        rows.push(row);
        before.pass(tree, block);
    }
    rows
}

/// What was before a block.
#[derive(Default)]
struct Before {
    words: u32,
    prose: u32,
    blocks_since_heading: u32,
    words_since_heading: u32,
    heading: u8,
    heading_in_title: u8,
    heading_topics: [u8; TOPICS.len()],
}

impl Before {
    fn pass(&mut self, tree: &Document<'_>, block: &Block) {
        self.words += block.count.words;
        self.prose += if is_prose(block) { block.count.words } else { 0 };
        self.blocks_since_heading += 1;
        self.words_since_heading += block.count.words;
        let rank = rank(tree, block);
        if rank < NO_HEADING {
            (self.heading, self.blocks_since_heading, self.words_since_heading) = (rank, 1, 0);
            self.heading_topics = block.topics;
            self.heading_in_title = share(block.in_title.into(), block.count.words.min(32));
        }
    }
}

const NO_HEADING: u8 = 7;

/// The rank of a heading; [`NO_HEADING`] for other blocks.
fn rank(tree: &Document<'_>, block: &Block) -> u8 {
    tree.tag(block.element).and_then(Tag::heading_rank).unwrap_or(NO_HEADING)
}

/// A block with sentences.
fn is_prose(block: &Block) -> bool {
    block.count.words >= 10 && block.count.link_words * 3 < block.count.words && block.count.marks > 0
}

impl Whole<'_, '_> {
    fn row(&self, at: usize, before: &Before, kinds: [u8; Kind::ALL.len()], out: &mut Values<'_>) {
        let block = &self.page.blocks[at];
        self.own(block, out);
        self.place(at, before, out);
        for level in block.levels {
            out.push(if level == 0 { 31 } else { block.depth.saturating_sub(level).min(30) });
        }
        self.around(block, out);
        for side in SIDES {
            self.side(at.checked_add_signed(side), block, out);
        }
        kinds.into_iter().for_each(|kind| out.push(kind));
        out.push(log(self.words));
        out.push(log(self.page.blocks.len() as u32));
        out.push(share(self.page.holds[ROOT].link_words, self.words));
        out.push(share(self.long_words, self.words));
        out.push(share(self.page.holds[self.densest].words, self.words));
        out.push(share(self.page.holds[self.dominant].words, self.words));
        debug_assert_eq!(out.length, FEATURES, "the numbers of a block");
    }

    /// What the block itself is.
    fn own(&self, block: &Block, out: &mut Values<'_>) {
        let count = &block.count;
        out.push(log(count.words));
        out.push((count.chars * 8 / count.words.max(1)).min(255) as u8);
        out.push(share(count.link_words, count.words));
        out.push(log(block.links.into()));
        out.push(share(count.marks, count.words));
        out.push(share(count.digits, count.chars));
        out.push(share(count.capitals, count.words));
        out.push(log(count.prices));
        out.flag(count.ends_sentence);
        out.push(kind_of_element(self.tree.tag(block.element)));
        out.push(rank(self.tree, block));
        out.push(log(block.images.into()));
        out.push(log(block.strong.into()));
        out.push(log(block.breaks.into()));
        out.flag(block.has_time);
        let compared = count.words.min(32);
        block.topics.iter().for_each(|topic| out.push(share((*topic).into(), compared)));
        out.push(share(block.in_title.into(), compared));
        out.push(share(block.in_description.into(), compared));
        out.push(log(self.times.get(&block.hash).copied().unwrap_or_default()));
    }

    /// Where the block is.
    fn place(&self, at: usize, before: &Before, out: &mut Values<'_>) {
        out.push(share(before.words, self.words));
        out.push(log(before.words));
        out.push(log(self.words - before.words));
        out.push(share(before.prose, self.long_words));
        out.push(match self.first_h1 {
            Some(h1) if at < h1 => 0,
            Some(h1) => log((at - h1) as u32) + 1,
            None => 255,
        });
        out.push(log(before.blocks_since_heading));
        out.push(log(before.words_since_heading));
        out.push(before.heading);
        out.push(before.heading_in_title);
        before.heading_topics.iter().for_each(|topic| out.push(*topic));
    }

    /// What the elements around hold.
    fn around(&self, block: &Block, out: &mut Values<'_>) {
        for id in around(self.tree, self.page, block) {
            let holds = self.page.holds[id];
            out.push(log(holds.words));
            out.push(share(holds.link_words, holds.words));
            out.push(log(holds.blocks));
            out.push(share(holds.words, self.words));
            out.push(log(self.alike_from(id)));
        }
    }

    /// The most siblings that are named alike, of an element and those around it that hold nothing else.
    fn alike_from(&self, id: Id) -> u32 {
        let mut alike = self.page.holds[id].alike;
        let mut id = id;
        while id != ROOT && self.page.holds[self.tree.parent(id)].blocks == self.page.holds[id].blocks {
            id = self.tree.parent(id);
            steps::count(1);
            alike = alike.max(self.page.holds[id].alike);
        }
        alike
    }

    /// What a block nearby is.
    fn side(&self, at: Option<usize>, block: &Block, out: &mut Values<'_>) {
        let Some(other) = at.and_then(|at| self.page.blocks.get(at)) else {
            return (0..OF_SIDE).for_each(|_| out.push(255));
        };
        out.push(log(other.count.words));
        out.push(share(other.count.link_words, other.count.words));
        out.push(kind_of_element(self.tree.tag(other.element)));
        out.push(share(other.topics[8].into(), other.count.words.min(32)));
        // How far up the element is that holds both.
        let mut id = block.element;
        let mut steps = 0_u8;
        while !self.tree.subtree(id).contains(&other.first) {
            id = self.tree.parent(id);
            steps = steps.saturating_add(1);
            steps::count(1);
        }
        out.push(steps);
    }
}

/// The elements around a block, from the inside. One that holds no more than the one before tells nothing else and is passed over.
pub(crate) fn around(tree: &Document<'_>, page: &Blocks, block: &Block) -> [Id; AROUND] {
    let mut id = block.element;
    std::array::from_fn(|step| {
        let blocks = page.holds[id].blocks;
        while step > 0 && id != ROOT && page.holds[id].blocks == blocks {
            id = tree.parent(id);
            steps::count(1);
        }
        id
    })
}

/// How an element usually stands to the content of a page, in a rough order.
fn kind_of_element(tag: Option<Tag>) -> u8 {
    match tag {
        Some(Tag::Button | Tag::Option | Tag::Legend) => 0,
        Some(Tag::Li) => 1,
        Some(Tag::Other) => 2,
        Some(Tag::Div | Tag::Section | Tag::Article) => 3,
        Some(Tag::Th) => 4,
        Some(Tag::Td) => 5,
        Some(Tag::Figcaption | Tag::Caption) => 6,
        Some(Tag::Dt) => 7,
        Some(Tag::Dd) => 8,
        Some(Tag::H6 | Tag::H5) => 9,
        Some(Tag::H4) => 10,
        Some(Tag::H3) => 11,
        Some(Tag::H2) => 12,
        Some(Tag::H1) => 13,
        Some(Tag::P) => 14,
        Some(Tag::BlockQuote) => 15,
        Some(Tag::Pre) => 16,
        _ => 2,
    }
}

/// The element whose own paragraphs say most: each counts for the element around it, half for the next one.
fn densest(tree: &Document<'_>, blocks: &[Block]) -> Id {
    let mut scores: HashMap<Id, u32> = HashMap::default();
    for block in blocks.iter().filter(|block| is_prose(block)) {
        let mut id = tree.parent(block.element);
        for weight in [4, 2, 1] {
            *scores.entry(id).or_default() += weight * (block.count.words - block.count.link_words);
            id = tree.parent(id);
        }
    }
    scores.into_iter().max_by_key(|(id, score)| (*score, std::cmp::Reverse(*id))).map_or(ROOT, |(id, _)| id)
}

/// Goes down while one child holds nearly all words outside of links.
pub(crate) fn dominant(tree: &Document<'_>, holds: &[Holds]) -> Id {
    const PERCENT: u32 = 80;
    let plain = |id: Id| holds[id].words - holds[id].link_words;
    let mut id = ROOT;
    while let Some(child) =
        tree.children(id).find(|child| plain(*child) > 0 && plain(*child) * 100 >= plain(id) * PERCENT)
    {
        id = child;
    }
    id
}
