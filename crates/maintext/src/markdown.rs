//! Markdown: CommonMark, with the tables and footnotes that GitHub gave it.

mod blocks;
pub(crate) mod code;
mod inline;
mod math;
mod notes;
pub(crate) mod table;

use extract::html::dom::Document;
use url::Url;

use self::inline::Renderer;
use self::notes::Notes;
use crate::kept::Kept;

/// What is kept of a page as Markdown. References are resolved against `base`.
pub(crate) fn of(tree: &Document<'_>, kept: &Kept, base: Option<Url>) -> String {
    Renderer { tree, kept, base, notes: Notes::find(tree, kept) }.render()
}
