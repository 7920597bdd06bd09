//! Search: the pages that have a text, those that have it most often first.
//!
//! The text of a page is its title and what is visible of it, or its main text, as in the dataset: without tags, white space
//! collapsed. Every page is looked at: no index, so that an answer is exact however much was crawled just now (`docs/decisions`).
//! An exact duplicate of a page has its text too.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use dataset::schema::Table;
use dataset::{Column, DatasetError, Layout};
use memchr::memmem::Finder;
use model::Timestamp;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use weburl::{CanonicalUrl, SiteKey};

use crate::GraphError;
use crate::linking::{WireKey, to_wire};
use crate::rounds::{Crew, Rounds, Step, run};

/// What is searched for.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// This text, as it stands.
    Exact(Box<Finder<'static>>),
    /// What a regular expression matches; matches of nothing do not count.
    Regex(Regex),
}

/// A text that cannot be searched for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("there is nothing to search for")]
    Empty,
    /// It is no regular expression.
    #[error("`{expression}` is no regular expression: {}", in_a_line(error))]
    Regex {
        /// What was given.
        expression: String,
        /// What is wrong with it, over several lines.
        error: regex::Error,
    },
}

/// What is wrong, without the drawing of where.
fn in_a_line(error: &regex::Error) -> String {
    let drawn = error.to_string();
    drawn.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl Pattern {
    /// Searches for a text. Its white space is collapsed, as that of the pages is.
    ///
    /// # Errors
    /// The text is empty.
    pub fn text(text: &str, ignore_case: bool) -> Result<Self, PatternError> {
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // What stands at an end separates words, and so belongs to what is searched for.
        if text.starts_with(char::is_whitespace) {
            words.insert(0, ' ');
        }
        if text.ends_with(char::is_whitespace) && !words.ends_with(' ') {
            words.push(' ');
        }
        if words.trim().is_empty() {
            return Err(PatternError::Empty);
        }
        if ignore_case {
            return Pattern::regex(&regex::escape(&words), true);
        }
        Ok(Pattern::Exact(Box::new(Finder::new(&words).into_owned())))
    }

    /// Searches for what a regular expression matches.
    ///
    /// # Errors
    /// It is none.
    pub fn regex(expression: &str, ignore_case: bool) -> Result<Self, PatternError> {
        if expression.is_empty() {
            return Err(PatternError::Empty);
        }
        let built = RegexBuilder::new(expression).case_insensitive(ignore_case).build();
        built.map(Pattern::Regex).map_err(|error| PatternError::Regex { expression: expression.to_owned(), error })
    }

    fn count(&self, text: &str) -> u64 {
        match self {
            Pattern::Exact(finder) => finder.find_iter(text.as_bytes()).count() as u64,
            Pattern::Regex(regex) => regex.find_iter(text).filter(|found| !found.is_empty()).count() as u64,
        }
    }

    fn first(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Pattern::Exact(finder) => finder.find(text.as_bytes()).map(|begin| begin..begin + finder.needle().len()),
            Pattern::Regex(regex) => regex.find_iter(text).find(|found| !found.is_empty()).map(|found| found.range()),
        }
    }
}

/// The part of a page that is searched, beside its title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// All that is visible.
    #[default]
    Page,
    /// The main text: without menus, adverts and notices. Pages that have none are searched whole.
    MainText,
}

impl Within {
    /// Reads a switch: is the main text meant?
    #[must_use]
    pub fn main_text(is_meant: bool) -> Self {
        if is_meant { Within::MainText } else { Within::Page }
    }

    /// The columns that may hold the text. The first that has a value counts.
    fn columns(self) -> &'static [&'static str] {
        match self {
            Within::Page => &["text"],
            Within::MainText => &["main_text", "text"],
        }
    }
}

/// The pages that are searched: those that meet each condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// Pages of these sites; of all if empty.
    pub sites: Vec<SiteKey>,
    /// Pages whose text was last fetched at this time or later.
    pub since: Option<Timestamp>,
}

impl Only {
    fn has(&self, site: SiteKey, fetched_at: Option<i64>) -> bool {
        let is_late = |since: Timestamp| fetched_at.is_some_and(|at| u64::try_from(at).is_ok_and(|at| at >= since.0));
        (self.sites.is_empty() || self.sites.contains(&site)) && self.since.is_none_or(is_late)
    }
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is searched for.
    pub pattern: Pattern,
    /// Where.
    pub within: Within,
    /// In which pages.
    pub only: Only,
    /// How many pages are given at most; `None` gives all.
    pub limit: Option<usize>,
    /// How many characters are given around the first place where it is, on either side; `None` gives none.
    pub context: Option<usize>,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// How many pages have it.
    pub pages: u64,
    /// How often they have it.
    pub occurrences: u64,
    /// The pages that have it most often, by that and then by URL.
    pub rows: Vec<FoundPage>,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPage {
    /// How often it is there.
    pub occurrences: u64,
    /// The URL.
    pub url: String,
    /// The first place where it is, with what is around it.
    pub context: Option<String>,
}

/// Searches the pages of one or several datasets; of several processes each searches its own, and the first has the answer.
///
/// # Errors
/// A dataset cannot be read, or a worker was lost.
pub fn search<'a>(
    layouts: impl IntoIterator<Item = &'a Layout>,
    search: Search,
    crew: Crew,
) -> Result<SearchResult, GraphError> {
    let layouts: Vec<Layout> = layouts.into_iter().cloned().collect();
    let threads = crew.of_each_process();
    let answers = run(crew, move |own, peers| Searcher {
        layouts: layouts.clone(),
        threads,
        search: search.clone(),
        own,
        peers,
        found: Pages::default(),
        copies: Vec::new(),
        error: None,
    })?;
    let mut found = SearchResult::default();
    for answer in answers {
        found = answer?.unwrap_or(found);
    }
    Ok(found)
}

/// The part of a worker.
struct Searcher {
    layouts: Vec<Layout>,
    /// The workers of this process, which share its pages.
    threads: usize,
    search: Search,
    own: usize,
    peers: usize,
    found: Pages,
    /// Exact duplicates: the original's key, and the URL.
    copies: Vec<(WireKey, String)>,
    error: Option<DatasetError>,
}

/// What a worker tells another.
#[derive(Clone, Serialize, Deserialize)]
enum Message {
    /// The pages that have it, and how often.
    Counts(Vec<(WireKey, u64)>),
    /// What it found.
    Pages(Pages),
}

/// Pages that have it, the most important of them one by one.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Pages {
    pages: u64,
    occurrences: u64,
    rows: Vec<FoundPage>,
}

impl Pages {
    fn push(&mut self, row: FoundPage, limit: Option<usize>) {
        self.pages += 1;
        self.occurrences += row.occurrences;
        self.rows.push(row);
        // Now and then, so that it costs little.
        if limit.is_some_and(|limit| self.rows.len() >= (2 * limit).max(1_000)) {
            self.cut(limit);
        }
    }

    fn cut(&mut self, limit: Option<usize>) {
        self.rows.sort_unstable_by(|a, b| b.occurrences.cmp(&a.occurrences).then_with(|| a.url.cmp(&b.url)));
        self.rows.truncate(limit.unwrap_or(usize::MAX));
    }
}

impl Searcher {
    /// Looks through this worker's share of the pages. Gives the keys of those that have it.
    fn scan(&mut self) -> Result<Vec<(WireKey, u64)>, DatasetError> {
        let mut counts = Vec::new();
        let parts = self.search.within.columns();
        let columns = [&["url_key", "url", "fetched_at", "title", "duplicate_of"], parts].concat();
        let share =
            |layout: &Layout| Ok(layout.batches(Table::Pages, &columns)?.share(self.own % self.threads, self.threads));
        let batches = self.layouts.iter().map(share).collect::<Result<Vec<_>, DatasetError>>()?;
        for batch in batches.into_iter().flatten() {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let (Some(key), Some(url)) = (batch.key("url_key", row), batch.text("url", row)) else { continue };
                let is_wanted = self.search.only.has(key.site, batch.number("fetched_at", row));
                if let Some(original) = batch.text("duplicate_of", row).and_then(CanonicalUrl::from_canonical) {
                    if is_wanted {
                        self.copies.push((to_wire(original.key()), url.to_owned()));
                    }
                    continue;
                }
                let part = parts.iter().find_map(|column| batch.text(column, row)).map(collapsed);
                let texts = || batch.text("title", row).into_iter().chain(part.as_deref());
                let occurrences = texts().map(|text| self.search.pattern.count(text)).sum();
                if occurrences == 0 {
                    continue;
                }
                // Also of pages that are not wanted: their copies may be.
                counts.push((to_wire(key), occurrences));
                if !is_wanted {
                    continue;
                }
                let around = |chars: usize| {
                    // Where it is in the title alone, the title is what is around it.
                    texts().rev().find_map(|text| Some(around(text, self.search.pattern.first(text)?, chars)))
                };
                let context = self.search.context.and_then(around);
                self.found.push(FoundPage { occurrences, url: url.to_owned(), context }, self.search.limit);
            }
        }
        Ok(counts)
    }

    /// Finds the duplicates of pages that have it.
    fn take_copies(&mut self, inbox: Vec<Message>) {
        let counts = inbox.into_iter().filter_map(|message| match message {
            Message::Counts(counts) => Some(counts),
            Message::Pages(_) => None,
        });
        let counts: HashMap<WireKey, u64> = counts.flatten().collect();
        for (original, url) in std::mem::take(&mut self.copies) {
            if let Some(occurrences) = counts.get(&original) {
                let row = FoundPage { occurrences: *occurrences, url, context: None };
                self.found.push(row, self.search.limit);
            }
        }
        self.found.cut(self.search.limit);
    }
}

impl Rounds for Searcher {
    type Message = Message;
    type Answer = Result<Option<SearchResult>, GraphError>;

    fn round(&mut self, inbox: Vec<Message>) -> Step<Message, Self::Answer> {
        match inbox.first() {
            None => {
                let counts = self.scan().unwrap_or_else(|error| {
                    self.error = Some(error);
                    Vec::new()
                });
                Step::Send(vec![Message::Counts(counts); self.peers])
            }
            Some(Message::Counts(_)) => {
                self.take_copies(inbox);
                let mut messages = vec![Message::Pages(Pages::default()); self.peers];
                messages[0] = Message::Pages(std::mem::take(&mut self.found));
                Step::Send(messages)
            }
            Some(Message::Pages(_)) => Step::End(match self.error.take() {
                Some(error) => Err(error.into()),
                None => Ok((self.own == 0).then(|| self.answer(inbox))),
            }),
        }
    }
}

impl Searcher {
    fn answer(&self, inbox: Vec<Message>) -> SearchResult {
        let mut all = Pages::default();
        for message in inbox {
            let Message::Pages(pages) = message else { continue };
            all.pages += pages.pages;
            all.occurrences += pages.occurrences;
            all.rows.extend(pages.rows);
        }
        all.cut(self.search.limit);
        SearchResult { pages: all.pages, occurrences: all.occurrences, rows: all.rows }
    }
}

/// The text with white space collapsed. The visible text comes so; the main text has lines.
fn collapsed(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t', '\r']) && !text.contains("  ") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A part of a text with some characters on either side; an ellipsis stands for what is left out.
fn around(text: &str, found: Range<usize>, chars: usize) -> String {
    let begin = text[..found.start].char_indices().rev().take(chars).last().map_or(found.start, |(at, _)| at);
    let end = text[found.end..].char_indices().nth(chars).map_or(text.len(), |(at, _)| found.end + at);
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", mark(begin > 0), &text[begin..end], mark(end < text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_what_does_not_overlap() {
        let check = |pattern: Pattern, text: &str, expect: u64| assert_eq!(pattern.count(text), expect, "{pattern:?}");
        let text = |text: &str| Pattern::text(text, false).unwrap();
        check(text("aa"), "aaaaa", 2);
        check(text("Ant"), "ant Ant ANT", 1);
        check(text("žá"), "žába Žába", 1);
        check(text("two\n  words"), "two words", 1);
        check(text("ant "), "ants ant", 0);
        check(text(" ant"), "an ant", 1);
        check(Pattern::text("Ant.", true).unwrap(), "ant. ants", 1);
        check(Pattern::regex("a.?t", false).unwrap(), "at ant aXXt", 2);
        check(Pattern::regex("x*", false).unwrap(), "axxb", 1);
        assert_eq!(Pattern::text(" \t", false).unwrap_err(), PatternError::Empty);
        assert_eq!(Pattern::regex("", false).unwrap_err(), PatternError::Empty);
        let error = Pattern::regex("a(", false).map(|_| ()).expect_err("no group ends").to_string();
        assert_eq!(error, "`a(` is no regular expression: unclosed group");
    }

    #[test]
    fn context_is_cut_between_characters() {
        let check = |text: &str, chars: usize, expect: &str| {
            let found = Pattern::text("frog", false).unwrap().first(text).unwrap();
            assert_eq!(around(text, found, chars), expect);
        };
        check("a frog here", 100, "a frog here");
        check("zelená žába is a frog, ďaleko", 4, "…s a frog, ďa…");
        check("frog", 0, "frog");
        check("žfrogž", 0, "…frog…");
        check("žfrogž", 1, "žfrogž");
    }
}
