//! What came of the forms that were sent last. A form leads to a page with a number, so a reload of that page sends no form again.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
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

/// The last answers.
pub(crate) struct Answers<T>(Mutex<VecDeque<(u64, Dated<T>)>>);

/// An answer and its date.
#[derive(Clone)]
pub(crate) struct Dated<T> {
    pub(crate) answer: T,
    at: Timestamp,
}

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

    /// Keeps an answer in place of the oldest one. Nobody guesses its number: an answer may have the password of a seed.
    fn keep(&self, answer: T) -> u64 {
        let number = RandomState::new().build_hasher().finish();
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((number, Dated { answer, at: Clock::start().date() }));
        number
    }

    /// The answer with this number.
    ///
    /// # Errors
    /// It is not kept.
    pub(crate) fn get(&self, number: u64) -> Result<Dated<T>, Failure> {
        let kept = self.kept();
        let answer = kept.iter().find(|(of, _)| *of == number).map(|(_, answer)| answer.clone());
        answer.ok_or_else(|| {
            Failure::NotFound("this answer is no longer kept: the page Steer has the changes that were made".to_owned())
        })
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(u64, Dated<T>)>> {
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

impl<T> Dated<T> {
    /// The date in words.
    pub(crate) fn date(&self) -> Markup {
        let date = self.at.to_rfc3339();
        html! { p.count { "As of " time datetime=(date) { (date) } "." } }
    }
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

    /// The page of the answer, with its date.
    pub(crate) fn page(&self, date: &Markup) -> Html<String> {
        frame::page(self.title, "/steer", &html! { (self.body) (date) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answers_are_kept_for_all_readers() {
        let answers = Answers::default();
        let numbers: Vec<u64> = (0..=KEPT_MAX).map(|n| answers.keep(n)).collect();
        assert!(answers.get(numbers[0]).is_err(), "the oldest has made room");
        for (n, number) in numbers.iter().enumerate().skip(1) {
            assert_eq!(answers.get(*number).expect("kept").answer, n);
        }
    }

    #[test]
    fn nobody_guesses_the_number_of_an_answer() {
        let answers = Answers::default();
        let mut numbers: Vec<u64> = (0..100).map(|_| answers.keep(())).collect();
        numbers.sort_unstable();
        // Of so many random numbers two are as near to each other once in a million times.
        assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] > 1_000_000_000), "{numbers:?}");
    }
}
