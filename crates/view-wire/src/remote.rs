//! The side that asks.

use std::cell::Cell;
use std::io::{Read, Write};
use std::sync::{Mutex, PoisonError};

use model::{Outcome, Position, Queued, SiteRecord, Visit};
use store::{CrawlView, Entry, Mark, Outlines, Segment, Slice, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::frame::{read, write};
use crate::{ENTRIES_MAX, GREETING, Question, Response, WireError};

const DOING: &str = "asking the running crawl";

/// The state of a crawl that runs in another process, after one commit.
pub struct RemoteView<S> {
    /// `None` after an answer that did not come in time, or was none: what comes then may be the answer to an earlier question.
    stream: Mutex<Option<S>>,
}

impl<S: Read + Write + Send> RemoteView<S> {
    /// Takes up a connection to [`crate::serve`].
    ///
    /// # Errors
    /// The stream breaks, or another version of the program is at its other end.
    pub fn new(mut stream: S) -> Result<Self, WireError> {
        match read::<String>(&mut stream)? {
            Some(greeting) if greeting == GREETING => Ok(RemoteView { stream: Mutex::new(Some(stream)) }),
            Some(_) => Err(WireError::Version),
            None => Err(WireError::Io(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Puts a question to the scheduler of the run. `None` if it cannot be asked.
    ///
    /// # Errors
    /// The stream breaks.
    pub fn ask_scheduler(&self, question: String) -> Result<Option<String>, StoreError> {
        self.ask(&Question::Scheduler(question), |answer| match answer {
            Response::Scheduler(said) => Some(said),
            _ => None,
        })
    }

    fn ask<T>(&self, question: &Question, wanted: impl FnOnce(Response) -> Option<T>) -> Result<T, StoreError> {
        let mut held = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stream) = held.as_mut() else { return Err(failed("it has failed to answer before".to_owned())) };
        let answer = write(stream, question).and_then(|()| read::<Response>(stream));
        let answer = answer.map_err(|error| match error {
            WireError::Io(error) => StoreError::Ended { detail: format!(" ({error})") },
            error => {
                *held = None;
                failed(error.to_string())
            }
        });
        match answer? {
            Some(Response::Failed(error)) => Err(failed(error)),
            Some(answer) => wanted(answer).ok_or_else(|| failed("the answer is to another question".to_owned())),
            None => Err(StoreError::Ended { detail: String::new() }),
        }
    }

    /// Asks for as many as are given out at once, and for more until there are as many as are wanted.
    fn all<T, K>(
        &self,
        mut after: Option<K>,
        max: usize,
        ask: impl Fn(Option<K>, usize) -> Result<Vec<T>, StoreError>,
        key: impl Fn(&T) -> K,
    ) -> Result<Vec<T>, StoreError> {
        let mut all: Vec<T> = Vec::new();
        loop {
            let wanted = (max - all.len()).min(ENTRIES_MAX);
            let some = ask(after, wanted)?;
            let is_last = some.len() < wanted;
            after = some.last().map(&key);
            all.extend(some);
            if is_last || all.len() >= max {
                return Ok(all);
            }
        }
    }
}

fn failed(detail: String) -> StoreError {
    StoreError::Backend { doing: DOING, source: detail.into() }
}

fn entries(answer: Response) -> Option<Vec<Entry>> {
    match answer {
        Response::Entries(entries) => Some(entries),
        _ => None,
    }
}

impl<S: Read + Write + Send> CrawlView for RemoteView<S> {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        let queue = |answer| match answer {
            Response::Queue(queue) => Some(queue),
            _ => None,
        };
        let ask = |after, max| self.ask(&Question::Pending { site, after, max }, queue);
        self.all(after, max, ask, |queued| queued.candidate.position())
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.ask(&Question::Get(key), |answer| match answer {
            Response::Entry(entry) => Some(entry.map(|entry| *entry)),
            _ => None,
        })
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.ask(&Question::Earlier(key), |answer| match answer {
            Response::Visits(visits) => Some(visits),
            _ => None,
        })
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let ask = |after, max| self.ask(&Question::Scan { after, max }, entries);
        self.all(after, max, ask, |entry| entry.candidate.url.key())
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let ask = |after, max| self.ask(&Question::Unrecorded { after, max }, entries);
        self.all(after, max, ask, |entry| entry.candidate.url.key())
    }

    fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let has_index = Cell::new(true);
        let found = |answer| match answer {
            Response::InState(entries) => Some(entries),
            _ => None,
        };
        let ask = |after, max| {
            let entries = self.ask(&Question::InState { outcome, after, max }, found)?;
            has_index.set(entries.is_some());
            Ok(entries.unwrap_or_default())
        };
        let entries = self.all(after, max, ask, |entry| entry.candidate.url.key())?;
        Ok(Some(entries).filter(|_| has_index.get()))
    }

    fn outlines(&self, slice: Option<Slice>, from: Option<&Mark>, max: usize) -> Result<Option<Outlines>, StoreError> {
        let question = Question::Outlines { slice, from: from.cloned(), max };
        self.ask(&question, |answer| match answer {
            Response::Outlines(outlines) => Some(outlines),
            _ => None,
        })
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.ask(&Question::Site(key), |answer| match answer {
            Response::Site(site) => Some(site.map(|site| *site)),
            _ => None,
        })
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        let sites = |answer| match answer {
            Response::Sites(sites) => Some(sites),
            _ => None,
        };
        self.all(after, max, |after, max| self.ask(&Question::Sites { after, max }, sites), |site| site.site.key())
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.ask(&Question::Seeds, |answer| match answer {
            Response::Seeds(seeds) => Some(seeds),
            _ => None,
        })
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.ask(&Question::Segments, |answer| match answer {
            Response::Segments(segments) => Some(segments),
            _ => None,
        })
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        self.ask(&Question::CrawlId, |answer| match answer {
            Response::CrawlId(id) => Some(id),
            _ => None,
        })
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        self.ask(&Question::Totals, |answer| match answer {
            Response::Totals(totals) => Some(totals),
            _ => None,
        })
    }
}
