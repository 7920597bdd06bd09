//! What a change would affect: what the server has counted in a moment, and all of it when that is there.

use std::sync::Arc;
use std::time::Duration;

use api::{SteerCount, SteerResponse};
use axum::response::Html;
use crawl::Change;
use maud::{Markup, html};
use printable::{Printable, counted};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::answers::{Words, page_of};
use crate::{frame, links, steer};

use super::told::text;

/// How long a page waits for the whole count. Then it shows what was counted in the first moment.
const WAIT_MAX: Duration = Duration::from_millis(700);

/// The whole count, or why there is none; `None` while it goes on.
pub(super) type Whole = watch::Receiver<Option<Result<Arc<SteerResponse>, String>>>;

/// What a form came to.
#[derive(Clone)]
pub(super) enum Answer {
    /// What was done.
    Words(Words),
    /// What a change would affect. The count goes on.
    Effect(Arc<Effect>),
}

/// What a change would affect.
pub(super) struct Effect {
    change: Change,
    first: Arc<SteerResponse>,
    whole: Whole,
}

/// How far a count is, and why it ended early.
struct SoFar {
    counted: Arc<SteerResponse>,
    is_over: bool,
    failed: Option<String>,
}

impl Effect {
    /// Of a change, by the first answer of the server, and by the whole count.
    pub(super) fn new(change: Change, first: Arc<SteerResponse>, whole: Whole) -> Self {
        Effect { change, first, whole }
    }

    /// How far the count is, after a moment if it goes on.
    async fn so_far(&self) -> SoFar {
        let mut whole = self.whole.clone();
        let waited = timeout(WAIT_MAX, whole.wait_for(Option::is_some)).await;
        let (counted, is_over, failed) = match waited {
            Err(_) => (None, false, None),
            Ok(Err(_)) => (None, true, Some("another change was looked at".to_owned())),
            Ok(Ok(whole)) => match whole.clone() {
                Some(Err(why)) => (None, true, Some(why)),
                told => (told.and_then(Result::ok), true, None),
            },
        };
        SoFar { counted: counted.unwrap_or_else(|| self.first.clone()), is_over, failed }
    }

    /// The page of it, with the form that makes the change.
    pub(super) async fn page(&self, number: u64, date: &Markup) -> Html<String> {
        let so_far = self.so_far().await;
        let (what, values) = self.change.words();
        let link = page_of(number);
        let body = html! {
            p { strong { (Printable(&self.change.to_string())) } }
            // The script reads this part again until nothing more is counted.
            div #effect data-reread=[(!so_far.is_over).then_some(&link)] {
                (said(&self.change, &so_far))
                @if !so_far.is_over { p { a href=(link) { "Look again" } } }
            }
            @for note in &so_far.counted.notes { p { (Printable(note)) } }
            (date)
            form method="post" action="/steer" {
                (links::hidden("what", what)) (links::hidden("to", &values.join("\n"))) (links::hidden("sure", "yes"))
                button { "Do it" }
                " " a href="/steer" { "Cancel" }
            }
        };
        frame::page("Effect of the change", "/steer", &body)
    }
}

/// The count in words, and by site.
fn said(change: &Change, SoFar { counted: answer, failed, .. }: &SoFar) -> Markup {
    let (by_site, notes, so_far) = (Vec::new(), Vec::new(), None);
    let numbers = text(&SteerResponse { by_site, notes, so_far, ..SteerResponse::clone(answer) });
    let of_sites = answer.by_site.iter().map(|of| (of.site.clone(), [of.queued, of.fetched, of.again]));
    html! {
        p role="status" {
            @match (change, answer.so_far) {
                (Change::Stop, _) => { "All workers hand over their sites, seal their segments, and end." }
                (_, None) => { (numbers) "." }
                (_, Some(SteerCount { looked_at, known })) => {
                    (numbers) ", so far: " (looked_at) " of " (counted(known, "URL")) " looked at."
                }
            }
        }
        @if let Some(why) = failed { p { "It was not counted to the end: " (Printable(why)) "." } }
        @if answer.by_site.len() > 1 { (steer::sites(false, of_sites)) }
    }
}

#[cfg(test)]
mod tests {
    use api::SteeredSite;

    use super::*;

    type Whole = watch::Sender<Option<Result<Arc<SteerResponse>, String>>>;

    fn effect(first: SteerResponse) -> (Whole, Effect) {
        let (told, whole) = watch::channel(None);
        (told, Effect { change: Change::Exclude(vec!["*/x".to_owned()]), first: Arc::new(first), whole })
    }

    fn response(queued: u64, so_far: Option<SteerCount>) -> SteerResponse {
        let site = |n: u64| SteeredSite { site: format!("http://s{n}.test"), queued, ..SteeredSite::default() };
        SteerResponse { queued, by_site: vec![site(1), site(2)], so_far, ..SteerResponse::default() }
    }

    #[tokio::test]
    async fn a_page_has_what_was_counted_first_and_then_all_of_it() {
        let (told, effect) = effect(response(7, Some(SteerCount { looked_at: 2_048, known: 10_000 })));
        let date = html! {};
        let first = effect.page(5, &date).await.0;
        for expect in [
            "would concern 7 URLs",
            "so far: 2048 of 10000 URLs",
            "data-reread=\"/steer/answer?number=5\"",
            ">http://s2.test</a>",
        ] {
            assert!(first.contains(expect), "{expect}: {first}");
        }
        told.send_replace(Some(Ok(Arc::new(response(9, None)))));
        let whole = effect.page(5, &date).await.0;
        assert!(
            whole.contains("would concern 9 URLs") && !whole.contains("so far") && !whole.contains("data-reread"),
            "{whole}"
        );
    }

    #[tokio::test]
    async fn a_count_that_does_not_end_says_why() {
        let so_far = Some(SteerCount { looked_at: 1, known: 2 });
        let (told, failed) = effect(response(7, so_far));
        told.send_replace(Some(Err("no <answer>".to_owned())));
        let page = failed.page(5, &html! {}).await.0;
        assert!(page.contains("not counted to the end: no &lt;answer&gt;.") && !page.contains("data-reread"), "{page}");
        let (told, replaced) = effect(response(7, so_far));
        drop(told);
        assert!(replaced.page(5, &html! {}).await.0.contains("another change was looked at"));
    }
}
