//! What the models look at, each a number of 0 to 255. The same code serves training and use.

use extract::html::dom::{Document, Id, ROOT, Tag};
use foldhash::HashMap;

use crate::blocks::{Block, Blocks, COMPARED_WORDS_MAX, Holds};
use crate::columns::Columns;
use crate::kind::Kind;
use crate::scale::{log, share};
use crate::steps;
use crate::vocabulary::{LEVELS, TOPICS};

/// How many elements around a block are looked at.
pub(crate) const AROUND: usize = 5;
/// How many blocks on each side are looked at.
const SIDES: [isize; 6] = [-3, -2, -1, 1, 2, 3];

/// Where the numbers stand that those of blocks nearby repeat.
const WORDS: usize = 0;
const LINKED: usize = 2;
const ELEMENT: usize = 9;
const OWN_TOPICS: usize = 15;
/// The topic of small words, which sentences have.
const SMALL_WORDS: usize = TOPICS.len() - 1;

const OF_BLOCK: usize = 36 + TOPICS.len();
const OF_ELEMENT: usize = 5;
const OF_SIDE: usize = 5;
/// How many numbers a block has.
pub(crate) const FEATURES: usize =
    OF_BLOCK + LEVELS + AROUND * OF_ELEMENT + SIDES.len() * OF_SIDE + Kind::ALL.len() + PAGE;
/// How many numbers of its page a block has.
const PAGE: usize = 6;

/// How far up an element of a level is that a block has not.
const FAR: u8 = 31;

/// The numbers of blocks: a row for each.
pub(crate) type Rows = Columns<FEATURES>;

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
    long_words: u32,
}

/// The numbers of all blocks.
pub(crate) fn rows(tree: &Document<'_>, page: &Blocks, kinds: [f32; Kind::ALL.len()]) -> Rows {
    let blocks = &page.blocks;
    let whole = Whole {
        tree,
        page,
        words: page.holds[ROOT].words,
        densest: densest(tree, blocks),
        dominant: dominant(tree, &page.holds),
        first_h1: blocks.iter().position(|block| rank(tree, block) == 1),
        long_words: blocks.iter().filter(|block| is_prose(block)).map(|block| block.count.words).sum(),
    };
    let mut rows = Rows::new(blocks.len());
    whole.own(&mut rows);
    whole.places(&mut rows);
    for level in 0..LEVELS {
        if !page.has_level[level] {
            rows.push_same(FAR);
            continue;
        }
        rows.push(blocks.iter().map(|block| match block.levels[level] {
            0 => FAR,
            level => block.depth.saturating_sub(level).min(FAR - 1),
        }));
    }
    rows.push_rows(blocks.iter().map(|block| whole.around(block)));
    whole.sides(&mut rows);
    kinds.into_iter().for_each(|share| rows.push_same((share.clamp(0.0, 1.0) * 64.0) as u8));
    whole.page(&mut rows);
    debug_assert!(rows.is_complete(), "the numbers of all blocks");
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
            self.heading_in_title = share(block.in_title.into(), compared(block));
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

/// How many of its words were compared with others.
fn compared(block: &Block) -> u32 {
    block.count.words.min(COMPARED_WORDS_MAX)
}

impl Whole<'_, '_> {
    /// What each block itself is.
    fn own(&self, rows: &mut Rows) {
        let blocks = &self.page.blocks;
        let mut times: HashMap<u64, u32> = HashMap::with_capacity_and_hasher(blocks.len(), Default::default());
        blocks.iter().for_each(|block| *times.entry(block.hash).or_default() += 1);
        rows.push(blocks.iter().map(|block| log(block.count.words)));
        rows.push(blocks.iter().map(|block| (block.count.chars * 8 / block.count.words.max(1)).min(255) as u8));
        rows.push(blocks.iter().map(|block| share(block.count.link_words, block.count.words)));
        rows.push(blocks.iter().map(|block| log(block.links.into())));
        rows.push(blocks.iter().map(|block| share(block.count.marks, block.count.words)));
        rows.push(blocks.iter().map(|block| share(block.count.digits, block.count.chars)));
        rows.push(blocks.iter().map(|block| share(block.count.capitals, block.count.words)));
        rows.push(blocks.iter().map(|block| log(block.count.prices)));
        rows.push(blocks.iter().map(|block| u8::from(block.count.ends_sentence)));
        rows.push(blocks.iter().map(|block| kind_of_element(self.tree.tag(block.element))));
        rows.push(blocks.iter().map(|block| rank(self.tree, block)));
        rows.push(blocks.iter().map(|block| log(block.images.into())));
        rows.push(blocks.iter().map(|block| log(block.strong.into())));
        rows.push(blocks.iter().map(|block| log(block.breaks.into())));
        rows.push(blocks.iter().map(|block| u8::from(block.has_time)));
        for topic in 0..TOPICS.len() {
            rows.push(blocks.iter().map(|block| share(block.topics[topic].into(), compared(block))));
        }
        rows.push(blocks.iter().map(|block| share(block.in_title.into(), compared(block))));
        rows.push(blocks.iter().map(|block| share(block.in_description.into(), compared(block))));
        rows.push(blocks.iter().map(|block| log(times.get(&block.hash).copied().unwrap_or_default())));
    }

    /// Where each block is.
    fn places(&self, rows: &mut Rows) {
        let mut before = Before::default();
        rows.push_rows(self.page.blocks.iter().enumerate().map(|(at, block)| {
            let place = self.place(at, &before);
            before.pass(self.tree, block);
            place
        }));
    }

    fn place(&self, at: usize, before: &Before) -> [u8; 9 + TOPICS.len()] {
        let mut place = [0; 9 + TOPICS.len()];
        place[..9].copy_from_slice(&[
            share(before.words, self.words),
            log(before.words),
            log(self.words - before.words),
            share(before.prose, self.long_words),
            match self.first_h1 {
                Some(h1) if at < h1 => 0,
                Some(h1) => log((at - h1) as u32) + 1,
                None => 255,
            },
            log(before.blocks_since_heading),
            log(before.words_since_heading),
            before.heading,
            before.heading_in_title,
        ]);
        place[9..].copy_from_slice(&before.heading_topics);
        place
    }

    /// What the elements around a block hold.
    fn around(&self, block: &Block) -> [u8; AROUND * OF_ELEMENT] {
        let mut values = [0; AROUND * OF_ELEMENT];
        let (elements, _) = values.as_chunks_mut();
        for (values, id) in elements.iter_mut().zip(around(self.page, block)) {
            let holds = self.page.holds[id];
            *values = [
                log(holds.words),
                share(holds.link_words, holds.words),
                log(holds.blocks),
                share(holds.words, self.words),
                log(holds.most_alike),
            ];
        }
        values
    }

    /// What the blocks nearby are.
    fn sides(&self, rows: &mut Rows) {
        let blocks = &self.page.blocks;
        let mut steps: [Vec<u8>; SIDES.len()] = std::array::from_fn(|_| Vec::with_capacity(blocks.len()));
        for at in 0..blocks.len() {
            steps.iter_mut().zip(self.steps(at)).for_each(|(column, steps)| column.push(steps));
        }
        for (side, steps) in SIDES.into_iter().zip(steps) {
            for own in [WORDS, LINKED, ELEMENT, OWN_TOPICS + SMALL_WORDS] {
                rows.push_shifted(own, side, 255);
            }
            rows.push(steps.into_iter());
        }
    }

    /// For each block nearby, how far up the element is that holds both.
    fn steps(&self, at: usize) -> [u8; SIDES.len()] {
        let blocks = &self.page.blocks;
        let mut all = [255; SIDES.len()];
        let (before, behind) = all.split_at_mut(SIDES.len() / 2);
        for (side, nearest_first) in
            [(-1, &mut before.iter_mut().rev() as &mut dyn Iterator<Item = &mut u8>), (1, &mut behind.iter_mut())]
        {
            // What holds a block holds those between.
            let mut id = blocks[at].element;
            let mut steps = 0_u8;
            for (distance, result) in (1..).zip(nearest_first) {
                let Some(other) = at.checked_add_signed(side * distance).and_then(|at| blocks.get(at)) else { break };
                while !self.tree.subtree(id).contains(&other.first) {
                    id = self.tree.parent(id);
                    steps = steps.saturating_add(1);
                    steps::count(1);
                }
                *result = steps;
            }
        }
        all
    }

    /// What the page is, which is the same for all blocks.
    fn page(&self, rows: &mut Rows) {
        let holds = &self.page.holds;
        rows.push_same(log(self.words));
        rows.push_same(log(self.page.blocks.len() as u32));
        rows.push_same(share(holds[ROOT].link_words, self.words));
        rows.push_same(share(self.long_words, self.words));
        rows.push_same(share(holds[self.densest].words, self.words));
        rows.push_same(share(holds[self.dominant].words, self.words));
    }
}

/// The elements around a block, from the inside. One that holds no more than the one before tells nothing else and is passed over.
pub(crate) fn around(page: &Blocks, block: &Block) -> [Id; AROUND] {
    let mut next = block.element;
    std::array::from_fn(|_| {
        let id = next;
        next = page.holds[id].larger as Id;
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

/// The element whose own paragraphs say most: each counts for the element around it, half for the next one. Of several the first.
fn densest(tree: &Document<'_>, blocks: &[Block]) -> Id {
    let mut scores = vec![0; tree.len()];
    for block in blocks.iter().filter(|block| is_prose(block)) {
        let mut id = tree.parent(block.element);
        for weight in [4, 2, 1] {
            scores[id] += weight * (block.count.words - block.count.link_words);
            id = tree.parent(id);
        }
    }
    let mut best = ROOT;
    for (id, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = id;
        }
    }
    best
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
