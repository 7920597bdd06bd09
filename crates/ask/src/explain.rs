//! Explanations: the whole story of a URL, or why a site is slow or stopped.
//!
//! What holds a site up and what its turn brings is asked of the scheduler: of the run under way, or of one that would go on now. No rule of
//! it is repeated here.

mod asked;
mod crawl;
mod found;
mod linked;
mod queued;
mod rules;
mod site;
mod survey;
mod text;
mod url;
mod waiting;

use serde::Serialize;

pub use self::asked::{Asked, Told};
pub use self::crawl::Crawl;
pub use self::found::Step;
pub use self::linked::{LinkText, LinkedAs};
pub use self::rules::Rule;
pub use self::site::{HostStory, RobotsMeaning, RobotsStory, SiteStory};
pub use self::survey::NearLimit;
pub use self::text::At;
pub use self::url::{Past, RecordPlace, Target, UrlStory};
pub use self::waiting::Why;

use crate::target;

/// An explanation.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Story {
    /// Of a URL.
    Url(Box<UrlStory>),
    /// Of a host.
    Host(HostStory),
}

impl Story {
    /// Explains a URL, a site or a host, as given by a user.
    ///
    /// # Errors
    /// The state or the dataset cannot be read.
    pub fn of(crawl: &Crawl<'_>, given: &str) -> anyhow::Result<Self> {
        Ok(match target::Target::parse(given, &crawl.settings().canonical) {
            target::Target::Url(url) => {
                let url = crawl.by_known_scheme(given, url)?;
                Story::Url(Box::new(UrlStory::of(crawl, given, &url)?))
            }
            target::Target::NotCrawlable(rejected) => Story::Url(Box::new(UrlStory::not_crawlable(given, &rejected))),
            target::Target::Host(host) => Story::Host(HostStory::of(&crawl.asked, given, &host)?),
        })
    }
}
