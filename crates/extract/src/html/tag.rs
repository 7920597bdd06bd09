//! The elements that anyone here knows, and what is known of them without their place in the document.

use super::attributes::{Has, Key};
use super::names::{Name, NameTable};

/// Stands inside a word or a line: it has `display: inline` in the standard's style sheet.
const INLINE: u8 = 1;
/// Has no content and no end tag.
const VOID: u8 = 1 << 1;
/// Is one of HTML that cannot be inside SVG or MathML and ends it. So does `font`, with some attributes.
const BREAKS_OUT: u8 = 1 << 2;
/// The content of this element of SVG is HTML again.
const SVG_TO_HTML: u8 = 1 << 3;
/// The content of this element of MathML is HTML again.
const MATH_TO_HTML: u8 = 1 << 4;
/// Someone listens to its tags: they do more than to separate words.
const HEARD: u8 = 1 << 5;
/// With an `id` it may be the root of an application, and is listened to.
const ROOT: u8 = 1 << 6;

macro_rules! tags {
    ($($tag:ident $name:literal $traits:expr,)*) => {
        /// A known name of an element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tag {
            $($tag,)*
            /// Any other.
            Other,
        }

        static KNOWN: NameTable<Tag, 512> = NameTable::new(&[$(($name, Tag::$tag)),*], Tag::Other, 0xe30d_909e_650a_756d);

        const TRAITS: [u8; Tag::Other as usize + 1] = [$($traits,)* 0];
    };
}

tags! {
    A "a" HEARD | INLINE,
    Abbr "abbr" INLINE,
    Acronym "acronym" INLINE,
    AnnotationXml "annotation-xml" HEARD,
    AppRoot "app-root" HEARD,
    Area "area" HEARD | VOID,
    B "b" INLINE | BREAKS_OUT,
    Base "base" HEARD | VOID,
    BaseFont "basefont" VOID,
    Bdi "bdi" INLINE,
    Bdo "bdo" INLINE,
    BgSound "bgsound" VOID,
    Big "big" INLINE | BREAKS_OUT,
    BlockQuote "blockquote" BREAKS_OUT,
    Body "body" BREAKS_OUT,
    Br "br" VOID | BREAKS_OUT,
    Caption "caption" HEARD,
    Center "center" BREAKS_OUT,
    Cite "cite" INLINE,
    Code "code" INLINE | BREAKS_OUT,
    Col "col" VOID,
    Data "data" INLINE,
    Dd "dd" BREAKS_OUT,
    Del "del" INLINE,
    Desc "desc" SVG_TO_HTML,
    Dfn "dfn" INLINE,
    Div "div" BREAKS_OUT | ROOT,
    Dl "dl" BREAKS_OUT,
    Dt "dt" BREAKS_OUT,
    Em "em" INLINE | BREAKS_OUT,
    Embed "embed" VOID | BREAKS_OUT,
    Font "font" INLINE,
    ForeignObject "foreignobject" SVG_TO_HTML,
    Frame "frame" HEARD | VOID,
    H1 "h1" BREAKS_OUT,
    H2 "h2" BREAKS_OUT,
    H3 "h3" BREAKS_OUT,
    H4 "h4" BREAKS_OUT,
    H5 "h5" BREAKS_OUT,
    H6 "h6" BREAKS_OUT,
    Head "head" BREAKS_OUT,
    Hr "hr" VOID | BREAKS_OUT,
    Html "html" HEARD,
    I "i" INLINE | BREAKS_OUT,
    IFrame "iframe" HEARD,
    Image "image" HEARD | VOID,
    Img "img" HEARD | INLINE | VOID | BREAKS_OUT,
    Input "input" VOID,
    Ins "ins" INLINE,
    Kbd "kbd" INLINE,
    Label "label" INLINE,
    Li "li" BREAKS_OUT,
    Link "link" HEARD | VOID,
    Listing "listing" BREAKS_OUT,
    Main "main" ROOT,
    MalignMark "malignmark" 0,
    Mark "mark" INLINE,
    Math "math" HEARD,
    Menu "menu" BREAKS_OUT,
    Meta "meta" HEARD | VOID | BREAKS_OUT,
    MGlyph "mglyph" 0,
    Mi "mi" MATH_TO_HTML,
    Mn "mn" MATH_TO_HTML,
    Mo "mo" MATH_TO_HTML,
    Ms "ms" MATH_TO_HTML,
    Mtext "mtext" MATH_TO_HTML,
    Nobr "nobr" INLINE | BREAKS_OUT,
    NoEmbed "noembed" HEARD,
    NoFrames "noframes" HEARD,
    NoScript "noscript" HEARD | INLINE,
    Ol "ol" BREAKS_OUT,
    P "p" BREAKS_OUT,
    PlainText "plaintext" HEARD,
    Pre "pre" BREAKS_OUT,
    Q "q" INLINE,
    Ruby "ruby" BREAKS_OUT,
    S "s" INLINE | BREAKS_OUT,
    Samp "samp" INLINE,
    Script "script" HEARD | INLINE,
    Small "small" INLINE | BREAKS_OUT,
    Source "source" HEARD | VOID,
    Span "span" INLINE | BREAKS_OUT,
    Strike "strike" INLINE | BREAKS_OUT,
    Strong "strong" INLINE | BREAKS_OUT,
    Style "style" HEARD | INLINE,
    Sub "sub" INLINE | BREAKS_OUT,
    Sup "sup" INLINE | BREAKS_OUT,
    Svg "svg" HEARD,
    Table "table" BREAKS_OUT,
    Td "td" HEARD,
    Template "template" HEARD | INLINE,
    TextArea "textarea" HEARD,
    Th "th" HEARD,
    Time "time" INLINE,
    Title "title" HEARD | SVG_TO_HTML,
    Track "track" VOID,
    Tt "tt" INLINE | BREAKS_OUT,
    U "u" INLINE | BREAKS_OUT,
    Ul "ul" BREAKS_OUT,
    Var "var" INLINE | BREAKS_OUT,
    Wbr "wbr" INLINE | VOID,
    Xmp "xmp" HEARD,
}

/// What makes someone listen to a tag.
const HEARD_FOR: [Has; TRAITS.len()] = {
    let mut heard_for = [Has::of(Key::Onclick); TRAITS.len()];
    let mut tag = 0;
    while tag < TRAITS.len() {
        if TRAITS[tag] & HEARD != 0 {
            heard_for[tag] = Has::NAME;
        } else if TRAITS[tag] & ROOT != 0 {
            heard_for[tag] = heard_for[tag].or(Has::of(Key::Id));
        }
        tag += 1;
    }
    heard_for
};

impl Tag {
    #[inline]
    pub(super) fn of(name: Name<'_>) -> Self {
        KNOWN.find(name)
    }

    #[inline]
    fn has(self, some: u8) -> bool {
        TRAITS[self as usize] & some != 0
    }

    /// Whether an element of HTML of this name is a custom one: it has a hyphen.
    pub(super) fn is_custom(self, name: Name<'_>) -> bool {
        matches!(self, Self::Other | Self::AppRoot | Self::AnnotationXml) && name.raw.contains(&b'-')
    }

    /// Whether a tag that has this does more than to separate words.
    #[inline]
    pub(super) fn is_heard(self, has: Has) -> bool {
        has.any_of(HEARD_FOR[self as usize])
    }

    /// Whether an application may be shown in it, if it has an `id`.
    pub(super) fn may_be_root(self) -> bool {
        self.has(ROOT)
    }

    /// Whether it stands inside a word or a line.
    #[inline]
    pub(super) fn is_inline(self) -> bool {
        self.has(INLINE)
    }

    /// Whether it has no content and no end tag.
    pub(super) fn is_void(self) -> bool {
        self.has(VOID)
    }

    /// Whether it ends SVG or MathML.
    pub(super) fn breaks_out(self) -> bool {
        self.has(BREAKS_OUT)
    }

    /// Whether the content of this element of SVG is HTML again.
    pub(super) fn is_svg_integration_point(self) -> bool {
        self.has(SVG_TO_HTML)
    }

    /// Whether the content of this element of MathML is HTML again.
    pub(super) fn is_math_integration_point(self) -> bool {
        self.has(MATH_TO_HTML)
    }
}
