//! The errands of a run: how far each is, who waits for it, and the answers that are kept.

use std::collections::VecDeque;
use std::net::IpAddr;

use bytes::Bytes;
use foldhash::HashMap;
use frontier::Group;
use model::{Failure, RobotsAnswer, SiteRecord, Timestamp};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::step::robots_txt::{File, Redirect};
use crate::step::slot::EarlierFile;

/// The largest number of kept answers; the oldest leave first, and are requested again if they are needed.
const ANSWERS_MAX: usize = 4_096;

/// Bytes of the answers kept, at most.
const ANSWERS_BYTES_MAX: usize = 32 << 20;

/// All errands of a run. An answer is kept as long as a robots.txt holds, for further sites that are led there.
#[derive(Default)]
pub(in crate::step) struct Errands {
    pub(super) all: HashMap<UrlKey, Errand>,
    /// What they are called on the workbench.
    pub(super) numbers: HashMap<u64, UrlKey>,
    pub(super) next_number: u64,
    /// Those answered, the oldest first.
    pub(super) answered: VecDeque<UrlKey>,
    /// Bytes of their answers.
    pub(super) bytes: usize,
    /// Those that sites wait for.
    pub(super) open: usize,
    /// What the store has of the sites of those that wait for their turn, where these are not in front. Only where nobody else writes it.
    pub(super) records: HashMap<SiteKey, Box<SiteRecord>>,
    /// The groups with a request under way.
    pub(super) under_way: Vec<Group>,
    /// Sites that are let go of when nothing is asked any more where they may be.
    pub(super) releases: Vec<SiteKey>,
}

/// A robots.txt to which others redirect.
pub(super) struct Errand {
    pub(super) url: CanonicalUrl,
    pub(super) stage: Stage,
    /// The store or the name servers were asked, and have not answered yet.
    pub(super) is_sought: bool,
    pub(super) address: Option<IpAddr>,
    /// Until when its site, which is not in front, wants to be left alone.
    pub(super) not_before: Timestamp,
    /// How often in a row only another worker could ask.
    pub(super) looks: u32,
    pub(super) waiting: Vec<Walk>,
    /// The file that a request for a new one refers to.
    pub(super) earlier: Option<Box<EarlierFile>>,
    /// How many requests in a row failed although its site was found.
    pub(super) failed_tries: u32,
    /// How often in a row its site was not found.
    pub(super) failed_lookups: u32,
}

pub(super) enum Stage {
    /// Nothing was done yet.
    New,
    /// It is looked for: in the store, then its address.
    Sought,
    /// It waits for its turn.
    Due,
    /// It is being requested.
    Asked,
    /// It was fetched, or failed.
    Answered(Answered),
}

/// An answer, and how long it holds.
#[derive(Clone)]
pub(super) struct Answered {
    pub(super) answer: TargetAnswer,
    pub(super) at: Timestamp,
    pub(super) until: Timestamp,
}

/// What came of asking.
#[derive(Clone)]
pub(super) enum TargetAnswer {
    /// It leads on to another site.
    Redirect(Redirect),
    /// This is it.
    Is(File),
}

/// A site on the way to its robots.txt.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    pub(super) site: SiteKey,
    /// Redirects to other sites that were followed.
    pub(super) redirects: usize,
}

impl File {
    pub(super) fn failed(failure: Failure) -> Self {
        File { answer: RobotsAnswer::Failed(failure), is_cut: false, renewal: None }
    }
}

impl Errand {
    /// True if sites wait for it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Sought | Stage::Due | Stage::Asked)
    }

    /// How often in a row it failed, at least once. Names and servers fail on their own, as they do for a site itself.
    pub(super) fn tries(&self) -> u32 {
        self.failed_tries.max(self.failed_lookups).max(1)
    }
}

impl TargetAnswer {
    pub(super) fn bytes(&self) -> usize {
        match self {
            TargetAnswer::Is(File { answer: RobotsAnswer::Status { body, .. }, .. }) => body.len(),
            TargetAnswer::Is(File { answer: RobotsAnswer::Failed(_), .. }) | TargetAnswer::Redirect(_) => 0,
        }
    }

    /// The same in memory of its own: bytes of a fetch hold a part of the memory for fetches as long as they live.
    fn detached(mut self) -> Self {
        if let TargetAnswer::Is(File { answer: RobotsAnswer::Status { body, .. }, .. }) = &mut self {
            *body = Bytes::copy_from_slice(body);
        }
        self
    }
}

impl Errands {
    /// True if a site waits for one.
    pub(in crate::step) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// True if one is being requested at the group; at any group if it is unknown.
    pub(in crate::step) fn is_under_way_at(&self, group: Option<Group>) -> bool {
        self.under_way.iter().any(|other| group.is_none_or(|group| group == *other))
    }

    /// Remembers to let go of a site when no errand is under way where it may be.
    pub(in crate::step) fn release_later(&mut self, site: SiteKey) {
        self.releases.push(site);
    }

    /// Takes back that a site is to be let go of later.
    pub(in crate::step) fn keep(&mut self, site: SiteKey) {
        self.releases.retain(|later| *later != site);
    }

    /// Forgets what the store has of a site that comes to front.
    pub(in crate::step) fn comes_to_front(&mut self, site: SiteKey) {
        self.records.remove(&site);
    }

    /// The URL of an errand.
    pub(in crate::step) fn url(&self, key: UrlKey) -> Option<CanonicalUrl> {
        self.all.get(&key).map(|errand| errand.url.clone())
    }

    pub(super) fn answer(&self, key: UrlKey, now: Timestamp) -> Option<Answered> {
        match &self.all.get(&key)?.stage {
            Stage::Answered(answered) if answered.until > now => Some(answered.clone()),
            _ => None,
        }
    }

    /// The errand for a URL.
    pub(super) fn entry(&mut self, url: &CanonicalUrl) -> &mut Errand {
        self.all.entry(url.key()).or_insert_with(|| Errand {
            url: url.clone(),
            stage: Stage::New,
            is_sought: false,
            address: None,
            not_before: Timestamp::default(),
            looks: 0,
            waiting: Vec::new(),
            earlier: None,
            failed_tries: 0,
            failed_lookups: 0,
        })
    }

    /// Keeps an answer, and gives those that waited for it.
    pub(super) fn settle(&mut self, url: &CanonicalUrl, answered: Answered) -> Vec<Walk> {
        let answered = Answered { answer: answered.answer.detached(), ..answered };
        let bytes = answered.answer.bytes();
        let errand = self.entry(url);
        errand.looks = 0;
        let before = std::mem::replace(&mut errand.stage, Stage::Answered(answered));
        let waiting = std::mem::take(&mut errand.waiting);
        match before {
            Stage::New => {}
            Stage::Answered(old) => self.bytes -= old.answer.bytes(),
            Stage::Sought | Stage::Due | Stage::Asked => self.open -= 1,
        }
        self.bytes += bytes;
        self.answered.push_back(url.key());
        while self.answered.len() > ANSWERS_MAX || self.bytes > ANSWERS_BYTES_MAX {
            let Some(oldest) = self.answered.pop_front() else { break };
            if let Some(Errand { stage: Stage::Answered(old), is_sought: false, .. }) = self.all.get(&oldest) {
                self.bytes -= old.answer.bytes();
                self.all.remove(&oldest);
            }
        }
        waiting
    }

    /// The name of an errand on the workbench.
    pub(super) fn number(&mut self, key: UrlKey) -> u64 {
        self.next_number += 1;
        self.numbers.insert(self.next_number, key);
        self.next_number
    }
}
