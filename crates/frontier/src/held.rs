//! Why nothing is requested of a site now, and until when.

use model::Timestamp;
use serde::{Deserialize, Serialize};

/// Why nothing is requested of a site now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No URL of it waits.
    Nothing,
    /// The site is on hold.
    Hold,
    /// Another worker owns it.
    Elsewhere,
    /// Its budget is spent (`--max-pages-per-site`).
    SiteBudget,
    /// The crawl ends.
    End,
    /// The crawl is paused.
    Paused,
    /// The budget of the crawl is spent (`--max-pages`, `--max-bytes`).
    CrawlBudget,
    /// It has no place in memory: other sites have their turns first.
    Place,
    /// It is in trouble and put aside.
    Aside,
    /// It failed, or asked to be left alone (`Retry-After`).
    BackOff,
    /// Pages of it have vanished, and are requested again before they count as gone or moved.
    Vanished,
    /// Its delay.
    Delay,
    /// The delay of its address (`--ip-delay`).
    AddressDelay,
    /// The rate of requests to all sites together (`argiope watch --rate`).
    Rate,
    /// Another site on its address is visited, or comes first.
    Address,
    /// The machine's own network is down.
    Network,
    /// Its name is being resolved.
    Name,
    /// Its robots.txt is being requested or read.
    Robots,
    /// Its domain or its address has as many requests under way as it may, or its domain as many look-ups of names. Or those sites have,
    /// all together, that have not answered.
    Share,
    /// Its own visits are under way, or their results are being stored.
    UnderWay,
    /// The crawl has as many requests under way, or as much to store, as it may.
    Busy,
    /// Results wait to be stored until the reader of the stream takes more (`--stream`).
    Reader,
}

impl Reason {
    /// The word for it, as JSON has it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Nothing => "nothing",
            Reason::Hold => "hold",
            Reason::Elsewhere => "elsewhere",
            Reason::SiteBudget => "site_budget",
            Reason::End => "end",
            Reason::Paused => "paused",
            Reason::CrawlBudget => "crawl_budget",
            Reason::Place => "place",
            Reason::Aside => "aside",
            Reason::BackOff => "back_off",
            Reason::Vanished => "vanished",
            Reason::Delay => "delay",
            Reason::AddressDelay => "address_delay",
            Reason::Rate => "rate",
            Reason::Address => "address",
            Reason::Network => "network",
            Reason::Name => "name",
            Reason::Robots => "robots",
            Reason::Share => "share",
            Reason::UnderWay => "under_way",
            Reason::Busy => "busy",
            Reason::Reader => "reader",
        }
    }
}

/// What holds a site up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Why.
    pub reason: Reason,
    /// No request before this time. `None` if the wait ends with an event, not at a time.
    pub until: Option<Timestamp>,
}

impl Held {
    /// Held up until a time.
    #[must_use]
    pub fn until(reason: Reason, until: Timestamp) -> Self {
        Held { reason, until: Some(until) }
    }
}

impl From<Reason> for Held {
    fn from(reason: Reason) -> Self {
        Held { reason, until: None }
    }
}
