//! Tags to a tree: which element each tag opens, and which it ends.

use super::super::attributes::Attributes;
use super::super::foreign::Namespaces;
use super::super::scanner::content_model;
use super::super::tag::Tag;
use super::super::tokenizer::{Text, Token, Tokenizer};
use super::names::Kind;
use super::{DEPTH_MAX, Data, Document, NODES_MAX, Place};

/// Bytes of a page for each of its nodes and attributes, as many pages have them: room is made for so many at first.
const BYTES_A_NODE: usize = 40;

/// Reads a page.
pub(super) fn build(source: &str) -> Document<'_> {
    let mut builder = Builder::new(source);
    let mut tokenizer = Tokenizer::new(source);
    let mut namespaces = Namespaces::default();
    let mut known = Attributes::of(source);
    loop {
        known.clear();
        let attributes = builder.document.attributes.len();
        let all = &mut builder.document.attributes;
        let token = tokenizer.next(|name, value| {
            known.keep(name, value);
            all.push((name.text(source), value));
        });
        match token {
            None => break,
            Some(Token::Text(text)) => builder.text(text),
            Some(Token::StartTag { name, self_closing }) => {
                let tag = Tag::of(name);
                let in_html = namespaces.start(name, tag, &known, self_closing);
                if in_html {
                    builder.start_tag(name.text(source), tag, Kind::of(name), attributes);
                    (tokenizer.content, _) = content_model(tag, false);
                } else {
                    builder.foreign_tag(name.text(source), tag, attributes, self_closing);
                }
                tokenizer.in_foreign = namespaces.current_is_foreign();
            }
            Some(Token::EndTag { name }) => {
                builder.document.attributes.truncate(attributes);
                let in_html = namespaces.in_html();
                namespaces.end(name, Tag::of(name));
                builder.end_tag(name.text(source), Kind::of(name), in_html);
                tokenizer.in_foreign = namespaces.current_is_foreign();
            }
        }
    }
    builder.finish()
}

/// An open element.
#[derive(Clone, Copy)]
struct Open<'d> {
    id: u32,
    name: &'d str,
    kind: Kind,
}

struct Builder<'d> {
    document: Document<'d>,
    /// The open elements, outermost first.
    open: Vec<Open<'d>>,
    /// The last child of each open element, and of the document in front.
    last: Vec<Option<u32>>,
    html: Option<u32>,
    head: Option<u32>,
    body: Option<u32>,
    /// The open paragraphs among the open elements.
    paragraphs: usize,
    form: Option<u32>,
}

impl<'d> Builder<'d> {
    fn new(source: &'d str) -> Self {
        let nodes = (source.len() / BYTES_A_NODE).min(NODES_MAX);
        let mut document = Document {
            source,
            places: Vec::with_capacity(nodes + 8),
            nodes: Vec::with_capacity(nodes + 8),
            attributes: Vec::with_capacity(nodes + 8),
            is_cut: false,
        };
        document.places.push(Place { parent: 0, before: 0, end: 1, tag: Some(Tag::Other) });
        document.nodes.push(Data::Document);
        Self {
            document,
            open: Vec::new(),
            last: vec![None],
            html: None,
            head: None,
            body: None,
            paragraphs: 0,
            form: None,
        }
    }

    fn finish(self) -> Document<'d> {
        let mut document = self.document;
        for id in (1..document.places.len()).rev() {
            let Place { parent, end, .. } = document.places[id];
            let above = &mut document.places[parent as usize];
            above.end = above.end.max(end);
        }
        document
    }

    /// Appends a node to the innermost open element.
    fn append(&mut self, data: Data<'d>, tag: Option<Tag>) -> Option<u32> {
        let places = &mut self.document.places;
        if places.len() >= NODES_MAX {
            self.document.is_cut = true;
            return None;
        }
        let id = u32::try_from(places.len()).ok()?;
        let parent = self.open.last().map_or(0, |open| open.id);
        let last = self.last.last_mut()?;
        places.push(Place { parent, before: last.unwrap_or(id), end: id + 1, tag });
        self.document.nodes.push(data);
        *last = Some(id);
        Some(id)
    }

    /// Appends an element and opens it, unless it would be too deep.
    fn push(&mut self, name: &'d str, tag: Tag, kind: Kind, attributes: usize) -> Option<u32> {
        let id = self.append(self.element(name, attributes), Some(tag))?;
        if self.open.len() < DEPTH_MAX {
            self.paragraphs += usize::from(kind == Kind::Paragraph);
            self.open.push(Open { id, name, kind });
            self.last.push(None);
        }
        Some(id)
    }

    /// An element with the attributes from this place on.
    fn element(&self, name: &'d str, attributes: usize) -> Data<'d> {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let (attributes, attributes_end) = (place(attributes), place(self.document.attributes.len()));
        Data::Element { name, attributes, attributes_end }
    }

    /// An element that the page leaves out.
    fn push_implied(&mut self, name: &'static str, tag: Tag, kind: Kind) -> Option<u32> {
        self.push(name, tag, kind, self.document.attributes.len())
    }

    /// Closes the innermost open elements until so many are left.
    fn close_to(&mut self, depth: usize) {
        let closed = &self.open[depth.min(self.open.len())..];
        self.paragraphs -= closed.iter().filter(|open| open.kind == Kind::Paragraph).count();
        self.open.truncate(depth);
        self.last.truncate(depth + 1);
    }

    /// Removes an open element; what was opened inside of it stays open.
    fn forget(&mut self, place: usize) {
        self.open.remove(place);
        self.last.remove(place + 1);
    }

    fn kind(&self) -> Option<Kind> {
        self.open.last().map(|open| open.kind)
    }

    fn text(&mut self, text: Text<'d>) {
        if matches!(self.kind(), None | Some(Kind::Html | Kind::Head)) {
            if text.is_blank() {
                return;
            }
            self.open_body();
        }
        // What stands directly behind the last text is the same text.
        if let Some(Some(last)) = self.last.last()
            && let Data::Text(before) = &mut self.document.nodes[*last as usize]
            && let Some(joined) = before.joined(&text)
        {
            *before = joined;
            return;
        }
        self.append(Data::Text(text), None);
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
        let given = self.element("", attributes);
        let (Some(id), Data::Element { attributes: begin, attributes_end: end, .. }) = (element, given) else { return };
        if let Data::Element { attributes, attributes_end, .. } = &mut self.document.nodes[id as usize]
            && attributes == attributes_end
        {
            (*attributes, *attributes_end) = (begin, end);
        }
    }

    fn start_tag(&mut self, name: &'d str, tag: Tag, kind: Kind, attributes: usize) {
        match kind {
            Kind::Html if self.html.is_some() => return self.add_attributes(self.html, attributes),
            Kind::Html => {
                self.html = self.push(name, tag, kind, attributes);
                return;
            }
            Kind::Head => {
                self.open_html();
                if self.head.is_none() && self.body.is_none() {
                    self.head = self.push(name, tag, kind, attributes);
                }
                return;
            }
            Kind::Body if self.body.is_some() => return self.add_attributes(self.body, attributes),
            Kind::Body => {
                self.open_head();
                self.close_to(1);
                self.body = self.push(name, tag, kind, attributes);
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
                self.append(self.element(name, attributes), Some(tag));
            }
            _ => {
                let id = self.push(name, tag, kind, attributes);
                if kind == Kind::Form {
                    self.form = id;
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
            Kind::Form if self.form.is_some() => return false,
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

    fn end_current(&mut self, kind: Kind) {
        if self.kind() == Some(kind) {
            self.close_to(self.open.len() - 1);
        }
    }

    /// The place of an open element, unless something stands between that its end does not reach beyond.
    fn in_scope(&self, is: impl Fn(&Open<'d>) -> bool) -> Option<usize> {
        for (place, open) in self.open.iter().enumerate().rev() {
            if is(open) {
                return Some(place);
            }
            if open.kind.is_scope() || open.name.eq_ignore_ascii_case("template") {
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
        (self.open[place].kind == Kind::Paragraph).then_some(place)
    }

    fn end_paragraph(&mut self) {
        if let Some(place) = self.paragraph_in_scope() {
            self.close_to(place);
        }
    }

    /// Ends the item of the same kind before, if the new one is in the same list.
    fn end_item(&mut self, kind: Kind) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place];
            if open.kind == kind {
                return self.close_to(place);
            }
            let is_passed = !open.kind.is_special()
                || open.kind == Kind::Paragraph
                || ["address", "div"].iter().any(|name| open.name.eq_ignore_ascii_case(name));
            if !is_passed {
                return;
            }
        }
    }

    /// Closes what is open inside the innermost table, up to elements of these kinds. The answer is whether there is a table.
    fn close_within_table(&mut self, kinds: &[Kind]) -> bool {
        let is_table = |open: &Open<'_>| open.kind == Kind::Table || open.name.eq_ignore_ascii_case("template");
        let Some(table) = self.open.iter().rposition(is_table) else { return false };
        let inner = self.open[table..].iter().rposition(|open| kinds.contains(&open.kind));
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

    fn foreign_tag(&mut self, name: &'d str, tag: Tag, attributes: usize, self_closing: bool) {
        if self.body.is_none() && matches!(self.kind(), None | Some(Kind::Html | Kind::Head)) {
            self.open_body();
        }
        if self_closing {
            self.append(self.element(name, attributes), Some(tag));
        } else {
            self.push(name, tag, Kind::Other, attributes);
        }
    }

    fn end_tag(&mut self, name: &'d str, kind: Kind, in_html: bool) {
        if !in_html {
            return self.end_foreign(name);
        }
        match kind {
            // What follows still belongs to them.
            Kind::Html | Kind::Head | Kind::Body => {}
            Kind::Paragraph => match self.paragraph_in_scope() {
                Some(place) => self.close_to(place),
                None if self.body.is_some() => {
                    self.append(self.element("p", self.document.attributes.len()), Some(Tag::P));
                }
                None => {}
            },
            Kind::Heading => self.end_scoped(|open| open.kind == Kind::Heading),
            Kind::Form => {
                self.form = None;
                self.end_scoped(|open| open.kind == Kind::Form);
            }
            Kind::Table | Kind::Caption | Kind::ColumnGroup | Kind::RowGroup | Kind::Row | Kind::Cell => {
                self.end_in_table(name);
            }
            Kind::Void | Kind::VoidMeta | Kind::VoidBlock | Kind::Column => {}
            Kind::Anchor | Kind::Inline => self.end_inline(|open| open.name.eq_ignore_ascii_case(name)),
            Kind::Other | Kind::Choice | Kind::ChoiceGroup => self.end_other(name),
            _ => self.end_scoped(|open| open.name.eq_ignore_ascii_case(name)),
        }
    }

    fn end_scoped(&mut self, is: impl Fn(&Open<'d>) -> bool) {
        let found = self.open.iter().rposition(|open| is(open) || open.kind.is_scope());
        if let Some(place) = found.filter(|place| is(&self.open[*place])) {
            self.close_to(place);
        }
    }

    /// Ends a part of a table, or the table.
    fn end_in_table(&mut self, name: &str) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place];
            if open.name.eq_ignore_ascii_case(name) {
                return self.close_to(place);
            }
            if open.kind == Kind::Table || open.kind == Kind::Html {
                return;
            }
        }
    }

    /// Ends an inline element. Blocks inside of it stay open.
    fn end_inline(&mut self, is: impl Fn(&Open<'d>) -> bool) {
        let mut has_special = false;
        for place in (0..self.open.len()).rev() {
            let open = self.open[place];
            if is(&open) {
                return if has_special { self.forget(place) } else { self.close_to(place) };
            }
            if open.kind.is_scope() {
                return;
            }
            has_special |= open.kind.is_special();
        }
    }

    fn end_other(&mut self, name: &str) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place];
            if open.name.eq_ignore_ascii_case(name) {
                return self.close_to(place);
            }
            if open.kind.is_special() {
                return;
            }
        }
    }

    fn end_foreign(&mut self, name: &str) {
        for place in (0..self.open.len()).rev() {
            let open = self.open[place];
            if open.name.eq_ignore_ascii_case(name) {
                return self.close_to(place);
            }
            // It is one of HTML around the SVG, if it is any.
            if open.kind != Kind::Other {
                return;
            }
        }
    }
}
