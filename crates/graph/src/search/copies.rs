//! Exact duplicates in a search: each has the text that its original had when it had the same content.
//!
//! ```text
//! every worker: what its copies repeat ──▶ which of that current rows have ──▶ how often the text is in rows of earlier visits
//! ```
//!
//! In a crawl without rows that later visits have superseded, the text of an original is that of its only row.

use std::collections::{BTreeSet, HashMap, HashSet};

use dataset::originals::{Content, Fit, Repeated};
use dataset::schema::Table;
use dataset::{Batches, Column, DatasetError, Layout};
use weburl::UrlKey;

use crate::linking::{WireKey, from_wire, to_wire};

/// What a copy has in common with an original.
pub(super) type Sought = (WireKey, Repeated);

/// What a row of an earlier visit has: how well it fits, and how often the text is there.
pub(super) type Earlier = (Sought, Fit, u64);

/// What is around the text in a row, and how well the row fits what is repeated; `None` if it has another content.
pub(super) type Context = (Sought, Option<Fit>, String);

/// The copies of one worker.
#[derive(Default)]
pub(super) struct Copies {
    found: Vec<(Sought, String)>,
    /// What copies of all workers repeat; in the end only that which no current row has.
    sought: HashSet<Sought>,
    /// Of these the rows that fit best.
    earlier: HashMap<Sought, (Fit, u64)>,
}

impl Copies {
    pub(super) fn push(&mut self, original: UrlKey, repeated: Repeated, url: &str) {
        self.found.push(((to_wire(original), repeated), url.to_owned()));
    }

    /// What this worker's copies repeat.
    pub(super) fn repeated(&self) -> Vec<Sought> {
        let repeated: HashSet<Sought> = self.found.iter().map(|(sought, _)| *sought).collect();
        repeated.into_iter().collect()
    }

    /// Takes in what the copies of a worker repeat.
    pub(super) fn seek(&mut self, repeated: &[Sought]) {
        self.sought.extend(repeated);
    }

    /// Takes in that current rows have this.
    pub(super) fn is_current(&mut self, current: &[Sought]) {
        current.iter().for_each(|sought| {
            self.sought.remove(sought);
        });
    }

    /// Takes in rows of earlier visits.
    pub(super) fn take_earlier(&mut self, earlier: &[Earlier]) {
        for (sought, fit, occurrences) in earlier {
            let best = self.earlier.entry(*sought).or_insert((*fit, *occurrences));
            *best = (*best).max((*fit, *occurrences));
        }
    }

    /// Whether nothing is sought.
    pub(super) fn is_settled(&self) -> bool {
        self.sought.is_empty()
    }

    /// What is sought by its original.
    fn by_original(&self) -> HashMap<UrlKey, Vec<Repeated>> {
        let mut by_original: HashMap<UrlKey, Vec<Repeated>> = HashMap::new();
        for (original, repeated) in &self.sought {
            by_original.entry(from_wire(*original)).or_default().push(*repeated);
        }
        by_original
    }

    /// What is sought and a current row of a worker's share has.
    pub(super) fn current(&self, layouts: &[Layout], share: (usize, usize)) -> Result<Vec<Sought>, DatasetError> {
        let by_original = self.by_original();
        let mut current = Vec::new();
        for layout in layouts {
            each_content(rows(layout, &by_original, &[], share)?, |_, key, content| {
                let repeated = by_original.get(&key).into_iter().flatten();
                current.extend(repeated.filter(|of| of.is(content)).map(|of| (to_wire(key), *of)));
            })?;
        }
        Ok(current)
    }

    /// The rows of a worker's share, also of earlier visits, that may have what is sought. `count` says how often a row has the text, of which
    /// these are the columns.
    pub(super) fn earlier(
        &self,
        layouts: &[Layout],
        columns: &[&str],
        share: (usize, usize),
        count: impl Fn(&dyn Column, usize) -> u64,
    ) -> Result<Vec<Earlier>, DatasetError> {
        let by_original = self.by_original();
        let mut earlier: HashMap<Sought, (Fit, u64)> = HashMap::new();
        for layout in layouts {
            each_content(
                rows(layout, &by_original, columns, share)?.with_superseded(),
                |(batch, row), key, content| {
                    let repeated = by_original.get(&key).into_iter().flatten();
                    let fits: Vec<_> = repeated.filter_map(|of| Some((*of, of.fit(content)?))).collect();
                    if fits.is_empty() {
                        return;
                    }
                    let occurrences = count(batch, row);
                    for (of, fit) in fits {
                        let best = earlier.entry((to_wire(key), of)).or_insert((fit, occurrences));
                        *best = (*best).max((fit, occurrences));
                    }
                },
            )?;
        }
        Ok(earlier.into_iter().map(|(sought, (fit, occurrences))| (sought, fit, occurrences)).collect())
    }

    /// The copies that have the text, what each repeats, and how often it has the text. `of_current` says it of the original's current row.
    pub(super) fn into_found(
        self,
        of_current: impl Fn(WireKey) -> Option<u64>,
    ) -> impl Iterator<Item = (String, Sought, u64)> {
        let Copies { found, sought, earlier } = self;
        found.into_iter().filter_map(move |(of, url)| {
            let occurrences = match sought.contains(&of) {
                true => earlier.get(&of).map(|(_, occurrences)| *occurrences),
                false => of_current(of.0),
            };
            occurrences.filter(|occurrences| *occurrences > 0).map(|occurrences| (url, of, occurrences))
        })
    }
}

/// What is around the text where duplicates repeat it, from the rows of a worker's share that fit best. `around` says it of a row, of which these
/// are the columns.
pub(super) fn contexts(
    wanted: &[Sought],
    layouts: &[Layout],
    columns: &[&str],
    share: (usize, usize),
    around: impl Fn(&dyn Column, usize) -> Option<String>,
) -> Result<Vec<Context>, DatasetError> {
    let mut by_original: HashMap<UrlKey, Vec<Repeated>> = HashMap::new();
    for (original, repeated) in wanted {
        by_original.entry(from_wire(*original)).or_default().push(*repeated);
    }
    let mut contexts: HashMap<Sought, (Option<Fit>, String)> = HashMap::new();
    if by_original.is_empty() {
        return Ok(Vec::new());
    }
    for layout in layouts {
        each_content(rows(layout, &by_original, columns, share)?.with_superseded(), |(batch, row), key, content| {
            let Some(context) = around(batch, row) else { return };
            for of in by_original.get(&key).into_iter().flatten() {
                let (sought, fit) = ((to_wire(key), *of), of.fit(content));
                if contexts.get(&sought).is_none_or(|(best, _)| fit > *best) {
                    contexts.insert(sought, (fit, context.clone()));
                }
            }
        })?;
    }
    Ok(contexts.into_iter().map(|(sought, (fit, context))| (sought, fit, context)).collect())
}

/// A share of the rows of originals.
fn rows(
    layout: &Layout,
    originals: &HashMap<UrlKey, Vec<Repeated>>,
    columns: &[&str],
    (own, readers): (usize, usize),
) -> Result<Batches, DatasetError> {
    let columns = [&["url_key"], &Content::COLUMNS[..], columns].concat();
    let keys: BTreeSet<UrlKey> = originals.keys().copied().collect();
    Ok(layout.batches(Table::Pages, &columns)?.only_among("url_key", keys).share(own, readers))
}

/// Calls `each` for every row with a content of its own.
fn each_content(
    batches: Batches,
    mut each: impl FnMut((&dyn Column, usize), UrlKey, &Content),
) -> Result<(), DatasetError> {
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if let Some((key, content)) = batch.key("url_key", row).zip(Content::of_row(&batch, row)) {
                each((&batch, row), key, &content);
            }
        }
    }
    Ok(())
}
