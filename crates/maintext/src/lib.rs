//! An HTML page to what it says: its kind and its main text; as text and as Markdown.
//!
//! ```text
//!  document ──▶ tree ──▶ blocks ──▶ features ──▶ models ──▶ which blocks are main text ──▶ text, Markdown, chunks
//! ```
//!
//! Pure functions of bytes: no I/O, no clock, no errors. Time is linear in the document. Two small models decide; `train/` makes them,
//! `docs/main-text.md` says how good they are.
//!
//! *Invariant:* nothing here is made for one site.

mod alike;
mod blocks;
pub mod chunks;
mod columns;
mod definitions;
mod features;
mod kept;
mod kind;
mod markdown;
mod model;
mod page;
mod said;
mod scale;
mod select;
mod steps;
mod text;
mod vocabulary;
mod words;

use extract::html::dom::{Document, Tag};
use url::Url;

use blocks::Block;
use kept::Kept;
use select::Selection;

pub use kind::Kind;
pub use markdown::of_text as markdown_of_text;

/// What a page says.
#[derive(Clone, Debug, PartialEq)]
pub struct MainText {
    /// The main text.
    pub text: String,
    /// How right the choice of the text is likely to be, from 0 to 1: the F1 measure of its words that is expected.
    pub confidence: f32,
    /// What the page is for.
    pub kind: Kind,
    /// How likely it is of this kind, from 0 to 1.
    pub kind_confidence: f32,
}

/// A page that was read, with the choice that was made.
pub struct Page<'d> {
    tree: &'d Document<'d>,
    /// All blocks, those without words too.
    blocks: Vec<Block>,
    is_main: Vec<bool>,
    confidence: f32,
    kinds: [f32; Kind::ALL.len()],
    url: Option<&'d Url>,
}

/// What a page says. `url` is where it comes from.
#[must_use]
pub fn read(tree: &Document<'_>, url: Option<&Url>) -> MainText {
    let page = Page::read(tree, url);
    let (kind, kind_confidence) = page.kind();
    MainText { text: page.text(), confidence: page.confidence, kind, kind_confidence }
}

impl<'d> Page<'d> {
    /// Reads a page. `url` is where it comes from.
    #[must_use]
    pub fn read(tree: &'d Document<'d>, url: Option<&'d Url>) -> Self {
        let blocks = blocks::read(tree, &said::read(tree));
        let kinds = kind::shares(&page::row(tree, &blocks, url));
        let rows = features::rows(tree, &blocks, kinds);
        let is_documentation = kind::likeliest(kinds).0 == Kind::Documentation;
        let Selection { is_main, confidence } = select::select(tree, &blocks, &rows, is_documentation);
        let (blocks, is_main) = select::with_wordless(tree, blocks, is_main);
        Page { tree, blocks, is_main, confidence, kinds, url }
    }

    /// The most likely kind, and how likely it is.
    #[must_use]
    pub fn kind(&self) -> (Kind, f32) {
        kind::likeliest(self.kinds)
    }

    /// How right the choice of the main text is likely to be.
    #[must_use]
    pub fn confidence(&self) -> f32 {
        self.confidence
    }

    /// The main text, a line for each block.
    #[must_use]
    pub fn text(&self) -> String {
        let chosen = self.blocks.iter().zip(&self.is_main).filter(|(_, is)| **is);
        text::of(self.tree, chosen.map(|(block, _)| block))
    }

    /// The main text as Markdown, without a line end at its end.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::of(self.tree, &self.kept(), self.base())
    }

    fn kept(&self) -> Kept {
        kept::of(self.tree, &self.blocks, &self.is_main)
    }

    /// What references are resolved against.
    fn base(&self) -> Option<Url> {
        let base =
            self.tree.find(|id| self.tree.tag(id) == Some(Tag::Base) && self.tree.attribute(id, "href").is_some());
        let base = base.and_then(|id| self.tree.attribute(id, "href"));
        base.and_then(|base| self.url?.join(&base).ok()).or_else(|| self.url.cloned())
    }
}

/// What the models look at, for training.
pub struct Observed {
    /// The numbers of the page.
    pub page: Vec<u8>,
    /// The numbers of each block, its text, and the elements around it.
    pub blocks: Vec<(Vec<u8>, String, Vec<usize>)>,
}

/// What the models look at, for training. `kinds` are the shares that a model gives that was trained without this page.
#[must_use]
pub fn observe(tree: &Document<'_>, url: Option<&Url>, kinds: Option<[f32; Kind::ALL.len()]>) -> Observed {
    let page = blocks::read(tree, &said::read(tree));
    let numbers = page::row(tree, &page, url);
    let rows = features::rows(tree, &page, kinds.unwrap_or_else(|| kind::shares(&numbers)));
    let of_block = |(at, block): (usize, &blocks::Block)| {
        let text = text::of(tree, std::iter::once(block));
        (rows.row(at).collect(), text, features::around(&page, block).to_vec())
    };
    Observed { page: numbers.to_vec(), blocks: page.blocks.iter().enumerate().map(of_block).collect() }
}
