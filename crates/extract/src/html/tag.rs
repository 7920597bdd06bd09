//! The elements that anyone here knows, and what is known of them without their place in the document.

use super::names::{Known, Name};

macro_rules! tags {
    ($($tag:ident $name:literal)*) => {
        /// A known name of an element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tag {
            $($tag,)*
            /// Any other.
            Other,
        }

        static KNOWN: Known<Tag, 512> = Known::new(&[$(($name, Tag::$tag)),*], Tag::Other, 0xe30d_909e_650a_756d);
    };
}

tags! {
    A "a"
    Abbr "abbr"
    Acronym "acronym"
    AnnotationXml "annotation-xml"
    AppRoot "app-root"
    Area "area"
    B "b"
    Base "base"
    BaseFont "basefont"
    Bdi "bdi"
    Bdo "bdo"
    BgSound "bgsound"
    Big "big"
    BlockQuote "blockquote"
    Body "body"
    Br "br"
    Caption "caption"
    Center "center"
    Cite "cite"
    Code "code"
    Col "col"
    Data "data"
    Dd "dd"
    Del "del"
    Desc "desc"
    Dfn "dfn"
    Div "div"
    Dl "dl"
    Dt "dt"
    Em "em"
    Embed "embed"
    Font "font"
    ForeignObject "foreignobject"
    Frame "frame"
    H1 "h1"
    H2 "h2"
    H3 "h3"
    H4 "h4"
    H5 "h5"
    H6 "h6"
    Head "head"
    Hr "hr"
    Html "html"
    I "i"
    IFrame "iframe"
    Image "image"
    Img "img"
    Input "input"
    Ins "ins"
    Kbd "kbd"
    Label "label"
    Li "li"
    Link "link"
    Listing "listing"
    Main "main"
    Mark "mark"
    Math "math"
    Menu "menu"
    Meta "meta"
    Mi "mi"
    Mn "mn"
    Mo "mo"
    Ms "ms"
    Mtext "mtext"
    Nobr "nobr"
    NoEmbed "noembed"
    NoFrames "noframes"
    NoScript "noscript"
    Ol "ol"
    P "p"
    PlainText "plaintext"
    Pre "pre"
    Q "q"
    Ruby "ruby"
    S "s"
    Samp "samp"
    Script "script"
    Small "small"
    Source "source"
    Span "span"
    Strike "strike"
    Strong "strong"
    Style "style"
    Sub "sub"
    Sup "sup"
    Svg "svg"
    Table "table"
    Td "td"
    Template "template"
    TextArea "textarea"
    Th "th"
    Time "time"
    Title "title"
    Track "track"
    Tt "tt"
    U "u"
    Ul "ul"
    Var "var"
    Wbr "wbr"
    Xmp "xmp"
}

impl Tag {
    #[inline]
    pub(super) fn of(name: Name<'_>) -> Self {
        KNOWN.find(name)
    }

    /// Whether an element of HTML of this name is a custom one: it has a hyphen.
    pub(super) fn is_custom(self, name: Name<'_>) -> bool {
        matches!(self, Self::Other | Self::AppRoot | Self::AnnotationXml) && name.raw.contains('-')
    }

    /// Whether it stands inside a word or a line: it has `display: inline` in the standard's style sheet.
    pub(super) fn is_inline(self) -> bool {
        matches!(
            self,
            Self::A
                | Self::Abbr
                | Self::Acronym
                | Self::B
                | Self::Bdi
                | Self::Bdo
                | Self::Big
                | Self::Cite
                | Self::Code
                | Self::Data
                | Self::Del
                | Self::Dfn
                | Self::Em
                | Self::Font
                | Self::I
                | Self::Img
                | Self::Ins
                | Self::Kbd
                | Self::Label
                | Self::Mark
                | Self::Nobr
                | Self::NoScript
                | Self::Q
                | Self::S
                | Self::Samp
                | Self::Script
                | Self::Small
                | Self::Span
                | Self::Strike
                | Self::Strong
                | Self::Style
                | Self::Sub
                | Self::Sup
                | Self::Template
                | Self::Time
                | Self::Tt
                | Self::U
                | Self::Var
                | Self::Wbr
        )
    }

    /// Whether it has no content and no end tag.
    pub(super) fn is_void(self) -> bool {
        matches!(
            self,
            Self::Area
                | Self::Base
                | Self::BaseFont
                | Self::BgSound
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Frame
                | Self::Hr
                | Self::Image
                | Self::Img
                | Self::Input
                | Self::Link
                | Self::Meta
                | Self::Source
                | Self::Track
                | Self::Wbr
        )
    }

    /// Whether it is one of HTML that cannot be inside SVG or MathML and ends it. So does `font`, with some attributes.
    pub(super) fn breaks_out(self) -> bool {
        matches!(
            self,
            Self::B
                | Self::Big
                | Self::BlockQuote
                | Self::Body
                | Self::Br
                | Self::Center
                | Self::Code
                | Self::Dd
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Em
                | Self::Embed
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Head
                | Self::Hr
                | Self::I
                | Self::Img
                | Self::Li
                | Self::Listing
                | Self::Menu
                | Self::Meta
                | Self::Nobr
                | Self::Ol
                | Self::P
                | Self::Pre
                | Self::Ruby
                | Self::S
                | Self::Small
                | Self::Span
                | Self::Strike
                | Self::Strong
                | Self::Sub
                | Self::Sup
                | Self::Table
                | Self::Tt
                | Self::U
                | Self::Ul
                | Self::Var
        )
    }

    /// Whether the content of this element of SVG is HTML again.
    pub(super) fn is_svg_integration_point(self) -> bool {
        matches!(self, Self::ForeignObject | Self::Desc | Self::Title)
    }

    /// Whether the content of this element of MathML is HTML again.
    pub(super) fn is_math_integration_point(self) -> bool {
        matches!(self, Self::Mi | Self::Mo | Self::Mn | Self::Ms | Self::Mtext)
    }
}
