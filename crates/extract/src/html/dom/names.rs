//! What the tree needs to know of an element by its name.

use super::super::names::{Name, NameTable};
use super::super::tag::Tag;

/// What an element does to the tree when its tag comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Head,
    Body,
    /// Belongs into the head as long as there is no body.
    Meta,
    /// The same, without content.
    VoidMeta,
    /// Ends an open paragraph.
    Block,
    Paragraph,
    Heading,
    ListItem,
    /// `dd` and `dt`.
    Description,
    /// Ends an open paragraph, and has no content.
    VoidBlock,
    Form,
    Table,
    Caption,
    ColumnGroup,
    Column,
    RowGroup,
    Row,
    Cell,
    Choice,
    ChoiceGroup,
    Anchor,
    Button,
    Void,
    /// Stands inside a line.
    Inline,
    /// Its end tags of other elements mean nothing outside of it.
    Boundary,
    /// Any other.
    Other,
}

static KNOWN: NameTable<Kind, 1024> = NameTable::new(
    &[
        ("html", Kind::Html),
        ("head", Kind::Head),
        ("body", Kind::Body),
        ("frameset", Kind::Body),
        ("title", Kind::Meta),
        ("script", Kind::Meta),
        ("style", Kind::Meta),
        ("noscript", Kind::Meta),
        ("template", Kind::Meta),
        ("meta", Kind::VoidMeta),
        ("link", Kind::VoidMeta),
        ("base", Kind::VoidMeta),
        ("bgsound", Kind::VoidMeta),
        ("basefont", Kind::VoidMeta),
        ("address", Kind::Block),
        ("article", Kind::Block),
        ("aside", Kind::Block),
        ("blockquote", Kind::Block),
        ("center", Kind::Block),
        ("details", Kind::Block),
        ("dialog", Kind::Block),
        ("dir", Kind::Block),
        ("div", Kind::Block),
        ("dl", Kind::Block),
        ("fieldset", Kind::Block),
        ("figcaption", Kind::Block),
        ("figure", Kind::Block),
        ("footer", Kind::Block),
        ("header", Kind::Block),
        ("hgroup", Kind::Block),
        ("listing", Kind::Block),
        ("main", Kind::Block),
        ("menu", Kind::Block),
        ("nav", Kind::Block),
        ("ol", Kind::Block),
        ("plaintext", Kind::Block),
        ("pre", Kind::Block),
        ("search", Kind::Block),
        ("section", Kind::Block),
        ("summary", Kind::Block),
        ("ul", Kind::Block),
        ("xmp", Kind::Block),
        ("p", Kind::Paragraph),
        ("h1", Kind::Heading),
        ("h2", Kind::Heading),
        ("h3", Kind::Heading),
        ("h4", Kind::Heading),
        ("h5", Kind::Heading),
        ("h6", Kind::Heading),
        ("li", Kind::ListItem),
        ("dd", Kind::Description),
        ("dt", Kind::Description),
        ("hr", Kind::VoidBlock),
        ("form", Kind::Form),
        ("table", Kind::Table),
        ("caption", Kind::Caption),
        ("colgroup", Kind::ColumnGroup),
        ("col", Kind::Column),
        ("tbody", Kind::RowGroup),
        ("thead", Kind::RowGroup),
        ("tfoot", Kind::RowGroup),
        ("tr", Kind::Row),
        ("td", Kind::Cell),
        ("th", Kind::Cell),
        ("option", Kind::Choice),
        ("optgroup", Kind::ChoiceGroup),
        ("a", Kind::Anchor),
        ("button", Kind::Button),
        ("area", Kind::Void),
        ("br", Kind::Void),
        ("embed", Kind::Void),
        ("img", Kind::Void),
        ("image", Kind::Void),
        ("input", Kind::Void),
        ("wbr", Kind::Void),
        ("source", Kind::Void),
        ("track", Kind::Void),
        ("param", Kind::Void),
        ("keygen", Kind::Void),
        ("frame", Kind::Void),
        ("applet", Kind::Boundary),
        ("marquee", Kind::Boundary),
        ("object", Kind::Boundary),
        ("abbr", Kind::Inline),
        ("b", Kind::Inline),
        ("bdi", Kind::Inline),
        ("bdo", Kind::Inline),
        ("big", Kind::Inline),
        ("cite", Kind::Inline),
        ("code", Kind::Inline),
        ("data", Kind::Inline),
        ("del", Kind::Inline),
        ("dfn", Kind::Inline),
        ("em", Kind::Inline),
        ("font", Kind::Inline),
        ("i", Kind::Inline),
        ("ins", Kind::Inline),
        ("kbd", Kind::Inline),
        ("label", Kind::Inline),
        ("mark", Kind::Inline),
        ("nobr", Kind::Inline),
        ("q", Kind::Inline),
        ("s", Kind::Inline),
        ("samp", Kind::Inline),
        ("small", Kind::Inline),
        ("span", Kind::Inline),
        ("strike", Kind::Inline),
        ("strong", Kind::Inline),
        ("sub", Kind::Inline),
        ("sup", Kind::Inline),
        ("time", Kind::Inline),
        ("tt", Kind::Inline),
        ("u", Kind::Inline),
        ("var", Kind::Inline),
    ],
    Kind::Other,
    0x97db_9a78_1c04_5731,
);

/// The kinds of elements that have a tag.
const OF_TAGS: [Kind; Tag::COUNT] = {
    let mut kinds = [Kind::Other; Tag::COUNT];
    let mut tag = 0;
    while tag < Tag::NAMES.len() {
        kinds[tag] = KNOWN.find_text(Tag::NAMES[tag]);
        tag += 1;
    }
    kinds
};

impl Kind {
    fn of(name: Name<'_>) -> Self {
        KNOWN.find(name)
    }

    /// That of an element by its tag, and by its name where that is another one.
    #[inline(always)]
    pub(super) fn of_tag(tag: Tag, name: Name<'_>) -> Self {
        if tag == Tag::Other { Self::of(name) } else { OF_TAGS[tag as usize] }
    }

    fn of_text(name: &str) -> Self {
        Self::of(Name::new(name.as_bytes()))
    }

    /// Whether an end tag of an inline element inside of it does not reach beyond it (the standard's "special" elements).
    pub(super) fn is_special(self) -> bool {
        !matches!(self, Kind::Anchor | Kind::Inline | Kind::Choice | Kind::ChoiceGroup | Kind::Other)
    }

    /// Whether implied end tags do not reach beyond it.
    pub(super) fn is_scope(self) -> bool {
        matches!(self, Kind::Html | Kind::Table | Kind::Cell | Kind::Caption | Kind::Boundary)
    }
}

/// Whether an element has no content.
pub(super) fn is_void(name: &str) -> bool {
    matches!(Kind::of_text(name), Kind::Void | Kind::VoidMeta | Kind::VoidBlock | Kind::Column)
}

/// Whether an element stands inside a word or a line.
pub(super) fn is_inline(name: &str) -> bool {
    matches!(Kind::of_text(name), Kind::Anchor | Kind::Inline)
        || ["img", "wbr"].iter().any(|inline| name.eq_ignore_ascii_case(inline))
}

/// Whether the text of an element is never shown.
pub(super) fn is_hidden(name: &str) -> bool {
    ["script", "style", "noscript", "template"].iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
}

/// Whether the text of an element is written as it is, without references.
pub(super) fn is_raw_text(name: &str) -> bool {
    ["script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"]
        .iter()
        .any(|raw| name.eq_ignore_ascii_case(raw))
}
