//! The URLs of a crawl in the order of any column, where few enough have to be looked at: the state has no index for it.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use model::essence;
use store::{CrawlView, StoreError};

use crate::urls::{LOOKED_AT_MAX, Listed, Page, Selection, State};

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
    /// Brings URLs, which are in the order of their keys, into this order.
    #[must_use]
    pub fn sorted(self, urls: Vec<Listed>) -> Vec<Listed> {
        let mut valued: Vec<_> = urls.into_iter().map(|listed| (self.by.value(&listed), listed)).collect();
        valued.sort_by(|(one, _), (other, _)| self.compare(one.as_ref(), other.as_ref()));
        valued.into_iter().map(|(_, listed)| listed).collect()
    }

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

/// What comes of a request for an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sorted {
    /// A part of the URLs in this order.
    Part(Part),
    /// Too many URLs would have to be looked at. This is the beginning in the order of keys, as [`Selection::page`] has it.
    TooMany(Page),
}

/// A part of sorted URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The URLs.
    pub urls: Vec<Listed>,
    /// The URLs of the whole selection.
    pub of: usize,
    /// How many of them come before the next part; `None` behind the last part.
    pub next: Option<usize>,
}

impl Selection {
    /// At most `max` URLs of the selection in an order, behind the first `skip`. It looks at [`LOOKED_AT_MAX`] URLs and no more. As long as the
    /// state stays, parts fit together.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn sorted(&self, view: &dyn CrawlView, order: Order, skip: usize, max: usize) -> Result<Sorted, StoreError> {
        // One more shows that there are more.
        let all = self.page(view, None, LOOKED_AT_MAX + 1)?;
        if all.looked_at > LOOKED_AT_MAX {
            return Ok(Sorted::TooMany(beginning(all, max)));
        }
        let of = all.urls.len();
        let urls: Vec<Listed> = order.sorted(all.urls).into_iter().skip(skip).take(max).collect();
        let next = Some(skip.saturating_add(urls.len())).filter(|next| !urls.is_empty() && *next < of);
        Ok(Sorted::Part(Part { urls, of, next }))
    }
}

/// The first URLs of a page, as a page of their own.
fn beginning(mut page: Page, max: usize) -> Page {
    if page.urls.len() > max {
        page.urls.truncate(max);
        page.next = page.urls.last().map(|listed| listed.url.clone());
    }
    page
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
            let paths: Vec<String> = parsed
                .sorted(some())
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

    #[test]
    fn all_parts_together_are_the_selection_in_its_order() {
        let (store, order) = (store(23), Order { by: Column::Url, is_descending: true });
        for max in [1, 5, 24, 100] {
            let (mut found, mut skip) = (Vec::new(), Some(0));
            while let Some(from) = skip {
                let sorted = Selection::default().sorted(&store, order, from, max).expect("read");
                let Sorted::Part(part) = sorted else { panic!("few URLs") };
                assert!(part.urls.len() <= max && part.of == 24);
                found.extend(part.urls.into_iter().map(|listed| listed.url.to_string()));
                skip = part.next;
            }
            assert_eq!(found.len(), 24, "{max}");
            assert!(found.is_sorted_by(|one, other| one > other), "{found:?}");
        }
        let behind = Selection::default().sorted(&store, order, 24, 5).expect("read");
        assert_eq!(behind, Sorted::Part(Part { urls: Vec::new(), of: 24, next: None }));
    }

    #[test]
    fn more_urls_than_an_answer_looks_at_stay_in_the_order_of_their_keys() {
        let order = Order { by: Column::Url, is_descending: false };
        let of_one_site = Selection { sites: [url("http://a.test/").key().site].into(), ..Selection::default() };
        let check = |store: &MemoryStore, selection: &Selection, is_sorted: bool| {
            let sorted = selection.sorted(store, order, 0, 7).expect("read");
            match sorted {
                Sorted::Part(part) => assert!(is_sorted && part.urls.len() == 7, "{}", part.of),
                Sorted::TooMany(page) => {
                    assert!(!is_sorted && page.looked_at > LOOKED_AT_MAX, "{}", page.looked_at);
                    let plain = selection.page(store, None, 7).expect("read");
                    assert_eq!((page.urls, page.next), (plain.urls, plain.next));
                }
            }
        };
        let most = store(LOOKED_AT_MAX);
        check(&most, &of_one_site, true);
        check(&most, &Selection::default(), false);
        check(&store(LOOKED_AT_MAX - 1), &Selection::default(), true);
        check(&store(LOOKED_AT_MAX + 1), &of_one_site, false);
        // None of those that are looked at belongs to the selection.
        let none = Selection { status: Some(404), ..Selection::default() };
        let Sorted::TooMany(page) = none.sorted(&most, order, 0, 7).expect("read") else { panic!("many URLs") };
        assert!(page.urls.is_empty() && page.next.is_some());
    }
}
