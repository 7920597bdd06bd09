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
        #[expect(missing_docs, reason = "each is called as its element")]
        pub enum Tag {
            $($tag,)*
            /// Any other.
            Other,
        }

        static KNOWN: NameTable<Tag, 512> = NameTable::new(&[$(($name, Tag::$tag)),*], Tag::Other, 0x10af_2eaf_5a26_1e79);

        const TRAITS: [u8; Tag::Other as usize + 1] = [$($traits,)* 0];

        impl Tag {
            /// The names of all but the last one.
            pub(super) const NAMES: [&str; Tag::COUNT - 1] = [$($name),*];
        }
    };
}

tags! {
    A "a" HEARD | INLINE,
    Abbr "abbr" INLINE,
    Acronym "acronym" INLINE,
    Address "address" 0,
    Annotation "annotation" 0,
    AnnotationXml "annotation-xml" HEARD,
    AppRoot "app-root" HEARD,
    Area "area" HEARD | VOID,
    Article "article" 0,
    Aside "aside" 0,
    Audio "audio" 0,
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
    Button "button" 0,
    Canvas "canvas" 0,
    Caption "caption" HEARD,
    Center "center" BREAKS_OUT,
    Cite "cite" INLINE,
    Code "code" INLINE | BREAKS_OUT,
    Col "col" VOID,
    Data "data" INLINE,
    Datalist "datalist" 0,
    Dd "dd" BREAKS_OUT,
    Del "del" INLINE,
    Desc "desc" SVG_TO_HTML,
    Details "details" 0,
    Dfn "dfn" INLINE,
    Dialog "dialog" 0,
    Dir "dir" 0,
    Div "div" BREAKS_OUT | ROOT,
    Dl "dl" BREAKS_OUT,
    Dt "dt" BREAKS_OUT,
    Em "em" INLINE | BREAKS_OUT,
    Embed "embed" VOID | BREAKS_OUT,
    Fieldset "fieldset" 0,
    Figcaption "figcaption" 0,
    Figure "figure" 0,
    Font "font" INLINE,
    Footer "footer" 0,
    ForeignObject "foreignobject" SVG_TO_HTML,
    Form "form" 0,
    Frame "frame" HEARD | VOID,
    Frameset "frameset" 0,
    H1 "h1" BREAKS_OUT,
    H2 "h2" BREAKS_OUT,
    H3 "h3" BREAKS_OUT,
    H4 "h4" BREAKS_OUT,
    H5 "h5" BREAKS_OUT,
    H6 "h6" BREAKS_OUT,
    Head "head" BREAKS_OUT,
    Header "header" 0,
    Hgroup "hgroup" 0,
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
    Legend "legend" 0,
    Li "li" BREAKS_OUT,
    Link "link" HEARD | VOID,
    Listing "listing" BREAKS_OUT,
    Main "main" ROOT,
    MalignMark "malignmark" 0,
    Map "map" 0,
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
    Nav "nav" 0,
    Nobr "nobr" INLINE | BREAKS_OUT,
    NoEmbed "noembed" HEARD,
    NoFrames "noframes" HEARD,
    NoScript "noscript" HEARD | INLINE,
    Object "object" 0,
    Ol "ol" BREAKS_OUT,
    Optgroup "optgroup" 0,
    Option "option" 0,
    P "p" BREAKS_OUT,
    Param "param" 0,
    Picture "picture" 0,
    PlainText "plaintext" HEARD,
    Pre "pre" BREAKS_OUT,
    Progress "progress" 0,
    Q "q" INLINE,
    Rp "rp" 0,
    Rt "rt" 0,
    Ruby "ruby" BREAKS_OUT,
    S "s" INLINE | BREAKS_OUT,
    Samp "samp" INLINE,
    Script "script" HEARD | INLINE,
    Search "search" 0,
    Section "section" 0,
    Select "select" 0,
    Slot "slot" 0,
    Small "small" INLINE | BREAKS_OUT,
    Source "source" HEARD | VOID,
    Span "span" INLINE | BREAKS_OUT,
    Strike "strike" INLINE | BREAKS_OUT,
    Strong "strong" INLINE | BREAKS_OUT,
    Style "style" HEARD | INLINE,
    Sub "sub" INLINE | BREAKS_OUT,
    Summary "summary" 0,
    Sup "sup" INLINE | BREAKS_OUT,
    Svg "svg" HEARD,
    Table "table" BREAKS_OUT,
    Tbody "tbody" 0,
    Td "td" HEARD,
    Template "template" HEARD | INLINE,
    TextArea "textarea" HEARD,
    Tfoot "tfoot" 0,
    Th "th" HEARD,
    Thead "thead" 0,
    Time "time" INLINE,
    Title "title" HEARD | SVG_TO_HTML,
    Tr "tr" 0,
    Track "track" VOID,
    Tt "tt" INLINE | BREAKS_OUT,
    U "u" INLINE | BREAKS_OUT,
    Ul "ul" BREAKS_OUT,
    Var "var" INLINE | BREAKS_OUT,
    Video "video" 0,
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
    /// How many there are.
    pub(super) const COUNT: usize = Tag::Other as usize + 1;

    #[inline]
    pub(super) fn of(name: Name<'_>) -> Self {
        KNOWN.find(name)
    }

    #[inline]
    fn has(self, some: u8) -> bool {
        TRAITS[self as usize] & some != 0
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
