//! `Changes`: what visits found changed.

use std::collections::BTreeMap;

use api::{ChangesRequest, ChangesResponse, PageChange};
use ask::changes::{Changed, ChangesError, Counts, Feed, HtmlPage, Question, Since, last_round};
use engine::clock::Clock;
use model::Timestamp;
use store::StoreError;
use store_postgres::cluster::Control;
use tonic::Status;

use super::explaining::seconds;
use super::service::Service;
use console::message::message;

/// Changes in an answer, unless the request says otherwise, and at most.
const CHANGES_DEFAULT: u32 = 1_000;
const CHANGES_MAX: u32 = 10_000;

/// The changes that a request chooses.
///
/// # Errors
/// The request is wrong, there is only one round, or the database failed.
pub(super) async fn changes(service: &Service, request: ChangesRequest) -> Result<ChangesResponse, Status> {
    let ChangesRequest { since, site, limit, document } = request;
    let document = Document::named(&document)?;
    let max = if limit == 0 { CHANGES_DEFAULT } else { limit.min(CHANGES_MAX) } as usize;
    let sites = service.sites(&site).await?;
    if !(since.is_finite() && since >= 0.0) {
        return Err(Status::invalid_argument(message(format_args!("since: {since} is no time in seconds since 1970"))));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time; later ones than there are end at the last"
    )]
    let time = Timestamp((since * 1e6) as u64);
    let answer = service
        .ask(move |control| {
            let now = Clock::start().date();
            let since = match (time, last_round(control)?) {
                (Timestamp(0), None) => return Ok(None),
                (Timestamp(0), Some(round)) => Since::Round(round.number),
                (from, _) => Since::Time { from, now },
            };
            let question = Question { since, through: None, sites, pages: None };
            if let Some(document) = document {
                return document.of(control, &question, (max, now)).map(Some);
            }
            let mut answer = ChangesResponse::default();
            let counted = ask::changes::changes(control, &question, &mut |changed| {
                match answer.changes.len() < max {
                    true => answer.changes.push(told(changed)),
                    false => answer.left_out += 1,
                }
                Ok(())
            });
            answer.counts = by_name(&read(counted)?);
            Ok(Some(answer))
        })
        .await?;
    answer.ok_or_else(|| {
        Status::failed_precondition(
            "the crawl had one round so far: Again begins another, `since` (--since) compares with a time",
        )
    })
}

/// A document of changes.
#[derive(Clone, Copy)]
enum Document {
    Feed,
    Html,
}

impl Document {
    fn named(name: &str) -> Result<Option<Self>, Status> {
        match name {
            "" => Ok(None),
            "feed" => Ok(Some(Document::Feed)),
            "html" => Ok(Some(Document::Html)),
            other => Err(Status::invalid_argument(message(format_args!(
                "document: {other} is none; possible are feed, html"
            )))),
        }
    }

    /// Of a page the first `max` changes; of a feed the newest.
    fn of(
        self,
        view: &Control,
        question: &Question,
        (max, now): (usize, Timestamp),
    ) -> Result<ChangesResponse, StoreError> {
        let (mut text, mut left_out) = (Vec::new(), 0);
        let crawl_id = view.crawl_id();
        let title = format!("Changes in the crawl {crawl_id}");
        let counts = match self {
            Document::Feed => {
                let mut feed = Feed::default();
                let counts = read(ask::changes::changes(view, question, &mut |changed| {
                    feed.add(changed);
                    Ok(())
                }))?;
                left_out = feed.left_out();
                feed.write(crawl_id, &title, now, &mut text).map_err(unwritten)?;
                counts
            }
            Document::Html => {
                let mut told = 0;
                let mut page = HtmlPage::begin(&mut text, &title).map_err(unwritten)?;
                let counts = read(ask::changes::changes(view, question, &mut |changed| {
                    told += 1;
                    if told > max {
                        left_out += 1;
                        return Ok(());
                    }
                    page.add(&changed)
                }))?;
                page.end(&counts).map_err(unwritten)?;
                counts
            }
        };
        let document = String::from_utf8_lossy(&text).into_owned();
        Ok(ChangesResponse { left_out, document, counts: by_name(&counts), ..ChangesResponse::default() })
    }
}

/// What was read; nothing else fails where the answer is memory.
fn read(counted: Result<Counts, ChangesError>) -> Result<Counts, StoreError> {
    match counted {
        Err(ChangesError::Store(error)) => Err(error),
        counted => Ok(counted.unwrap_or_default()),
    }
}

fn unwritten(error: std::io::Error) -> StoreError {
    StoreError::Backend { doing: "writing the changes", source: error.into() }
}

fn by_name(counts: &Counts) -> BTreeMap<String, u64> {
    counts.iter().map(|(change, count)| (change.to_string(), *count)).collect()
}

fn told(changed: Changed) -> PageChange {
    PageChange {
        id: changed.id,
        change: changed.change.to_string(),
        url: changed.url,
        at: seconds(changed.at),
        before_at: changed.before_at.map(seconds).unwrap_or_default(),
        status: changed.status.map(u32::from).unwrap_or_default(),
        target: changed.target.unwrap_or_default(),
        probable: changed.probable,
    }
}
