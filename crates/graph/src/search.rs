//! Search: the pages that have a text, those that have it most often first.
//!
//! The text of a page is its title and what is visible of it, or its main text, as in the dataset: without tags, white space
//! collapsed. Every page is looked at: no index, so that an answer is exact however much was crawled just now (`docs/decisions`).
//! An exact duplicate of a page has the text that this page had when both were the same. What is around the text is looked up for the
//! duplicates of the answer alone.

mod copies;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use dataset::originals::{Fit, Repeated};
use dataset::schema::Table;
use dataset::{Column, DatasetError, Layout, supersedes_rows};
use memchr::memmem::Finder;
use model::Timestamp;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use weburl::{CanonicalUrl, SiteKey};

use self::copies::{Context, Copies, Earlier, Sought, contexts};
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

    /// The columns that [`Within::texts`] reads.
    fn text_columns(self) -> Vec<&'static str> {
        [&["title"], self.columns()].concat()
    }

    /// The texts of a row: its title, and its part.
    fn texts(self, batch: &dyn Column, row: usize) -> Vec<Cow<'_, str>> {
        let part = self.columns().iter().find_map(|column| batch.text(column, row)).map(collapsed);
        batch.text("title", row).map(Cow::Borrowed).into_iter().chain(part).collect()
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
        copies: Copies::default(),
        counts: HashMap::new(),
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
    /// Exact duplicates.
    copies: Copies,
    /// The current rows that have it, and how often.
    counts: HashMap<WireKey, u64>,
    error: Option<DatasetError>,
}

/// What a worker tells another.
#[derive(Clone, Serialize, Deserialize)]
enum Message {
    /// Whether rows of its pages are superseded.
    HasEarlier(bool),
    /// The pages that have it, and how often; and what its duplicates repeat, if that may be in superseded rows.
    Counts(Vec<(WireKey, u64)>, Vec<Sought>),
    /// What duplicates repeat, as far as its current rows have it.
    Current(Vec<Sought>),
    /// The other rows that may have what duplicates repeat.
    Earlier(Vec<Earlier>),
    /// What it found.
    Pages(Pages),
    /// The duplicates of the answer that need what is around the text: what they repeat.
    Wanted(Vec<Sought>),
    /// What is around the text where duplicates repeat it, from some rows.
    Contexts(Vec<Context>),
}

/// Pages that have it, the most important of them one by one.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Pages {
    pages: u64,
    occurrences: u64,
    /// Each with what it repeats, if it is a duplicate.
    rows: Vec<(FoundPage, Option<Sought>)>,
}

impl Pages {
    fn push(&mut self, row: FoundPage, repeats: Option<Sought>, limit: Option<usize>) {
        self.pages += 1;
        self.occurrences += row.occurrences;
        self.rows.push((row, repeats));
        // Now and then, so that it costs little.
        if limit.is_some_and(|limit| self.rows.len() >= (2 * limit).max(1_000)) {
            self.cut(limit);
        }
    }

    fn cut(&mut self, limit: Option<usize>) {
        self.rows.sort_unstable_by(|(a, _), (b, _)| b.occurrences.cmp(&a.occurrences).then_with(|| a.url.cmp(&b.url)));
        self.rows.truncate(limit.unwrap_or(usize::MAX));
    }
}

impl Searcher {
    /// The part of each dataset that this worker looks through, and how many parts there are.
    fn share(&self) -> (usize, usize) {
        (self.own % self.threads, self.threads)
    }

    /// Looks through this worker's share of the pages. Gives the keys of those that have it.
    fn scan(&mut self) -> Result<Vec<(WireKey, u64)>, DatasetError> {
        let mut counts = Vec::new();
        let columns = [
            &["url_key", "url", "fetched_at", "duplicate_of"],
            &Repeated::COLUMNS[..],
            &self.search.within.text_columns(),
        ];
        let columns = columns.concat();
        let (own, readers) = self.share();
        let share = |layout: &Layout| Ok(layout.batches(Table::Pages, &columns)?.share(own, readers));
        let batches = self.layouts.iter().map(share).collect::<Result<Vec<_>, DatasetError>>()?;
        for batch in batches.into_iter().flatten() {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let (Some(key), Some(url)) = (batch.key("url_key", row), batch.text("url", row)) else { continue };
                let is_wanted = self.search.only.has(key.site, batch.number("fetched_at", row));
                if let Some(original) = batch.text("duplicate_of", row).and_then(CanonicalUrl::from_canonical) {
                    if is_wanted {
                        self.copies.push(original.key(), Repeated::of_row(&batch, row), url);
                    }
                    continue;
                }
                let texts = self.search.within.texts(&batch, row);
                let occurrences = texts.iter().map(|text| self.search.pattern.count(text)).sum();
                if occurrences == 0 {
                    continue;
                }
                // Also of pages that are not wanted: their copies may be.
                counts.push((to_wire(key), occurrences));
                if !is_wanted {
                    continue;
                }
                let context = self.search.around(&texts);
                self.found.push(FoundPage { occurrences, url: url.to_owned(), context }, None, self.search.limit);
            }
        }
        Ok(counts)
    }

    /// Notes an error, with which the search ends. Until then, this worker has nothing to tell.
    fn noted<T: Default>(&mut self, result: Result<T, DatasetError>) -> T {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            T::default()
        })
    }

    fn send(&self, message: Message) -> Step<Message, <Self as Rounds>::Answer> {
        Step::Send(vec![message; self.peers])
    }

    /// Goes on with rows of earlier visits if duplicates repeat what no current row has. All workers know the same of that.
    fn seek_earlier(&mut self) -> Step<Message, <Self as Rounds>::Answer> {
        if self.copies.is_settled() {
            return self.finish();
        }
        let Search { within, pattern, .. } = &self.search;
        let count =
            |batch: &dyn Column, row| within.texts(batch, row).iter().map(|text| pattern.count(text)).sum::<u64>();
        let earlier = self.copies.earlier(&self.layouts, &within.text_columns(), self.share(), count);
        let earlier = self.noted(earlier);
        self.send(Message::Earlier(earlier))
    }

    /// Finds the duplicates that have it, and tells the first worker what this one found.
    fn finish(&mut self) -> Step<Message, <Self as Rounds>::Answer> {
        let counts = std::mem::take(&mut self.counts);
        let copies = std::mem::take(&mut self.copies);
        for (url, of, occurrences) in copies.into_found(|original| counts.get(&original).copied()) {
            self.found.push(FoundPage { occurrences, url, context: None }, Some(of), self.search.limit);
        }
        self.found.cut(self.search.limit);
        let found = std::mem::take(&mut self.found);
        self.send_to_first(Message::Pages(found), Message::Pages(Pages::default()))
    }

    /// Tells the first worker something, and the others that it is its turn.
    fn send_to_first(&self, message: Message, empty: Message) -> Step<Message, <Self as Rounds>::Answer> {
        let mut messages = vec![empty; self.peers];
        messages[0] = message;
        Step::Send(messages)
    }
}

impl Rounds for Searcher {
    type Message = Message;
    type Answer = Result<Option<SearchResult>, GraphError>;

    fn round(&mut self, inbox: Vec<Message>) -> Step<Message, Self::Answer> {
        match inbox.first() {
            None => {
                let has_earlier = self.layouts.iter().map(supersedes_rows).collect::<Result<Vec<bool>, _>>();
                let has_earlier = self.noted(has_earlier).contains(&true);
                self.send(Message::HasEarlier(has_earlier))
            }
            Some(Message::HasEarlier(_)) => {
                // The earlier rows of an original may be at another worker than its duplicates.
                let has_earlier = inbox.iter().any(|message| matches!(message, Message::HasEarlier(true)));
                let counts = self.scan();
                let counts = self.noted(counts);
                let repeated = if has_earlier { self.copies.repeated() } else { Vec::new() };
                self.send(Message::Counts(counts, repeated))
            }
            Some(Message::Counts(..)) => {
                for message in inbox {
                    let Message::Counts(counts, repeated) = message else { continue };
                    self.counts.extend(counts);
                    self.copies.seek(&repeated);
                }
                if self.copies.is_settled() {
                    return self.finish();
                }
                let current = self.copies.current(&self.layouts, self.share());
                let current = self.noted(current);
                self.send(Message::Current(current))
            }
            Some(Message::Current(_)) => {
                for message in &inbox {
                    let Message::Current(current) = message else { continue };
                    self.copies.is_current(current);
                }
                self.seek_earlier()
            }
            Some(Message::Earlier(_)) => {
                for message in &inbox {
                    let Message::Earlier(earlier) = message else { continue };
                    self.copies.take_earlier(earlier);
                }
                self.finish()
            }
            Some(Message::Pages(_)) => {
                self.gather(inbox);
                if self.search.context.is_none() {
                    return self.end();
                }
                let wanted: HashSet<Sought> = self.found.rows.iter().filter_map(|(_, repeats)| *repeats).collect();
                self.send(Message::Wanted(wanted.into_iter().collect()))
            }
            Some(Message::Wanted(_)) => {
                let mut wanted = Vec::new();
                for message in inbox {
                    let Message::Wanted(sought) = message else { continue };
                    wanted.extend(sought);
                }
                let search = &self.search;
                let around = |batch: &dyn Column, row| search.around(&search.within.texts(batch, row));
                let contexts = contexts(&wanted, &self.layouts, &search.within.text_columns(), self.share(), around);
                let contexts = self.noted(contexts);
                self.send_to_first(Message::Contexts(contexts), Message::Contexts(Vec::new()))
            }
            Some(Message::Contexts(_)) => {
                let mut best: HashMap<Sought, (Option<Fit>, String)> = HashMap::new();
                for message in inbox {
                    let Message::Contexts(contexts) = message else { continue };
                    for (sought, fit, context) in contexts {
                        let found = (fit, context);
                        let best = best.entry(sought).or_insert_with(|| found.clone());
                        if found.0 > best.0 {
                            *best = found;
                        }
                    }
                }
                for (page, repeats) in &mut self.found.rows {
                    let context = repeats.and_then(|repeats| best.get(&repeats)).map(|(_, context)| context.clone());
                    page.context = page.context.take().or(context);
                }
                self.end()
            }
        }
    }
}

impl Searcher {
    /// Puts together what all workers found.
    fn gather(&mut self, inbox: Vec<Message>) {
        for message in inbox {
            let Message::Pages(pages) = message else { continue };
            self.found.pages += pages.pages;
            self.found.occurrences += pages.occurrences;
            self.found.rows.extend(pages.rows);
        }
        self.found.cut(self.search.limit);
    }

    fn end(&mut self) -> Step<Message, <Self as Rounds>::Answer> {
        let Pages { pages, occurrences, rows } = std::mem::take(&mut self.found);
        let rows = rows.into_iter().map(|(page, _)| page).collect();
        Step::End(match self.error.take() {
            Some(error) => Err(error.into()),
            None => Ok((self.own == 0).then_some(SearchResult { pages, occurrences, rows })),
        })
    }
}

impl Search {
    /// What is around the first place in the texts of a page, if that is wanted. Where it is in the title alone, that is the title.
    fn around(&self, texts: &[Cow<'_, str>]) -> Option<String> {
        let chars = self.context?;
        texts.iter().rev().find_map(|text| Some(around(text, self.pattern.first(text)?, chars)))
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
