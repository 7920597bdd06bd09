//! What a table of items has: how many rows have a value for each field now, and how that was round by round.
//!
//! A page on which a rule finds nothing has no row, so rows alone do not show that a rule ceased to match. The table of pages says which pages
//! were visited again: those that had rows at the visit before, and have none now, have lost them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use arrow_array::{Array as _, RecordBatch};
use model::Outcome;
use serde::{Deserialize, Serialize};
use weburl::{CanonicalUrl, UrlKey};

use crate::items::{OF_EVERY_TABLE, RULE_KEY};
use crate::read::{covered, metadata_of, schema_of};
use crate::schema::{ITEM_KEY, Table};
use crate::{Batches, Column as _, DatasetError, Layout, superseded};

/// The columns of pages that say what a visit found.
const OF_VISITS: [&str; 8] = ["url_key", "round", "visit", "outcome", "status", "kind", "duplicate_of", "redirect_to"];

/// Rows of a table of items.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// All rows.
    pub rows: u64,
    /// Rows with a value, by field, in the order of the columns.
    pub filled: Vec<(String, u64)>,
}

/// What a round found for a rule. Pages are those that had a row at this or an earlier visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemRound {
    /// The rows of the pages that it visited. Unchanged ones have those that they had.
    pub now: Fill,
    /// Among them the rows of pages that were there at an earlier visit.
    pub again: Fill,
    /// The rows that these pages had at the visit before.
    pub before: Fill,
    /// How many of these pages had rows at the visit before.
    pub pages_before: u64,
    /// How many of those have a content, and no rows any more.
    pub pages_lost: u64,
    /// The rows that those had.
    pub rows_lost: u64,
    /// Pages that had rows at the visit before, and are gone or moved. They are in none of the other numbers.
    pub pages_gone: u64,
}

/// What a table of items has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemCounts {
    /// The rows that no later visit has superseded.
    pub current: Fill,
    /// What each round found that visited a page of the rule.
    pub rounds: BTreeMap<u32, ItemRound>,
}

impl Fill {
    /// The same fields, without rows.
    fn of(fields: &[String]) -> Self {
        Fill { rows: 0, filled: fields.iter().map(|name| (name.clone(), 0)).collect() }
    }

    /// Adds rows; of fields that are not known yet as well.
    pub fn add(&mut self, more: &Fill) {
        self.rows += more.rows;
        for (name, count) in &more.filled {
            match self.filled.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += count,
                None => self.filled.push((name.clone(), *count)),
            }
        }
    }

    fn add_row(&mut self, batch: &RecordBatch, row: usize) {
        self.rows += 1;
        for (name, count) in &mut self.filled {
            *count += u64::from(has_value(batch, name, row));
        }
    }

    /// Adds the rows of a visit, which counts the same fields.
    fn add_visit(&mut self, seen: &Seen) {
        self.rows += u64::from(seen.rows);
        for ((_, sum), count) in self.filled.iter_mut().zip(&seen.filled) {
            *sum += u64::from(*count);
        }
    }
}

impl ItemRound {
    fn of(fields: &[String]) -> Self {
        let none = Fill::of(fields);
        ItemRound { now: none.clone(), again: none.clone(), before: none, ..ItemRound::default() }
    }

    /// Adds what the same round found elsewhere.
    pub fn add(&mut self, more: &ItemRound) {
        let ItemRound { now, again, before, pages_before, pages_lost, rows_lost, pages_gone } = more;
        self.now.add(now);
        self.again.add(again);
        self.before.add(before);
        self.pages_before += pages_before;
        self.pages_lost += pages_lost;
        self.rows_lost += rows_lost;
        self.pages_gone += pages_gone;
    }

    /// Adds a page that had a content at the visit before, and has one now.
    fn add_again(&mut self, before: &Seen, now: Option<&Seen>) {
        self.before.add_visit(before);
        now.into_iter().for_each(|now| self.again.add_visit(now));
        if before.rows > 0 {
            self.pages_before += 1;
            if now.is_none_or(|now| now.rows == 0) {
                self.pages_lost += 1;
                self.rows_lost += u64::from(before.rows);
            }
        }
    }
}

impl ItemCounts {
    /// Adds what other files have.
    pub fn add(&mut self, more: &ItemCounts) {
        self.current.add(&more.current);
        for (round, more) in &more.rounds {
            self.rounds.entry(*round).or_default().add(more);
        }
    }
}

/// Counts the rows of a table of items.
///
/// # Errors
/// A file cannot be read.
pub fn item_counts(layout: &Layout, table: &str) -> Result<ItemCounts, DatasetError> {
    let files = layout.item_files(table)?;
    let Some(newest) = files.last() else { return Ok(ItemCounts::default()) };
    let fields = fields_of(newest)?;
    // What another rule found cannot be compared.
    let rule = match layout.rules().rules.iter().find(|rule| rule.name == table) {
        Some(rule) => Some(rule.text().to_owned()),
        None => metadata_of(newest, RULE_KEY)?,
    };
    let mut compared = BTreeSet::new();
    for file in &files {
        if metadata_of(file, RULE_KEY)? == rule {
            compared.insert(file.clone());
        }
    }
    let pages = pages_beside(layout, table, &compared)?;
    let has_history = has_several_rounds(&pages)?;
    let mut counts = ItemCounts { current: Fill::of(&fields), rounds: BTreeMap::new() };
    let mut history = History::default();
    for file in &files {
        let superseded = superseded::of_file(layout.root(), file)?;
        let is_compared = compared.contains(file);
        for batch in Batches::of_file(file, &[]) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let key = batch.key(ITEM_KEY, row);
                if key.is_none_or(|key| !superseded.contains(&key)) {
                    counts.current.add_row(&batch, row);
                }
                match key.filter(|_| has_history) {
                    _ if !is_compared => {}
                    Some(key) => history.add_row(key, &fields, &batch, row),
                    None => {
                        let round = number(&batch, "round", row);
                        counts.rounds.entry(round).or_insert_with(|| ItemRound::of(&fields)).now.add_row(&batch, row);
                    }
                }
            }
        }
    }
    if has_history {
        history.read_pages(&pages)?;
        counts.rounds = history.rounds(&fields);
    }
    Ok(counts)
}

/// The fields of the rule that made a file.
fn fields_of(file: &Path) -> Result<Vec<String>, DatasetError> {
    let schema = schema_of(file)?;
    let names = schema.fields().iter().map(|field| field.name());
    Ok(names.filter(|name| !OF_EVERY_TABLE.contains(&name.as_str())).cloned().collect())
}

/// The files of pages of whose visits these files of items have all rows: a rule may be added or removed between two visits.
fn pages_beside(layout: &Layout, table: &str, items: &BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, DatasetError> {
    let mut pages = Vec::new();
    for file in layout.files(Table::Pages)? {
        let beside = layout.items(table, &file.file_stem().unwrap_or_default().to_string_lossy());
        if items.contains(&beside) && covered(&beside)? == covered(&file)? {
            pages.push(file);
        }
    }
    Ok(pages)
}

/// Whether pages were visited in more than one round.
fn has_several_rounds(pages: &[PathBuf]) -> Result<bool, DatasetError> {
    let mut first = None;
    for file in pages {
        for batch in Batches::of_file(file, &["round"]) {
            let batch = batch?;
            for row in 0..batch.num_rows() {
                let round = number(&batch, "round", row);
                if *first.get_or_insert(round) != round {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn number(batch: &RecordBatch, column: &str, row: usize) -> u32 {
    batch.number(column, row).and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}

fn has_value(batch: &RecordBatch, field: &str, row: usize) -> bool {
    batch.column_by_name(field).is_some_and(|column| column.is_valid(row))
}

/// A visit of a page that had a row at some time.
struct Seen {
    key: UrlKey,
    visit: u32,
    round: u32,
    found: Found,
    rows: u32,
    /// Rows with a value, by field; empty without rows.
    filled: Vec<u32>,
}

/// What a visit says of its page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A content of its own.
    Content,
    /// The content of another page.
    Copy(UrlKey),
    /// That nothing has changed.
    Same,
    /// That there is no page any more, or that it is elsewhere.
    Gone,
}

impl Found {
    /// `None` of a visit that gives no information.
    fn of(batch: &RecordBatch, row: usize, key: UrlKey) -> Option<Self> {
        let key_in = |column| Some(CanonicalUrl::from_canonical(batch.text(column, row)?)?.key());
        let outcome = batch.text("outcome", row)?;
        let is = |known: Outcome| outcome == known.as_str();
        let has_content = |known: &Outcome| known.has_content() && is(*known);
        match () {
            // A row may lack its content, since that is in an archive which cannot be read.
            () if Outcome::ALL.iter().any(has_content) => batch.text("kind", row).map(|_| Found::Content),
            () if is(Outcome::Duplicate) => key_in("duplicate_of").map(Found::Copy),
            () if is(Outcome::NotModified) => Some(Found::Same),
            // What redirects to itself is in trouble.
            () if is(Outcome::Redirect) => Some(Found::Gone).filter(|_| key_in("redirect_to") != Some(key)),
            () if is(Outcome::HttpError) => {
                matches!(batch.number("status", row), Some(404 | 410)).then_some(Found::Gone)
            }
            () => None,
        }
    }
}

/// The visits of all pages that had a row at some time.
#[derive(Default)]
struct History {
    seen: Vec<Seen>,
}

impl History {
    /// Adds a row. Those of a visit follow each other.
    fn add_row(&mut self, key: UrlKey, fields: &[String], batch: &RecordBatch, row: usize) {
        let visit = number(batch, "visit", row);
        if self.seen.last().is_none_or(|last| (last.key, last.visit) != (key, visit)) {
            let round = number(batch, "round", row);
            let filled = vec![0; fields.len()];
            self.seen.push(Seen { key, visit, round, found: Found::Content, rows: 0, filled });
        }
        let Some(seen) = self.seen.last_mut() else { return };
        seen.rows += 1;
        for (name, count) in fields.iter().zip(&mut seen.filled) {
            *count += u32::from(has_value(batch, name, row));
        }
    }

    /// Adds the visits of the same pages that gave no row.
    fn read_pages(&mut self, pages: &[PathBuf]) -> Result<(), DatasetError> {
        let keys: HashSet<UrlKey> = self.seen.iter().map(|seen| seen.key).collect();
        for file in pages {
            for batch in Batches::of_file(file, &OF_VISITS) {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    let Some(key) = batch.key("url_key", row).filter(|key| keys.contains(key)) else { continue };
                    let Some(found) = Found::of(&batch, row, key) else { continue };
                    let (visit, round) = (number(&batch, "visit", row), number(&batch, "round", row));
                    self.seen.push(Seen { key, visit, round, found, rows: 0, filled: Vec::new() });
                }
            }
        }
        Ok(())
    }

    /// Compares each visit with the one before.
    fn rounds(mut self, fields: &[String]) -> BTreeMap<u32, ItemRound> {
        // Of a visit with rows there is an entry without, too.
        self.seen.sort_unstable_by_key(|seen| (seen.key, seen.visit, Reverse(seen.rows)));
        self.seen.dedup_by_key(|seen| (seen.key, seen.visit));
        let mut rounds = BTreeMap::new();
        for visits in self.seen.chunk_by(|one, next| one.key == next.key) {
            self.compare(visits, fields, &mut rounds);
        }
        rounds
    }

    /// Compares the visits of a page.
    fn compare(&self, visits: &[Seen], fields: &[String], rounds: &mut BTreeMap<u32, ItemRound>) {
        let mut before: Option<&Seen> = None;
        let mut had_rows = false;
        for visits in visits.chunk_by(|one, next| one.round == next.round) {
            let Some(now) = last_of(visits) else { continue };
            had_rows |= now.rows > 0;
            let earlier = before;
            before = match now.found {
                Found::Same => earlier,
                Found::Gone => None,
                Found::Content | Found::Copy(_) => Some(now),
            };
            if !had_rows {
                continue;
            }
            let round = rounds.entry(now.round).or_insert_with(|| ItemRound::of(fields));
            let rows_now = match now.found {
                Found::Content => Some(now),
                Found::Same => earlier,
                Found::Copy(_) | Found::Gone => None,
            };
            rows_now.into_iter().for_each(|rows| round.now.add_visit(rows));
            let Some(earlier) = earlier else { continue };
            match now.found {
                Found::Gone => round.pages_gone += u64::from(earlier.rows > 0),
                // The rows are those of the original.
                Found::Copy(original) if self.has_rows(original, now.round) => {}
                Found::Content | Found::Same | Found::Copy(_) => round.add_again(earlier, rows_now),
            }
        }
    }

    /// Whether a page had rows at its last visit up to a round.
    fn has_rows(&self, key: UrlKey, round: u32) -> bool {
        let first = self.seen.partition_point(|seen| seen.key < key);
        let visits = self.seen[first..].iter().take_while(|seen| seen.key == key && seen.round <= round);
        visits.filter(|seen| seen.found != Found::Same).last().is_some_and(|last| last.rows > 0)
    }
}

/// The visit of a round that says what is there.
fn last_of(visits: &[Seen]) -> Option<&Seen> {
    visits.iter().rev().find(|seen| seen.found != Found::Same).or(visits.last())
}

#[cfg(test)]
mod tests;
