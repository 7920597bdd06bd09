//! The page with the effect of the change that was looked at last: a page of its own, to which a reader can come back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::response::Html;

/// The page, and its number, which tells it from others.
#[derive(Default)]
pub(super) struct LastEffect(Mutex<Option<(u64, Html<String>)>>);

impl LastEffect {
    /// Keeps a page in place of the last one, and gives its number.
    pub(super) fn keep(&self, page: Html<String>) -> u64 {
        let mut last = self.last();
        let number = last.as_ref().map_or(1, |(number, _)| number + 1);
        *last = Some((number, page));
        number
    }

    /// The page with this number, if it is the last one.
    pub(super) fn get(&self, number: u64) -> Option<Html<String>> {
        self.last().as_ref().filter(|(last, _)| *last == number).map(|(_, page)| page.clone())
    }

    fn last(&self) -> MutexGuard<'_, Option<(u64, Html<String>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
