//! Puts a question to all workers together, and gets the answer.

use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;

use anyhow::{Context, bail};
use hyper::Method;
use query_wire::{MEMBERS_MAX, PartResult, Run, Start, Started};
use tokio::task::JoinSet;
use tokio::time::sleep;
use weburl::CanonicalRules;

use super::client::Client;
use super::{QUERY_SECONDS_MAX, Query, QueryError, Request, why};
use crate::random::random_id;

/// How often a question is put, each time to those that are alive then.
const TRIES_MAX: u32 = 6;
/// The pause before the second try; before each further one it is twice as long. It ends early when the list of members changes.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the list of members is read, while a query runs and while one waits to restart.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The longest that a worker may take to begin: it may have to fetch segments before.
const START_TIME_MAX: Duration = Duration::from_secs(300);
/// The longest that a worker may take to end a query that was cancelled.
const CANCEL_TIME_MAX: Duration = Duration::from_secs(5);

/// Who answers, as of one moment: every page is in a segment of one of these workers, or in one of these segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    /// The workers that are alive, as `http://HOST:PORT`.
    pub workers: Vec<String>,
    /// The sealed segments of workers that are gone (`NAME.warc.gz`).
    pub segments: Vec<String>,
}

impl Members {
    /// The segments that each worker reads of those that are gone: each is read by one, and as few as possible change their reader
    /// when a worker comes or goes (rendezvous hashing).
    fn shares(&self) -> Vec<Vec<String>> {
        let mut shares = vec![Vec::new(); self.workers.len()];
        for segment in &self.segments {
            let weight = |worker: &String| *blake3::hash(format!("{segment} {worker}").as_bytes()).as_bytes();
            let reader = (0..shares.len()).max_by_key(|at| weight(&self.workers[*at]));
            if let Some(reader) = reader {
                shares[reader].push(segment.clone());
            }
        }
        shares
    }
}

/// Puts questions to workers.
#[derive(Clone, Debug, Default)]
pub struct Coordinator {
    canonical: CanonicalRules,
    client: Client,
}

impl Coordinator {
    /// URLs are canonical by these rules; the workers know requests by the token.
    #[must_use]
    pub fn new(canonical: CanonicalRules, token: Option<String>) -> Self {
        Coordinator { canonical, client: Client { token } }
    }

    /// The answer of those that `members` names. It is asked again while the query runs, and before each further try. Who drops the
    /// future cancels the query.
    ///
    /// # Errors
    /// The question is wrong, there are no workers, or in all tries one of them failed.
    pub async fn ask<R, M, F>(&self, request: &R, members: M) -> Result<R::Response, QueryError>
    where
        R: Request,
        M: Fn() -> F,
        F: Future<Output = anyhow::Result<Members>>,
    {
        let query = request.query(&self.canonical)?;
        let mut pause = PAUSE;
        let mut tries = 0;
        loop {
            let now = members().await.map_err(why)?;
            if now.workers.is_empty() {
                return Err(QueryError::Failed("no workers are alive: start some with `argiope worker`".to_owned()));
            }
            let failure = match self.answer(&query, &now, &members).await {
                Ok(Ok(answer)) => {
                    let answer = serde_json::from_value(answer).context("another version of the program answered");
                    return answer.map_err(why);
                }
                Ok(Err(QueryError::Lost(failure) | QueryError::Failed(failure))) => failure,
                Ok(Err(error)) => return Err(error),
                Err(error) => format!("{error:#}"),
            };
            tries += 1;
            if tries == TRIES_MAX {
                return Err(QueryError::Failed(format!("{failure} (the last of {TRIES_MAX} tries)")));
            }
            for _ in 0..pause.as_millis() / LOOK_EVERY.as_millis() {
                sleep(LOOK_EVERY).await;
                if members().await.map_err(why)? != now {
                    break;
                }
            }
            pause *= 2;
        }
    }

    /// One try. The inner error is what a worker says of its part.
    async fn answer<M, F>(
        &self,
        query: &Query,
        now: &Members,
        members: &M,
    ) -> anyhow::Result<Result<serde_json::Value, QueryError>>
    where
        M: Fn() -> F,
        F: Future<Output = anyhow::Result<Members>>,
    {
        if now.workers.len() > MEMBERS_MAX {
            bail!("{} workers: a query has {MEMBERS_MAX} at most", now.workers.len());
        }
        let trying = Try { client: &self.client, id: random_id()?, now };
        let ended = tokio::select! {
            ended = trying.run(query) => ended,
            error = gone(now, members) => Err(error),
        };
        if !matches!(ended, Ok(Ok(_))) {
            trying.cancel().await;
        }
        ended
    }
}

/// Waits until one of the workers is none any more.
async fn gone<M, F>(now: &Members, members: &M) -> anyhow::Error
where
    M: Fn() -> F,
    F: Future<Output = anyhow::Result<Members>>,
{
    loop {
        sleep(LOOK_EVERY).await;
        // Where that cannot be told, the query may be answered all the same.
        let Ok(alive) = members().await else { continue };
        let alive: HashSet<String> = alive.workers.into_iter().collect();
        if let Some(gone) = now.workers.iter().find(|worker| !alive.contains(*worker)) {
            return anyhow::anyhow!("{gone} has gone");
        }
    }
}

/// A try to have a query answered.
struct Try<'a> {
    client: &'a Client,
    id: String,
    now: &'a Members,
}

impl Try<'_> {
    async fn run(&self, query: &Query) -> anyhow::Result<Result<serde_json::Value, QueryError>> {
        let members = self.now.workers.len();
        let mut starting = JoinSet::new();
        for (index, (worker, segments)) in self.now.workers.iter().zip(self.now.shares()).enumerate() {
            let (client, worker) = (self.client.clone(), worker.clone());
            let start = Start { id: self.id.clone(), index, members, query: query.clone(), segments };
            starting.spawn(async move {
                let url = format!("{worker}/v1/queries");
                let started = client.send(Method::POST, &url, &start, START_TIME_MAX).await.context(worker);
                started.map(|started: Result<Started, QueryError>| (index, started))
            });
        }
        let mut started: Vec<Option<Started>> = vec![None; members];
        while let Some(one) = starting.join_next().await {
            let (index, one) = one??;
            match one {
                Ok(one) => started[index] = Some(one),
                Err(error) => return Ok(Err(error)),
            }
        }
        let started: Vec<Started> = started.into_iter().flatten().collect();
        let run = Run {
            // Every process of a dataflow has as many threads as the others.
            threads: started.iter().map(|started| started.threads).min().unwrap_or(1),
            addresses: started.into_iter().map(|started| started.address).collect(),
        };
        let mut running = JoinSet::new();
        for worker in &self.now.workers {
            let (client, run, worker) = (self.client.clone(), run.clone(), worker.clone());
            let url = format!("{worker}/v1/queries/{}/run", self.id);
            running.spawn(async move {
                let time_max = Duration::from_secs(QUERY_SECONDS_MAX);
                let ended: anyhow::Result<PartResult> = client.send(Method::POST, &url, &run, time_max).await;
                match ended {
                    Ok(Err(QueryError::Failed(failure))) => Ok(Err(QueryError::Failed(format!("{worker}: {failure}")))),
                    ended => ended.context(worker),
                }
            });
        }
        let mut lost = None;
        while let Some(ended) = running.join_next().await {
            match ended?? {
                Ok(Some(answer)) => return Ok(Ok(answer)),
                Ok(None) => {}
                // Who was lost, and why, another may say.
                Err(error @ QueryError::Lost(_)) => lost = Some(error),
                Err(error) => return Ok(Err(error)),
            }
        }
        lost.map(Err).context("no worker gave an answer")
    }

    /// Ends what is left of it. What cannot be reached ends by itself.
    async fn cancel(&self) {
        let mut cancelling = JoinSet::new();
        for worker in &self.now.workers {
            let (client, url) = (self.client.clone(), format!("{worker}/v1/queries/{}", self.id));
            cancelling.spawn(async move { client.send::<()>(Method::DELETE, &url, &(), CANCEL_TIME_MAX).await });
        }
        while cancelling.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_one_reader_who_keeps_it() {
        let members = |workers: &[&str]| Members {
            workers: workers.iter().map(|worker| format!("http://{worker}:1")).collect(),
            segments: (0..300).map(|number| format!("s-{number}.warc.gz")).collect(),
        };
        let readers = |workers: &[&str]| {
            let mut readers = std::collections::BTreeMap::new();
            for (worker, share) in workers.iter().zip(members(workers).shares()) {
                assert!(share.len() > 50, "{worker} {}", share.len());
                readers.extend(share.into_iter().map(|segment| (segment, (*worker).to_owned())));
            }
            assert_eq!(readers.len(), 300);
            readers
        };
        let (all, left) = (readers(&["a", "b", "c"]), readers(&["a", "c"]));
        assert!(all.iter().filter(|(_, reader)| *reader != "b").all(|(segment, reader)| left[segment] == *reader));
        assert!(Members::default().shares().is_empty());
    }
}
