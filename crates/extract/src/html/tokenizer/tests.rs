//! The tokenizer against another one, html5gum, which goes through the states of the standard one by one: on documents with
//! every state in them, cut off at every character, on generated ones, and on real ones.

use super::{Content, Token, Tokenizer};
use html5gum::{Emitter, Error, State};
use proptest::prelude::*;
use std::convert::Infallible;
use std::path::Path;

/// What a document means: tags in lower case, all their attributes, and the text between as one.
#[derive(Debug, Default, PartialEq)]
struct Meaning {
    tokens: Vec<Meant>,
    /// Since the last tag. html5gum gives characters in parts.
    text: Vec<u8>,
}

#[derive(Debug, PartialEq)]
enum Meant {
    Start { name: String, attributes: Vec<(String, String)>, self_closing: bool },
    End { name: String, attributes: Vec<(String, String)> },
    Text(String),
}

impl Meaning {
    fn tag(&mut self, tag: Meant) {
        self.end();
        self.tokens.push(tag);
    }

    fn end(&mut self) {
        if !self.text.is_empty() {
            self.tokens.push(Meant::Text(text(&std::mem::take(&mut self.text))));
        }
    }
}

/// The content model of an element, for both.
fn content_model(name: &str) -> (Content, Option<State>) {
    match name {
        "title" => (Content::RcData("title"), Some(State::RcData)),
        "textarea" => (Content::RcData("textarea"), Some(State::RcData)),
        "style" => (Content::RawText("style"), Some(State::RawText)),
        "xmp" => (Content::RawText("xmp"), Some(State::RawText)),
        "script" => (Content::ScriptData, Some(State::ScriptData)),
        "plaintext" => (Content::PlainText, Some(State::PlainText)),
        _ => (Content::Data, None),
    }
}

fn ours(document: &str, in_foreign: bool) -> Meaning {
    let lower = |name: &[u8]| text(name).replace('\0', "\u{fffd}").to_ascii_lowercase();
    let mut meaning = Meaning::default();
    let mut tokenizer = Tokenizer::new(document);
    tokenizer.in_foreign = in_foreign;
    loop {
        let mut attributes = Vec::new();
        let token =
            tokenizer.next(|name, value| attributes.push((lower(name.raw), value.meaning(document).into_owned())));
        match token {
            None => break,
            Some(Token::Text(text)) => {
                let before = meaning.text.len();
                text.pieces(|piece| meaning.text.extend_from_slice(piece.as_bytes()));
                assert_eq!(meaning.text[before..], *text.whole().as_bytes());
            }
            Some(Token::EndTag { name }) => {
                meaning.tag(Meant::End { name: lower(name.raw), attributes });
            }
            Some(Token::StartTag { name, self_closing }) => {
                let name = lower(name.raw);
                tokenizer.content = content_model(&name).0;
                meaning.tag(Meant::Start { name, attributes, self_closing });
            }
        }
    }
    meaning.end();
    meaning
}

fn theirs(document: &str, in_foreign: bool) -> Meaning {
    let mut meaning = Meaning::default();
    let gatherer = Gatherer {
        meaning: &mut meaning,
        in_foreign,
        is_end: false,
        name: Vec::new(),
        attributes: Vec::new(),
        self_closing: false,
        last_start_tag: Vec::new(),
    };
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(document, gatherer).finish();
    meaning
}

/// Gathers what html5gum finds.
#[derive(Debug)]
struct Gatherer<'m> {
    meaning: &'m mut Meaning,
    in_foreign: bool,
    is_end: bool,
    name: Vec<u8>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    self_closing: bool,
    last_start_tag: Vec<u8>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Emitter for Gatherer<'_> {
    type Token = Infallible;

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_eof(&mut self) {
        self.meaning.end();
    }

    fn emit_string(&mut self, string: &[u8]) {
        self.meaning.text.extend_from_slice(string);
    }

    fn init_start_tag(&mut self) {
        self.is_end = false;
        (self.name, self.attributes, self.self_closing) = Default::default();
    }

    fn init_end_tag(&mut self) {
        self.init_start_tag();
        self.is_end = true;
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        self.name.extend_from_slice(name);
    }

    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    fn init_attribute(&mut self) {
        self.attributes.push(Default::default());
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.attributes.last_mut().unwrap().0.extend_from_slice(name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        self.attributes.last_mut().unwrap().1.extend_from_slice(value);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let name = text(&self.name);
        let attributes = self.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
        if self.is_end {
            self.meaning.tag(Meant::End { name, attributes });
            return None;
        }
        self.last_start_tag.clone_from(&self.name);
        let (_, state) = content_model(&name);
        self.meaning.tag(Meant::Start { name, attributes, self_closing: self.self_closing });
        state
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && self.name == self.last_start_tag
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.in_foreign
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn should_emit_errors(&mut self) -> bool {
        false
    }
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn emit_current_doctype(&mut self) {}
}

fn check(document: &str) {
    for in_foreign in [false, true] {
        assert_eq!(ours(document, in_foreign), theirs(document, in_foreign), "{document:?}");
    }
}

/// Documents that go through every state of 13.2.5.
const STATES: &[&str] = &[
    "a<b\0c\r\nd&e;\rf",
    "<!doctype html PUBLIC \"a>b\" 'c>d'><!DOCTYPE x SYSTEM 'y' z>x",
    "<p/><p /><p / a><p/=a><p a/b / ><P\0Q\tR=1>x",
    "<a b=c d = 'e\0\"' f\n=\r\n\"g'\r\nh\ri\" j=k\"l'm<n=o`p q='r's t>x</a b='c' />",
    "<a b= >x<a b=\0/>x<a =b==c>x<a 'b\"<c>x<a\u{1}b c\u{1}d=e f\u{1f}>x<é é=é ü>",
    "<a b=c b='d' B=e>x",
    "</p\t></P/></><//></ p></1><?a b?>< p><1><<p><>x<",
    "<!-- a > b -- c - d --!e --- f --->g<!-->h<!--->i<!---->j<!----!>k<!---!>l-->",
    "<!--<!-- a --><!--<!-> b --><!--<!--> c --><!--<!--!> d --><!--a--!-->e<!--a--!>f<!--<!>g-->",
    "<!><!a><!-a><!doctypE><![cdata[a]]>b<![CDATA[c<d>&amp;\0\r\n]]]>e<![CDATA[]]>f<![CDATA[g]]h]>]]>",
    "<title>a&amp;<b></titl></title/x></titlex\0\r\n&lt</TITLE >b</title>",
    "<textarea></textarea\t/x='>'>a<textarea>&notit;&#65</textarea",
    "<style>a&amp;<b></styl></</ style>\0\r</style/>b<xmp></style></xmp\x0c>c",
    "<script>a<b></scrip></script!<!- <!-x</script/ >b",
    "<script><!--<script></script>a</script>b",
    "<script><!--<script>--></script>a</script>b",
    "<script><!-- <script </script > -- </SCRIPT>a",
    "<script><!--></script>a<script><!---></script>b<script><!-- - -- --></script>c<script><!-- -x->--<!--> </script>d",
    "<script><!--<scriptx>a</script>b<script><!--<SCRIPT/a</scriptx></SCRIPT\n></script>c",
    "<script><!--<script>-<-</script->--<-->\0</script>b</script>c<script><!--\0-\0--\0</script>d",
    "<script><!--</x></1</script>a<script><!--<1<scrip></script >b",
    "<plaintext>a<b>&amp;\0\r\n</plaintext>",
    "&&amp;&ampx&amp=&AMP&#65;&#65x&#x41;&#X4g&#x&#&#;&#xg;&;& &1&a&A1;&nosuch;&nosuch",
    "&not&notin;&notit;&notinx;&NotEqualTilde;&fjlig;&NewLine;&Tab;&nbsp&CounterClockwiseContourIntegral;",
    "&#0;&#x0;&#128;&#x80;&#x81;&#159;&#13;&#xd;&#x0a;&#xb;&#xD800;&#xdfff;&#x10FFFF;&#x110000;&#xfffe;&#99999999999999;",
    "<a b=&amp c=&amp; d=&ampx e=&amp= f='&amp=' g=\"&amp;=\" h=&notit; i=&notin; j=& k=&# l=&#x m=&#65 n=&#65= o='&lt'>",
    "<aBcDeFgH><abcdefghi><abcdefgh a=1><ABCDEFGHIJKLMNOPQRSTUVWXYZ X=1 ABCDEFGH=2 ABCDEFGHI=3>",
];

#[test]
fn every_state_means_the_same_wherever_the_document_ends() {
    for document in STATES {
        for (end, _) in document.char_indices() {
            check(&document[..end]);
        }
        check(document);
    }
}

const PIECES: &[&str] = &[
    "<a ",
    "<A",
    "</a",
    "<title>",
    "</title",
    "<textarea>",
    "</textarea>",
    "<style>",
    "</style>",
    "<script>",
    "</script",
    "<SCRIPT",
    "<xmp>",
    "</xmp>",
    "<plaintext>",
    "<!--",
    "-->",
    "--!>",
    "<!-",
    "<![CDATA[",
    "]]>",
    "<!doctype",
    "<?",
    "</",
    "<",
    ">",
    "/",
    "/>",
    "=",
    "\"",
    "'",
    "`",
    "&",
    "&amp",
    "&lt;",
    "&notin",
    "&#",
    "&#x",
    "&#38",
    "41",
    ";",
    "!",
    "-",
    "]",
    "[",
    "a",
    "b",
    "script",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\x0c",
    "\0",
    "\u{1}",
    "é",
    "\u{1f600}",
    "href=",
    "class='x'",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn generated_documents_mean_the_same(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        check(&pieces.concat());
    }

    #[test]
    fn any_text_means_the_same(document in "[<>/!?=\"'&;#a-cA-Cst\\-\\[\\] \t\r\n\0é]{0,60}") {
        check(&document);
    }
}

#[test]
fn real_documents_mean_the_same() {
    const DOCUMENTS: &str = "/usr/share/doc/postgresql-doc-15/html";
    const PAGES_MIN: usize = 1_000;
    let files = Path::new(DOCUMENTS).read_dir().expect("`apt-get install postgresql-doc-15` brings the documents");
    let mut pages = 0;
    for file in files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "html")) {
        check(&String::from_utf8_lossy(&std::fs::read(file).unwrap()));
        pages += 1;
    }
    assert!(pages >= PAGES_MIN, "only {pages} pages");
}
