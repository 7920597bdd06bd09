//! The URLs of a crawl in the order of any column. The state has no index for it: all URLs are looked at, and the first ones kept.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use model::essence;
use store::{CrawlView, StoreError};
use weburl::UrlKey;

use crate::urls::{LOOKED_AT_MAX, Listed, Selection, State};

/// A column of the table of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The URL itself.
    Url,
    /// What becomes or became of it.
    State,
    /// The HTTP status.
    Status,
    /// The media type, without parameters.
    Type,
    /// The bytes of the answer.
    Size,
    /// Links from a seed.
    Depth,
    /// The time of the last visit.
    Visited,
    /// The title of the page, or the reason of what became of it.
    Title,
}

impl Column {
    /// All columns, in the order of the table.
    pub const ALL: [Column; 8] = [
        Column::Url,
        Column::State,
        Column::Status,
        Column::Type,
        Column::Size,
        Column::Depth,
        Column::Visited,
        Column::Title,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Column::Url => "url",
            Column::State => "state",
            Column::Status => "status",
            Column::Type => "type",
            Column::Size => "size",
            Column::Depth => "depth",
            Column::Visited => "visited",
            Column::Title => "title",
        }
    }

    /// What a URL has in it.
    fn value(self, of: &Listed) -> Option<Value> {
        let text = |text: &str| Some(text.to_lowercase()).filter(|text| !text.is_empty()).map(Value::Text);
        match self {
            Column::Url => Some(Value::Text(of.url.as_str().to_owned())),
            Column::State => Some(Value::State(of.state)),
            Column::Status => of.status().map(|status| Value::Number(status.into())),
            Column::Type => of.content_type().and_then(|content_type| text(&essence(content_type))),
            Column::Size => of.length().map(Value::Number),
            Column::Depth => Some(Value::Number(of.depth.into())),
            Column::Visited => of.visited().map(|at| Value::Number(at.0)),
            Column::Title => of.said().and_then(text),
        }
    }
}

/// A value of a column, to be compared with others of that column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Value {
    State(State),
    Number(u64),
    Text(String),
}

/// An order of URLs. URLs with equal values are in the order of their keys; those without a value come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The column.
    pub by: Column,
    /// The greatest value comes first.
    pub is_descending: bool,
}

impl Order {
    fn compare(self, one: Option<&Value>, other: Option<&Value>) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) if self.is_descending => other.cmp(one),
            (Some(one), Some(other)) => one.cmp(other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

/// As a field of a request has it: the column, behind a minus if the greatest value comes first.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_descending { "-" } else { "" }, self.by.as_str())
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (is_descending, word) = text.strip_prefix('-').map_or((false, text), |word| (true, word));
        let by = Column::ALL.into_iter().find(|column| column.as_str() == word);
        by.map(|by| Order { by, is_descending }).ok_or_else(|| {
            let words: Vec<&str> = Column::ALL.map(Column::as_str).to_vec();
            format!("`{text}` is no order of URLs; possible are {}, each also behind a minus", words.join(", "))
        })
    }
}

/// The first rows of many in an order. Only so many are kept, and the others are counted: so it takes the same memory for any crawl.
#[derive(Debug)]
pub struct Foremost<V, T> {
    max: usize,
    /// Less than twice as many, each with what it is compared by.
    kept: Vec<(V, T)>,
    /// What the last of the first `max` has, when they were chosen last: a row with the same or a later value does not belong to them.
    bar: Option<V>,
    found: u64,
}

/// The first rows of a table, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The rows of the whole table.
    pub of: u64,
}

impl<V: Clone, T> Foremost<V, T> {
    /// The first `max` rows; there are none so far.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Foremost { max: max.max(1), kept: Vec::new(), bar: None, found: 0 }
    }

    /// Takes in a row. `compare` is the order, always the same; rows with equal values stay as they come.
    pub fn take(&mut self, value: V, row: T, compare: impl Fn(&V, &V) -> Ordering) {
        self.found += 1;
        if self.bar.as_ref().is_some_and(|bar| compare(&value, bar).is_ge()) {
            return;
        }
        self.kept.push((value, row));
        // Now and then, so that it costs little.
        if self.kept.len() >= 2 * self.max {
            self.choose(compare);
            self.bar = self.kept.last().map(|(value, _)| value.clone());
        }
    }

    fn choose(&mut self, compare: impl Fn(&V, &V) -> Ordering) {
        self.kept.sort_by(|(one, _), (other, _)| compare(one, other));
        self.kept.truncate(self.max);
    }

    /// The rows so far.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.found
    }

    /// The first rows.
    #[must_use]
    pub fn into_first(mut self, compare: impl Fn(&V, &V) -> Ordering) -> First<T> {
        self.choose(compare);
        First { rows: self.kept.into_iter().map(|(_, row)| row).collect(), of: self.found }
    }
}

/// The first URLs of a selection in an order. They are looked for part by part, so that it can be told how far that is.
#[derive(Debug)]
pub struct Sorting {
    selection: Selection,
    order: Order,
    first: Foremost<Option<Value>, Listed>,
    after: Option<UrlKey>,
    looked_at: u64,
    is_complete: bool,
}

impl Sorting {
    /// The first `max` URLs of a selection. Nothing was looked at yet.
    #[must_use]
    pub fn new(selection: Selection, order: Order, max: usize) -> Self {
        Sorting { selection, order, first: Foremost::new(max), after: None, looked_at: 0, is_complete: false }
    }

    /// Looks at [`LOOKED_AT_MAX`] URLs more.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        let page = self.selection.page(view, self.after, LOOKED_AT_MAX)?;
        self.looked_at = self.looked_at.saturating_add(page.looked_at as u64);
        page.urls.into_iter().for_each(|listed| self.take(listed));
        self.after = page.next.map(|next| next.key());
        self.is_complete = self.after.is_none();
        Ok(())
    }

    fn take(&mut self, listed: Listed) {
        let order = self.order;
        self.first.take(order.by.value(&listed), listed, |one, other| order.compare(one.as_ref(), other.as_ref()));
    }

    /// Whether all URLs were looked at.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The URLs of the selection so far.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.first.found()
    }

    /// The URLs that were looked at so far.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// The first URLs of those that were looked at.
    #[must_use]
    pub fn into_first(self) -> First<Listed> {
        let order = self.order;
        self.first.into_first(|one, other| order.compare(one.as_ref(), other.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Timestamp, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
    }

    /// A URL that was visited, with a status, a type, a size, a title.
    fn visited(path: &str, depth: u32, at: u64, answer: Option<(u16, &str, u64)>, title: &str) -> Listed {
        let url = url(&format!("http://a.test/{path}"));
        let outcome = if answer.is_some() { Outcome::Html } else { Outcome::Timeout };
        let visit = Visit::without_fetch(url.key(), outcome, String::new(), Timestamp(at));
        let (status, content_type, length) = answer.unwrap_or_default();
        let visit = Visit {
            status,
            content_type: Some(content_type.to_owned()).filter(|content_type| !content_type.is_empty()),
            length,
            title: Some(title.to_owned()).filter(|title| !title.is_empty()),
            attempts: 1,
            ..visit
        };
        Listed { url, depth, state: State::Ended(outcome), visit: Some(visit) }
    }

    fn some() -> Vec<Listed> {
        let waiting = Listed { url: url("http://a.test/w"), depth: 9, state: State::Waiting, visit: None };
        vec![
            visited("c", 1, 30, Some((200, "text/html; charset=utf-8", 10)), "beta"),
            visited("a", 2, 10, Some((404, "Text/HTML", 9)), "Alpha"),
            waiting,
            visited("t", 1, 20, None, ""),
            visited("b", 3, 40, Some((200, "image/png", 100)), ""),
        ]
    }

    #[test]
    fn urls_come_in_the_order_of_a_column_and_those_without_a_value_last() {
        for (order, expect) in [
            ("url", "a b c t w"),
            ("-url", "w t c b a"),
            ("state", "w c a b t"),
            ("-state", "t c a b w"),
            ("status", "c b a w t"),
            ("-status", "a c b w t"),
            ("type", "b c a w t"),
            ("-type", "c a b w t"),
            ("size", "a c b w t"),
            ("-size", "b c a w t"),
            ("depth", "c t a b w"),
            ("-depth", "w b a c t"),
            ("visited", "a t c b w"),
            ("-visited", "b c t a w"),
            ("title", "a c w t b"),
            ("-title", "c a w t b"),
        ] {
            let parsed: Order = order.parse().expect(order);
            assert_eq!(parsed.to_string(), order);
            let mut sorting = Sorting::new(Selection::default(), parsed, 100);
            some().into_iter().for_each(|listed| sorting.take(listed));
            let paths: Vec<String> = sorting
                .into_first()
                .rows
                .iter()
                .map(|listed| listed.url.path_and_query().trim_start_matches('/').to_owned())
                .collect();
            assert_eq!(paths.join(" "), expect, "{order}");
        }
    }

    #[test]
    fn a_word_that_is_no_order_is_refused_with_those_that_are() {
        for word in ["", "-", "site", "--size", "sizes", "SIZE"] {
            let error = word.parse::<Order>().expect_err(word);
            assert!(error.contains("is no order of URLs; possible are url, state, "), "{error}");
        }
    }

    /// A store with so many URLs of a site, and one of another.
    fn store(urls: usize) -> MemoryStore {
        let store = MemoryStore::new();
        let found = (0..urls).map(|n| Candidate::seed(url(&format!("http://a.test/{n}"))));
        let found = found.chain([Candidate::seed(url("http://b.test/"))]).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("committed");
        store
    }

    /// The first `max` URLs in an order, and how often it was looked on.
    fn first(store: &MemoryStore, selection: &Selection, order: &str, max: usize) -> (First<Listed>, usize) {
        let mut sorting = Sorting::new(selection.clone(), order.parse().expect(order), max);
        let mut looks = 0;
        while !sorting.is_complete() {
            sorting.look_on(store).expect("read");
            looks += 1;
            assert!(sorting.first.kept.len() < 2 * max, "{}", sorting.first.kept.len());
        }
        (sorting.into_first(), looks)
    }

    #[test]
    fn the_first_urls_are_found_however_many_are_looked_at() {
        const URLS: usize = 2 * LOOKED_AT_MAX + 7;
        let store = store(URLS);
        for order in ["url", "-url", "depth"] {
            let (all, looks) = first(&store, &Selection::default(), order, URLS + 1);
            assert_eq!((all.rows.len(), all.of, looks), (URLS + 1, URLS as u64 + 1, 3), "{order}");
            let urls: Vec<&str> = all.rows.iter().map(|listed| listed.url.as_str()).collect();
            match order {
                "url" => assert!(urls.is_sorted()),
                "-url" => assert!(urls.is_sorted_by(|one, other| one > other)),
                _ => assert!(
                    all.rows.is_sorted_by_key(|listed| listed.url.key()),
                    "equal ones stay in the order of keys"
                ),
            }
            for max in [1, 7, LOOKED_AT_MAX] {
                let (some, _) = first(&store, &Selection::default(), order, max);
                assert_eq!((&some.rows[..], some.of), (&all.rows[..max], all.of), "{order} {max}");
            }
        }
    }

    #[test]
    fn urls_of_the_selection_alone_are_counted() {
        let store = store(LOOKED_AT_MAX + 1);
        let of_one_site = Selection { sites: [url("http://b.test/").key().site].into(), ..Selection::default() };
        let (found, looks) = first(&store, &of_one_site, "-url", 5);
        assert_eq!((found.rows.len(), found.of, looks), (1, 1, 1));
        // None of those that are looked at belongs to it.
        let none = Selection { status: Some(404), ..Selection::default() };
        let (found, looks) = first(&store, &none, "size", 5);
        assert_eq!((found, looks), (First { rows: Vec::new(), of: 0 }, 2));
    }
}
