//! Tags to a tree: which element each tag opens, and which it ends.

use super::super::attributes::Attributes;
use super::super::foreign::Namespaces;
use super::super::names::Name;
use super::super::scanner::content_model;
use super::super::tag::Tag;
use super::super::tokenizer::{Text, Token, Tokenizer};
use super::names::Kind;
use super::{Attribute, DEPTH_MAX, Data, Document, NODES_MAX, Place, Span};

/// Bytes of a page for each of its nodes and attributes, as many pages have them: room is made for so many at first.
const BYTES_A_NODE: usize = 24;

/// Reads a page.
pub(super) fn build(source: &str) -> Document<'_> {
    let mut builder = Builder::new(source);
    let mut tokenizer = Tokenizer::new(source);
    let mut namespaces = Namespaces::default();
    let mut known = Attributes::of(source);
    loop {
        let attributes = builder.document.attributes.len();
        let all = &mut builder.document.attributes;
        let token = tokenizer.next(|name, value| {
            let (begin, end) = name.place();
            all.push(Attribute { name: Span::of(begin, end), value: Span::of(value.begin, value.end) });
        });
        match token {
            None => break,
            Some(Token::Text(text)) => builder.text(text),
            Some(Token::StartTag { name, self_closing }) => {
                let tag = Tag::of(name);
                let in_html = if namespaces.are_closed() && !matches!(tag, Tag::Svg | Tag::Math) {
                    true
                } else {
                    known.clear();
                    for Attribute { name, value } in &builder.document.attributes[attributes..] {
                        known.keep(Name::new(name.text(source).as_bytes()), value.part());
                    }
                    let in_html = namespaces.start(name, tag, &known, self_closing);
                    tokenizer.in_foreign = namespaces.current_is_foreign();
                    in_html
                };
                let element = Written::of(name, tag);
                if in_html {
                    builder.start_tag(element, attributes);
                    (tokenizer.content, _) = content_model(tag, false);
                } else {
                    builder.foreign_tag(element, attributes, self_closing);
                }
            }
            Some(Token::EndTag { name }) => {
                builder.document.attributes.truncate(attributes);
                let element = Written::of(name, Tag::of(name));
                let in_html = namespaces.in_html();
                if !namespaces.are_closed() {
                    namespaces.end(name, element.tag);
                    tokenizer.in_foreign = namespaces.current_is_foreign();
                }
                builder.end_tag(element, in_html);
            }
        }
    }
    builder.finish()
}

/// The name of an element, and what is known by it.
#[derive(Clone, Copy)]
struct Written<'d> {
    name: &'d [u8],
    /// Where the name stands; nowhere if the page leaves it out.
    span: Span,
    tag: Tag,
    kind: Kind,
}

impl<'d> Written<'d> {
    #[inline(always)]
    fn of(name: Name<'d>, tag: Tag) -> Self {
        let (begin, end) = name.place();
        Written { name: name.raw, span: Span::of(begin, end), tag, kind: Kind::of_tag(tag, name) }
    }

    /// An element that the page leaves out.
    fn implied(name: &'static str, tag: Tag, kind: Kind) -> Self {
        Written { name: name.as_bytes(), span: Span::default(), tag, kind }
    }

    /// Whether both are called the same.
    #[inline(always)]
    fn is(&self, other: &Self) -> bool {
        self.tag == other.tag && (self.tag != Tag::Other || self.name.eq_ignore_ascii_case(other.name))
    }
}

/// An open element.
#[derive(Clone, Copy)]
struct Open<'d> {
    id: u32,
    /// Its last child; itself if it has none.
    last: u32,
    element: Written<'d>,
}

struct Builder<'d> {
    document: Document<'d>,
    /// The open elements, outermost first.
    open: Vec<Open<'d>>,
    /// The last child of the document; the document itself if it has none.
    last: u32,
    html: Option<u32>,
    head: Option<u32>,
    body: Option<u32>,
    /// The open paragraphs among the open elements.
    paragraphs: usize,
    /// Whether the last form has not ended.
    in_form: bool,
}

impl<'d> Builder<'d> {
    fn new(source: &'d str) -> Self {
        let nodes = (source.len() / BYTES_A_NODE).min(NODES_MAX);
        let mut document = Document {
            source,
            places: Vec::with_capacity(nodes + 8),
            nodes: Vec::with_capacity(nodes + 8),
            attributes: Vec::with_capacity(nodes + 8),
            forms: Vec::new(),
            is_cut: false,
        };
        document.places.push(Place { parent: 0, before: 0, end: 1, tag: Some(Tag::Other) });
        document.nodes.push(Data::Document);
        Self { document, open: Vec::new(), last: 0, html: None, head: None, body: None, paragraphs: 0, in_form: false }
    }

    fn finish(mut self) -> Document<'d> {
        self.end_form();
        let mut document = self.document;
        for id in (1..document.places.len()).rev() {
            let Place { parent, end, .. } = document.places[id];
            let above = &mut document.places[parent as usize];
            above.end = above.end.max(end);
        }
        document
    }

    /// Appends a node to the innermost open element.
    #[inline]
    fn append(&mut self, data: Data, tag: Option<Tag>) -> Option<u32> {
        let places = &mut self.document.places;
        if places.len() >= NODES_MAX {
            self.document.is_cut = true;
            return None;
        }
        let id = places.len() as u32;
        let (parent, last) = match self.open.last_mut() {
            Some(open) => (open.id, &mut open.last),
            None => (0, &mut self.last),
        };
        let before = std::mem::replace(last, id);
        places.push(Place { parent, before: if before == parent { id } else { before }, end: id + 1, tag });
        self.document.nodes.push(data);
        Some(id)
    }

    /// Appends an element and opens it, unless it would be too deep.
    fn push(&mut self, element: Written<'d>, attributes: usize) -> Option<u32> {
        let id = self.append(self.data(element, attributes), Some(element.tag))?;
        if self.open.len() < DEPTH_MAX {
            self.paragraphs += usize::from(element.kind == Kind::Paragraph);
            self.open.push(Open { id, last: id, element });
        }
        Some(id)
    }

    /// An element with the attributes from this place on.
    fn data(&self, element: Written<'d>, attributes: usize) -> Data {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (attributes, attributes_end) = (place(attributes), place(self.document.attributes.len()));
        Data::Element { name: element.span, attributes, attributes_end }
    }

    /// An element that the page leaves out.
    fn push_implied(&mut self, name: &'static str, tag: Tag, kind: Kind) -> Option<u32> {
        self.push(Written::implied(name, tag, kind), self.document.attributes.len())
    }

    /// Closes the innermost open elements until so many are left.
    fn close_to(&mut self, depth: usize) {
        if self.paragraphs > 0 {
            let closed = &self.open[depth.min(self.open.len())..];
            self.paragraphs -= closed.iter().filter(|open| open.element.kind == Kind::Paragraph).count();
        }
        self.open.truncate(depth);
    }

    /// Removes an open element; what was opened inside of it stays open.
    fn forget(&mut self, place: usize) {
        self.open.remove(place);
    }

    fn kind(&self) -> Option<Kind> {
        self.open.last().map(|open| open.element.kind)
    }

    fn text(&mut self, text: Text<'d>) {
        if matches!(self.kind(), None | Some(Kind::Html | Kind::Head)) {
            if text.is_blank() {
                return;
            }
            self.open_body();
        }
        // What stands directly behind the last text is the same text.
        let last = self.open.last().map_or(self.last, |open| open.last);
        if let Data::Text(before, reading) = &mut self.document.nodes[last as usize]
            && before.end as usize == text.part.begin
            && *reading == text.reading
        {
            before.end = text.part.end as u32;
            return;
        }
        self.append(Data::Text(Span::of(text.part.begin, text.part.end), text.reading), None);
    }

    fn open_html(&mut self) {
        if self.html.is_none() {
            self.html = self.push_implied("html", Tag::Html, Kind::Html);
        }
    }

    fn open_head(&mut self) {
        self.open_html();
        if self.head.is_none() {
            self.head = self.push_implied("head", Tag::Head, Kind::Head);
        }
    }

    fn open_body(&mut self) {
        if self.body.is_some() {
            return;
        }
        self.open_head();
        self.close_to(1);
        self.body = self.push_implied("body", Tag::Body, Kind::Body);
    }

    /// Gives an element that was implied, or given without them, attributes.
    fn add_attributes(&mut self, element: Option<u32>, attributes: usize) {
        let Some(id) = element else { return };
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (begin, end) = (place(attributes), place(self.document.attributes.len()));
        if let Data::Element { attributes, attributes_end, .. } = &mut self.document.nodes[id as usize]
            && attributes == attributes_end
        {
            (*attributes, *attributes_end) = (begin, end);
        }
    }

    fn start_tag(&mut self, element: Written<'d>, attributes: usize) {
        let kind = element.kind;
        match kind {
            Kind::Html if self.html.is_some() => return self.add_attributes(self.html, attributes),
            Kind::Html => {
                self.html = self.push(element, attributes);
                return;
            }
            Kind::Head => {
                self.open_html();
                if self.head.is_none() && self.body.is_none() {
                    self.head = self.push(element, attributes);
                }
                return;
            }
            Kind::Body if self.body.is_some() => return self.add_attributes(self.body, attributes),
            Kind::Body => {
                self.open_head();
                self.close_to(1);
                self.body = self.push(element, attributes);
                return;
            }
            Kind::Meta | Kind::VoidMeta if self.body.is_none() => self.open_head(),
            _ if self.body.is_none() && matches!(self.kind(), None | Some(Kind::Html | Kind::Head)) => self.open_body(),
            _ => {}
        }
        if !self.make_room(kind) {
            return;
        }
        match kind {
            Kind::Void | Kind::VoidMeta | Kind::VoidBlock | Kind::Column => {
                self.append(self.data(element, attributes), Some(element.tag));
            }
            _ => {
                let id = self.push(element, attributes);
                if let Some(id) = id.filter(|_| kind == Kind::Form && !self.is_in_template()) {
                    self.document.forms.push((id, id));
                    self.in_form = true;
                }
            }
        }
    }

    /// Ends and implies what a start tag ends and implies. The answer is whether there is a place for the element.
    fn make_room(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Block | Kind::Paragraph | Kind::VoidBlock | Kind::Table => self.end_paragraph(),
            Kind::Heading => {
                self.end_paragraph();
                self.end_current(Kind::Heading);
            }
            Kind::ListItem | Kind::Description => {
                self.end_item(kind);
                self.end_paragraph();
            }
            Kind::Form if self.in_form && !self.is_in_template() => return false,
            Kind::Form => self.end_paragraph(),
            Kind::Caption | Kind::ColumnGroup | Kind::RowGroup => return self.close_within_table(&[]),
            Kind::Column => {
                if !self.close_within_table(&[Kind::ColumnGroup]) {
                    return false;
                }
                if self.kind() == Some(Kind::Table) {
                    self.push_implied("colgroup", Tag::Other, Kind::ColumnGroup);
                }
            }
            Kind::Row => return self.open_row_group(&[Kind::RowGroup]),
            Kind::Cell => {
                if !self.open_row_group(&[Kind::RowGroup, Kind::Row]) {
                    return false;
                }
                if self.kind() == Some(Kind::RowGroup) {
                    self.push_implied("tr", Tag::Tr, Kind::Row);
                }
            }
            Kind::Choice => self.end_current(Kind::Choice),
            Kind::ChoiceGroup => {
                self.end_current(Kind::Choice);
                self.end_current(Kind::ChoiceGroup);
            }
            Kind::Anchor => self.end_inline(|open| open.kind == Kind::Anchor),
            Kind::Button => {
                if let Some(place) = self.in_scope(|open| open.kind == Kind::Button) {
                    self.close_to(place);
                }
            }
            _ => {}
        }
        true
    }

    /// Ends the form that is not ended, for what follows: the element may have ended before, and may not end yet.
    fn end_form(&mut self) {
        let behind = self.document.places.len() as u32;
        if let Some((_, end)) = self.document.forms.last_mut().filter(|_| self.in_form) {
            *end = behind;
        }
        self.in_form = false;
    }

    fn is_in_template(&self) -> bool {
        self.open.iter().any(|open| open.element.tag == Tag::Template)
    }

    fn end_current(&mut self, kind: Kind) {
        if self.kind() == Some(kind) {
            self.close_to(self.open.len() - 1);
        }
    }

    /// The place of an open element, unless something stands between that its end does not reach beyond.
    fn in_scope(&self, is: impl Fn(&Written<'d>) -> bool) -> Option<usize> {
        for (place, Open { element, .. }) in self.open.iter().enumerate().rev() {
            if is(element) {
                return Some(place);
            }
            if element.kind.is_scope() || element.tag == Tag::Template {
                return None;
            }
        }
        None
    }

    fn paragraph_in_scope(&self) -> Option<usize> {
        if self.paragraphs == 0 {
            return None;
        }
        let place = self.in_scope(|open| matches!(open.kind, Kind::Paragraph | Kind::Button))?;
        (self.open[place].element.kind == Kind::Paragraph).then_some(place)
    }

    fn end_paragraph(&mut self) {
        if let Some(place) = self.paragraph_in_scope() {
            self.close_to(place);
        }
    }

    /// Ends the item of the same kind before, if the new one is in the same list.
    fn end_item(&mut self, kind: Kind) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place].element;
            if open.kind == kind {
                return self.close_to(place);
            }
            let is_passed =
                !open.kind.is_special() || open.kind == Kind::Paragraph || matches!(open.tag, Tag::Address | Tag::Div);
            if !is_passed {
                return;
            }
        }
    }

    /// Closes what is open inside the innermost table, up to elements of these kinds. The answer is whether there is a table.
    fn close_within_table(&mut self, kinds: &[Kind]) -> bool {
        let is_table = |open: &Open<'_>| open.element.kind == Kind::Table || open.element.tag == Tag::Template;
        let Some(table) = self.open.iter().rposition(is_table) else { return false };
        let inner = self.open[table..].iter().rposition(|open| kinds.contains(&open.element.kind));
        self.close_to(table + inner.unwrap_or(0) + 1);
        true
    }

    /// The same, and opens a row group where there is none.
    fn open_row_group(&mut self, kinds: &[Kind]) -> bool {
        if !self.close_within_table(kinds) {
            return false;
        }
        if self.kind() == Some(Kind::Table) {
            self.push_implied("tbody", Tag::Tbody, Kind::RowGroup);
        }
        true
    }

    fn foreign_tag(&mut self, element: Written<'d>, attributes: usize, self_closing: bool) {
        if self.body.is_none() && matches!(self.kind(), None | Some(Kind::Html | Kind::Head)) {
            self.open_body();
        }
        if self_closing {
            self.append(self.data(element, attributes), Some(element.tag));
        } else {
            self.push(Written { kind: Kind::Other, ..element }, attributes);
        }
    }

    fn end_tag(&mut self, ended: Written<'d>, in_html: bool) {
        if !in_html {
            return self.end_foreign(&ended);
        }
        match ended.kind {
            // What follows still belongs to them.
            Kind::Html | Kind::Head | Kind::Body => {}
            Kind::Paragraph => match self.paragraph_in_scope() {
                Some(place) => self.close_to(place),
                None if self.body.is_some() => {
                    let element = Written::implied("p", Tag::P, Kind::Paragraph);
                    self.append(self.data(element, self.document.attributes.len()), Some(Tag::P));
                }
                None => {}
            },
            Kind::Heading => self.end_scoped(|open| open.kind == Kind::Heading),
            Kind::Form => {
                if !self.is_in_template() {
                    self.end_form();
                }
                self.end_scoped(|open| open.kind == Kind::Form);
            }
            Kind::Table | Kind::Caption | Kind::ColumnGroup | Kind::RowGroup | Kind::Row | Kind::Cell => {
                self.end_in_table(&ended);
            }
            Kind::Void | Kind::VoidMeta | Kind::VoidBlock | Kind::Column => {}
            Kind::Anchor | Kind::Inline => self.end_inline(|open| open.is(&ended)),
            Kind::Other | Kind::Choice | Kind::ChoiceGroup => self.end_other(&ended),
            _ => self.end_scoped(|open| open.is(&ended)),
        }
    }

    fn end_scoped(&mut self, is: impl Fn(&Written<'d>) -> bool) {
        for place in (0..self.open.len()).rev() {
            let open = &self.open[place].element;
            if is(open) {
                return self.close_to(place);
            }
            if open.kind.is_scope() {
                return;
            }
        }
    }

    /// Ends a part of a table, or the table.
    fn end_in_table(&mut self, ended: &Written<'d>) {
        for place in (0..self.open.len()).rev() {
            let open = &self.open[place].element;
            if open.is(ended) {
                return self.close_to(place);
            }
            if open.kind == Kind::Table || open.kind == Kind::Html {
                return;
            }
        }
    }

    /// Ends an inline element. Blocks inside of it stay open.
    fn end_inline(&mut self, is: impl Fn(&Written<'d>) -> bool) {
        let mut has_special = false;
        for place in (0..self.open.len()).rev() {
            let open = &self.open[place].element;
            if is(open) {
                return if has_special { self.forget(place) } else { self.close_to(place) };
            }
            if open.kind.is_scope() {
                return;
            }
            has_special |= open.kind.is_special();
        }
    }

    fn end_other(&mut self, ended: &Written<'d>) {
        for place in (0..self.open.len()).rev() {
            let open = &self.open[place].element;
            if open.is(ended) {
                return self.close_to(place);
            }
            if open.kind.is_special() {
                return;
            }
        }
    }

    fn end_foreign(&mut self, ended: &Written<'d>) {
        for place in (0..self.open.len()).rev() {
            let open = &self.open[place].element;
            if open.is(ended) {
                return self.close_to(place);
            }
            // It is one of HTML around the SVG, if it is any.
            if open.kind != Kind::Other {
                return;
            }
        }
    }
}
