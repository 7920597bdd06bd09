//! How pages change between two rounds, and what their servers remember of it.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use model::Validators;

use super::{Page, Reply, Web, site_text};
use crate::rng::Rng;

/// In a thousand pages that are there so many change between two rounds, and so many go.
const CHANGES_IN_THOUSAND: u64 = 200;
const GOES_IN_THOUSAND: u64 = 80;

/// In a thousand pages that are gone so many come back.
const RETURNS_IN_THOUSAND: u64 = 400;

/// When the first version of a page was made, as `Last-Modified` has it: 2026-01-01. Each further version is a day younger.
const MADE_AT_S: u64 = 1_767_225_600;
const DAY_S: u64 = 86_400;

/// What the pages and servers of a web are beside their first round.
#[derive(Clone, Debug, Default)]
pub struct Changing {
    /// What the server of each site remembers; nothing for others.
    memory: BTreeMap<String, Memory>,
    /// How often a page has changed.
    versions: BTreeMap<String, u64>,
    /// Pages that are gone, with what they were.
    gone: BTreeMap<String, Reply>,
}

/// What a server remembers of its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Memory {
    /// Nothing: it gives no validators.
    #[default]
    Nothing,
    /// Entity tags.
    Tags,
    /// When pages were changed.
    Dates,
    /// Entity tags, but no change: a request with validators is always answered by 304.
    NoChange,
    /// An entity tag of its own for each answer.
    TagsOfAnswers,
}

impl Web {
    /// Gives the servers a memory.
    pub(crate) fn give_memory(&mut self, rng: &mut Rng) {
        let all = [Memory::Nothing, Memory::Tags, Memory::Tags, Memory::Dates, Memory::NoChange, Memory::TagsOfAnswers];
        let memory = self.sites.keys().map(|site| (site.clone(), rng.pick(&all)));
        self.changing.memory = memory.collect();
    }

    /// Time passes between two rounds: some pages change, some go, some come back. What they link to stays.
    pub(crate) fn turn(&mut self, rng: &mut Rng) {
        let Changing { versions, gone, .. } = &mut self.changing;
        for (url, Page { reply, .. }) in &mut self.pages {
            if gone.contains_key(url) {
                if !rng.chance(RETURNS_IN_THOUSAND) {
                    continue;
                }
                *reply = gone.remove(url).unwrap_or(Reply::Status(404));
            } else if rng.chance(GOES_IN_THOUSAND) && matches!(reply, Reply::Html(_) | Reply::Document(_)) {
                let status = rng.pick(&[404, 410]);
                gone.insert(url.clone(), std::mem::replace(reply, Reply::Status(status)));
            } else if rng.chance(CHANGES_IN_THOUSAND) {
                match reply {
                    Reply::Html(html) => html.text = rng.number(),
                    Reply::Document(content) | Reply::Image(content) => *content = rng.number(),
                    _ => continue,
                }
            } else {
                continue;
            }
            *versions.entry(url.clone()).or_default() += 1;
        }
    }

    /// True where a page is gone that was there.
    pub(crate) fn is_gone(&self, url: &str) -> bool {
        self.changing.gone.contains_key(url)
    }

    /// True if the server of a URL says the truth about changes.
    pub(crate) fn is_honest(&self, url: &str) -> bool {
        self.memory_of(url) != Memory::NoChange
    }

    /// The validators that the server gives with the page now. `answers` is the number of its answers for the URL.
    pub(crate) fn validators(&self, url: &str, answers: usize) -> Validators {
        let version = self.changing.versions.get(url).copied().unwrap_or_default();
        let etag = match self.memory_of(url) {
            Memory::Tags | Memory::NoChange => Some(format!("\"v{version}\"")),
            Memory::TagsOfAnswers => Some(format!("\"v{version}-{answers}\"")),
            Memory::Nothing | Memory::Dates => None,
        };
        let date = UNIX_EPOCH + Duration::from_secs(MADE_AT_S + version * DAY_S);
        let last_modified = (self.memory_of(url) == Memory::Dates).then(|| httpdate::fmt_http_date(date));
        Validators { etag, last_modified }
    }

    /// Whether the server says that nothing has changed since it gave these validators.
    pub(crate) fn says_unmodified(&self, url: &str, sent: &Validators) -> bool {
        match self.memory_of(url) {
            Memory::Nothing | Memory::TagsOfAnswers => false,
            Memory::Tags | Memory::Dates => *sent == self.validators(url, 0),
            Memory::NoChange => true,
        }
    }

    fn memory_of(&self, url: &str) -> Memory {
        self.changing.memory.get(site_text(url)).copied().unwrap_or_default()
    }
}
