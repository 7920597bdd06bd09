//! Where a crawl stands, as a value: what ends every crawl, and what `status` begins with.

use std::path::Path;
use std::time::Duration;

use engine::{End, Progress};
use model::Outcome;
use printable::counted;
use serde::Serialize;
use stages::{Snapshot, Spent, Stage};
use store::Totals;

use crate::left::Left;
use crate::passing::Passing;
use crate::trouble::{GivenUp, InTrouble};
use crate::{CrawlDir, Ended};

/// Where a crawl stands.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The crawl is one by several workers, whose server makes all changes.
    #[serde(skip)]
    pub of_workers: bool,
    /// `done`, `limit`, `stopped`, `held`, `waiting`; or `pending`, `finished` where no run is looked at.
    pub end: String,
    /// The limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Sites in trouble, whose URLs are in the frontier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_trouble: Option<InTrouble>,
    /// Sites that were given up, whose URLs ended as `given_up`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
    /// What the URLs in the frontier wait for; only of a run that sites in trouble or on hold have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// URLs whose last request failed in a way that may pass; only where it was asked for, and where they are not too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passing: Option<Passing>,
    /// URLs whose response the archive has lost; only where it was asked for, and where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// URLs known.
    pub urls: u64,
    /// URLs in the frontier that were never visited. Those to be visited again are in [`RoundSoFar::left`].
    pub frontier: u64,
    /// The round under way, or the last, where it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<RoundSoFar>,
    /// Pages and documents fetched.
    pub fetched: u64,
    /// URLs by outcome.
    pub outcomes: serde_json::Map<String, serde_json::Value>,
    /// Sites known.
    pub sites: u64,
    /// Sitemaps read.
    pub sitemaps: u64,
    /// What pages need to be shown, by outcome; none unless the crawl fetches that.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub requisites: serde_json::Map<String, serde_json::Value>,
    /// Payload bytes.
    pub bytes: u64,
    /// Visits, and of robots.txt sites, from which a limit or trap rule kept something, by [`Limit`]; none where nothing was left out.
    pub limits: serde_json::Map<String, serde_json::Value>,
    /// What this run did of it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// Where its time went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSpent>,
    /// Files in `archive/orphaned/` that can be adopted.
    #[serde(skip_serializing_if = "is_zero")]
    pub set_aside: usize,
    /// Files there of which nothing more can be adopted, and that have the only copy of something.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept_aside: usize,
    /// The crawl's directory.
    pub directory: String,
}

/// What a round came to so far.
#[derive(Debug, Serialize)]
pub struct RoundSoFar {
    /// Its number.
    pub number: u32,
    /// When it began.
    pub began_at: String,
    /// Pages and documents visited with success.
    pub fetched: u64,
    /// URLs left that are to be visited again.
    pub left: u64,
}

impl RoundSoFar {
    fn of(totals: &Totals) -> Option<Self> {
        let Totals { round, again, pages_of_round, .. } = totals;
        let began_at = round.began_at.to_rfc3339();
        (round.number > 1).then_some(RoundSoFar {
            number: round.number,
            began_at,
            fetched: *pages_of_round,
            left: *again,
        })
    }
}

/// What one run did.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Pages and documents fetched.
    #[serde(rename = "run_fetched")]
    pub fetched: u64,
    /// Payload bytes.
    #[serde(rename = "run_bytes")]
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// The most bytes that the sites at work took in memory, about.
    pub front_bytes_peak: usize,
    /// The bytes that they may take.
    pub front_bytes_max: usize,
    /// There were runs before it that fetched something.
    #[serde(skip)]
    pub is_further: bool,
}

impl Run {
    /// The run between two totals of the crawl, as its progress says that it ended.
    #[must_use]
    pub fn between(before: &Totals, after: &Totals, took: Duration, at_end: &Progress) -> Self {
        // Of a round that began in the run, only the run knows what was fetched before it.
        let pages = if after.round.number == before.round.number { after.pages_in_round() } else { at_end.pages };
        let bytes = match after.round.number {
            1 => after.bytes.saturating_sub(before.bytes),
            // Those of earlier rounds are not told apart from these.
            _ => at_end.bytes.saturating_sub(before.bytes_of_round),
        };
        Run {
            fetched: pages.saturating_sub(before.pages_in_round()),
            bytes,
            seconds: took.as_secs_f64(),
            front_bytes_peak: at_end.front_bytes_peak,
            front_bytes_max: at_end.front_bytes_max,
            is_further: before.fetched() > 0,
        }
    }
}

/// Where the time of a run went.
#[derive(Clone, Debug, Serialize)]
pub struct TimeSpent {
    /// Of the processor, in all.
    pub cpu_seconds: f64,
    /// By stage, in the order in which a page goes through them.
    pub stages: Vec<StageTime>,
}

/// What a stage took.
#[derive(Clone, Debug, Serialize)]
pub struct StageTime {
    /// Its name.
    pub stage: &'static str,
    /// How often it was gone through.
    pub count: u64,
    /// From its beginning to its end, all added up.
    pub wall_seconds: f64,
    /// Of the processor, estimated.
    pub cpu_seconds: f64,
}

impl TimeSpent {
    /// What was spent since a snapshot.
    #[must_use]
    pub fn since(before: &Snapshot) -> Self {
        let now = stages::snapshot();
        let stage = |(stage, spent): (Stage, Spent)| StageTime {
            stage: stage.as_str(),
            count: spent.count,
            wall_seconds: spent.wall.as_secs_f64(),
            cpu_seconds: spent.cpu.as_secs_f64(),
        };
        TimeSpent { cpu_seconds: now.cpu_since(before).as_secs_f64(), stages: now.since(before).map(stage).collect() }
    }
}

impl Summary {
    /// A summary of the totals of a store.
    #[must_use]
    pub fn new(end: &str, totals: &Totals, directory: &Path) -> Self {
        let outcomes = Outcome::ALL.iter().filter(|outcome| totals.count(**outcome) > 0);
        let orphans = archive::orphans(&directory.join("archive")).unwrap_or_default();
        Summary {
            of_workers: false,
            end: end.to_owned(),
            in_trouble: None,
            given_up: None,
            left: None,
            passing: None,
            lost: None,
            limit: None,
            urls: totals.urls,
            frontier: totals.pending.saturating_sub(totals.again),
            round: RoundSoFar::of(totals),
            fetched: totals.fetched(),
            outcomes: outcomes.map(|outcome| (outcome.to_string(), totals.count(*outcome).into())).collect(),
            sites: totals.sites,
            sitemaps: totals.sitemaps,
            requisites: totals
                .requisites
                .iter()
                .map(|(outcome, count)| (outcome.to_string(), (*count).into()))
                .collect(),
            bytes: totals.bytes,
            limits: totals.limits.iter().map(|(limit, count)| (limit.to_string(), (*count).into())).collect(),
            run: None,
            time: None,
            set_aside: orphans.iter().filter(|orphan| !orphan.is_kept).count(),
            kept_aside: orphans.iter().filter(|orphan| orphan.is_kept).count(),
            directory: directory.display().to_string(),
        }
    }

    /// The summary of a run that has ended.
    #[must_use]
    pub fn of_run(ended: &Ended, dir: &CrawlDir, time: TimeSpent) -> Self {
        let (name, limit) = match &ended.end {
            End::Done => ("done", None),
            End::Limit(name, _) => ("limit", Some((*name).to_owned())),
            End::Stopped => ("stopped", None),
            End::Held => ("held", None),
            End::Waiting(_) => ("waiting", None),
        };
        let run = Run::between(&ended.before, &ended.totals, ended.took, &ended.progress);
        Summary {
            limit,
            in_trouble: ended.troubled.in_trouble.clone(),
            given_up: ended.troubled.given_up.clone(),
            left: ended.left.clone(),
            passing: ended.passing.clone(),
            run: Some(run),
            time: Some(time),
            ..Summary::new(name, &ended.totals, dir.root())
        }
    }

    /// What goes on with the crawl, in words.
    #[must_use]
    pub fn who_goes_on(&self) -> String {
        match self.of_workers {
            true => "`argiope client workers` names the workers that go on with it".to_owned(),
            false => format!("`argiope crawl -o {}` goes on", self.directory),
        }
    }

    /// The command that lets a paused crawl go on.
    #[must_use]
    pub fn resume_command(&self) -> String {
        match self.of_workers {
            true => "argiope client resume".to_owned(),
            false => format!("argiope steer {} resume", self.directory),
        }
    }

    /// The command that asks for the URLs again that ended so.
    #[must_use]
    pub fn retry_command(&self, outcome: Outcome) -> String {
        match (self.of_workers, self.end.as_str()) {
            (true, _) => format!("argiope client steer retry {outcome}"),
            (false, "running") => format!("argiope steer {} retry {outcome}", self.directory),
            (false, _) => format!("argiope crawl -o {} --retry {outcome}", self.directory),
        }
    }

    /// The command that begins a round.
    #[must_use]
    pub fn again_command(&self) -> String {
        match self.of_workers {
            true => "argiope client again".to_owned(),
            false => format!("argiope crawl -o {} --again", self.directory),
        }
    }

    /// How many URLs with an outcome are not final, and what asks for those again that are.
    #[must_use]
    pub fn open_in_words(&self, outcome: &str) -> Option<String> {
        let open = self.passing.as_ref().and_then(|passing| passing.outcomes.get(outcome));
        let not_final = open.map(|open| {
            let counts = [(open.waiting, "to be visited again"), (open.known, "known from an earlier visit")];
            let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
            format!("not final: {}", counts.collect::<Vec<_>>().join(", "))
        });
        let again = (outcome == Outcome::GivenUp.as_str())
            .then(|| format!("`{}` asks for them again", self.retry_command(Outcome::GivenUp)));
        let told: Vec<String> = not_final.into_iter().chain(again).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// How many of the URLs in the frontier have failed so far, if they were looked at.
    #[must_use]
    pub fn frontier_in_words(&self) -> String {
        let tried = self.passing.as_ref().map(|passing| passing.tried);
        match tried.map(|tried| (tried, self.frontier.saturating_sub(tried))) {
            None => "not visited yet, or failed so far".to_owned(),
            Some((0, _)) => "not visited yet".to_owned(),
            Some((tried, 0)) => format!("{tried} failed so far, and will be tried again"),
            Some((tried, new)) => format!("{new} not visited yet; {tried} failed so far, and will be tried again"),
        }
    }

    /// Some of the sites in trouble, and of those that were given up; how many there are besides.
    #[must_use]
    pub fn troubled_in_words(&self) -> Vec<String> {
        let more = |what: &str, sites: u64, named: usize| {
            let more = sites.saturating_sub(named as u64);
            (more > 0).then(|| format!("{what} {} more", counted(more, "site")))
        };
        let mut told = Vec::new();
        if let Some(InTrouble { sites, named, .. }) = &self.in_trouble {
            told.extend(named.iter().map(ToString::to_string));
            told.extend(more("in trouble", *sites, named.len()));
        }
        if let Some(GivenUp { sites, named }) = &self.given_up {
            told.extend(named.iter().map(ToString::to_string));
            told.extend(more("given up", *sites, named.len()));
        }
        told
    }

    /// What the archive has lost.
    #[must_use]
    pub fn lost_in_words(&self) -> Option<String> {
        let (urls, root, again) = (counted(self.lost?, "URL"), &self.directory, self.again_command());
        Some(format!(
            "the archive has lost the responses of {urls}: `argiope check {root}` names them, and `{again}` asks for them again"
        ))
    }

    /// What lies beside the archive, a sentence each.
    pub fn aside_in_words(&self) -> impl Iterator<Item = String> {
        let [set, kept] =
            [self.set_aside, self.kept_aside].map(|files| (files > 0).then(|| counted(files as u64, "file")));
        let adopt = format!(": `argiope adopt {}` takes the pages in", self.directory);
        let adopt = if self.of_workers { String::new() } else { adopt };
        let set = set.map(|files| format!("{files} set aside in archive/orphaned{adopt}"));
        let kept = kept.map(|files| {
            format!("{files} to keep in archive/orphaned, with the only copy of what could not be adopted")
        });
        set.into_iter().chain(kept)
    }

    /// URLs in the queue: those that were never visited, and those to be visited again.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.frontier + self.round.as_ref().map_or(0, |round| round.left)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde passes it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passing::Open;
    use crate::trouble::NamedGivenUp;

    fn summary(end: &str) -> Summary {
        Summary { frontier: 3, ..Summary::new(end, &Totals::default(), Path::new("web")) }
    }

    #[test]
    fn what_asks_for_urls_again_that_were_given_up_is_a_command_of_the_crawl() {
        for (end, of_workers, command) in [
            ("waiting", false, "argiope crawl -o web --retry given_up"),
            ("running", false, "argiope steer web retry given_up"),
            ("pending", true, "argiope client steer retry given_up"),
        ] {
            let told = Summary { of_workers, ..summary(end) }.open_in_words("given_up");
            assert_eq!(told, Some(format!("`{command}` asks for them again")));
        }
        let outcomes =
            ["given_up", "timeout"].map(|outcome| (outcome.to_owned(), Open { waiting: 2, known: 1 })).into();
        let summary = Summary { passing: Some(Passing { tried: 0, outcomes }), ..summary("done") };
        let open = "not final: 2 to be visited again, 1 known from an earlier visit";
        let again = "`argiope crawl -o web --retry given_up` asks for them again";
        assert_eq!(summary.open_in_words("given_up"), Some(format!("{open}; {again}")));
        assert_eq!((summary.open_in_words("timeout").as_deref(), summary.open_in_words("html")), (Some(open), None));
    }

    #[test]
    fn urls_that_were_looked_at_and_have_not_failed_are_not_visited_yet() {
        for (tried, told) in [
            (None, "not visited yet, or failed so far"),
            (Some(0), "not visited yet"),
            (Some(1), "2 not visited yet; 1 failed so far, and will be tried again"),
            (Some(3), "3 failed so far, and will be tried again"),
        ] {
            let passing = tried.map(|tried| Passing { tried, ..Passing::default() });
            assert_eq!(Summary { passing, ..summary("pending") }.frontier_in_words(), told);
        }
    }

    #[test]
    fn sites_that_were_given_up_are_named_and_the_others_counted() {
        let named = vec![NamedGivenUp { site: "http://a.test".to_owned(), reason: "status 503".to_owned() }];
        let told = |sites| {
            let given_up = Some(GivenUp { sites, named: named.clone() });
            Summary { given_up, ..summary("done") }.troubled_in_words()
        };
        assert_eq!(told(1), ["given up http://a.test: status 503"]);
        assert_eq!(told(3), ["given up http://a.test: status 503", "given up 2 sites more"]);
    }
}
