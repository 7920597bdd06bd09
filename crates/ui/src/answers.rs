//! What came of the forms that were sent last. A form leads to a page with a number, so a reload of that page sends no form again.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::response::{Html, IntoResponse, Redirect, Response};
use engine::clock::Clock;
use maud::{Markup, html};
use model::Timestamp;

use crate::base::to;
use crate::failure::Failure;
use crate::frame;
use crate::query::{Fields, with_fields};

/// Answers that are kept, of all readers.
const KEPT_MAX: usize = 16;

/// The last answers, each with its number.
pub(crate) struct Answers<T>(Mutex<VecDeque<(u64, T)>>);

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Answers(Mutex::default())
    }
}

impl<T: Clone> Answers<T> {
    /// Keeps an answer, and leads to its page.
    pub(crate) fn lead_to(&self, answer: T) -> Response {
        Redirect::to(&page_of(self.keep(answer))).into_response()
    }

    /// Keeps an answer in place of the oldest one. Its number is its date in microseconds, so no two processes give the same.
    fn keep(&self, answer: T) -> u64 {
        let mut kept = self.kept();
        let next = kept.back().map_or(0, |(last, _)| last + 1);
        let number = Clock::start().date().0.max(next);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((number, answer));
        number
    }

    /// The answer with this number.
    ///
    /// # Errors
    /// It is not kept.
    pub(crate) fn get(&self, number: u64) -> Result<T, Failure> {
        let kept = self.kept();
        let answer = kept.iter().find(|(of, _)| *of == number).map(|(_, answer)| answer.clone());
        answer.ok_or_else(|| {
            Failure::NotFound("this answer is no longer kept: the page Steer has the changes that were made".to_owned())
        })
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The page of the answer with this number.
pub(crate) fn page_of(number: u64) -> String {
    with_fields("/steer/answer", &[("number", &number.to_string())])
}

/// The number in a request for such a page.
pub(crate) fn number(query: Option<String>) -> u64 {
    Fields::parse(&query.unwrap_or_default()).get("number").parse().unwrap_or_default()
}

/// The date of the answer with this number.
pub(crate) fn date_of(number: u64) -> Markup {
    let date = Timestamp(number).to_rfc3339();
    html! { p.count { "As of " time datetime=(date) { (date) } "." } }
}

/// An answer in words.
#[derive(Clone)]
pub(crate) struct Words {
    pub(crate) title: &'static str,
    pub(crate) body: Markup,
}

impl Words {
    /// What was done, with a way back.
    pub(crate) fn done(title: &'static str, told: &Markup) -> Self {
        Words { title, body: html! { (told) p { a href=(to("/steer")) { "Back" } } } }
    }

    /// The page of the answer, which has this number.
    pub(crate) fn page(&self, number: u64) -> Html<String> {
        frame::page(self.title, "/steer", &html! { (self.body) (date_of(number)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answers_are_kept_for_all_readers() {
        let answers = Answers::default();
        let numbers: Vec<u64> = (0..=KEPT_MAX).map(|n| answers.keep(n)).collect();
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
        assert!(answers.get(numbers[0]).is_err(), "the oldest has made room");
        for (n, number) in numbers.iter().enumerate().skip(1) {
            assert_eq!(answers.get(*number).expect("kept"), n);
        }
    }

    #[test]
    fn the_next_process_gives_other_numbers() {
        let before = Clock::start().date().0;
        let number = Answers::default().keep(());
        assert!(number >= before, "{before} {number}");
    }
}
