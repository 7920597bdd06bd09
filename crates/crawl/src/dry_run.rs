//! What a crawl would begin with: what its rules and the robots.txt of their sites say of the seeds. Nothing is written.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use engine::clock::Clock;
use fetch::{Fetcher, SeedStatus, robots_elsewhere};
use model::{FetchTask, Fetched, Purpose, TaskId};
use robots::{RobotsFetch, RobotsTxt, Unread};
use settings::plan::Plan;
use weburl::{CanonicalUrl, Site, SiteKey};

/// Sites that are asked for their robots.txt.
pub const SITES_ASKED_MAX: usize = 20;

/// What would become of a seed.
#[derive(Clone, Debug, PartialEq)]
pub enum Seed {
    /// A rule of the crawl excludes it.
    Excluded(String),
    /// The crawl does not heed robots.txt.
    Heedless,
    /// As many sites as allowed were asked for their robots.txt.
    NotAsked,
    /// robots.txt cannot be had; why.
    Unknown(String),
    /// robots.txt decides.
    Judged {
        /// It may be fetched.
        allowed: bool,
        /// The line that decides, or the reason.
        by: String,
        /// The delay that robots.txt asks for.
        delay: Option<Duration>,
        /// Its lines for this crawler that could not be read.
        unread: Unread,
    },
}

/// What a robots.txt says, and what of it could not be read.
type Rules = (RobotsTxt, Unread);

/// Judges seeds, in order. At most [`SITES_ASKED_MAX`] sites are asked, one after the other with the delay of an address.
///
/// # Errors
/// The fetcher cannot be made, or `each` fails.
pub async fn judge(
    plan: &Plan,
    seeds: &[CanonicalUrl],
    mut each: impl FnMut(&CanonicalUrl, Seed) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    let mut filter = plan.settings.filter.clone();
    for seed in seeds {
        filter.scope.add_seed(seed);
    }
    let clock = Clock::start();
    let fetcher = Fetcher::new(plan.fetch.clone(), Arc::new(move || clock.date()))?;
    fetcher.grants().add(seeds.iter().map(|seed| seed.key().site));
    fetcher.grants().ask(Box::new(|_| SeedStatus::New));
    let mut sites: BTreeMap<SiteKey, Result<Rules, String>> = BTreeMap::new();
    for seed in seeds {
        let judged = match (filter.judge_seed(seed), plan.settings.site_rules.matching) {
            (Err(rule), _) => Seed::Excluded(rule.to_string()),
            (Ok(()), None) => Seed::Heedless,
            (Ok(()), Some(matching)) => match rules(&mut sites, &fetcher, plan, seed).await {
                None => Seed::NotAsked,
                Some(Err(failure)) => Seed::Unknown(failure.clone()),
                Some(Ok((rules, unread))) => {
                    let decision = rules.decide(seed.path_and_query(), matching);
                    let by = decision.rule.map_or_else(|| decision.reason.to_string(), |line| line.to_string());
                    Seed::Judged { allowed: decision.allowed, by, delay: rules.crawl_delay(), unread: unread.clone() }
                }
            },
        };
        each(seed, judged)?;
    }
    Ok(())
}

/// The rules of a seed's site, requested once. None if too many were.
async fn rules<'s>(
    sites: &'s mut BTreeMap<SiteKey, Result<Rules, String>>,
    fetcher: &Fetcher,
    plan: &Plan,
    seed: &CanonicalUrl,
) -> Option<&'s Result<Rules, String>> {
    let asked = sites.len();
    match sites.entry(seed.key().site) {
        Entry::Occupied(known) => Some(known.into_mut()),
        Entry::Vacant(_) if asked >= SITES_ASKED_MAX => None,
        Entry::Vacant(place) => {
            // Sites may share an address.
            if asked > 0 {
                tokio::time::sleep(plan.settings.site_rules.politeness.ip_delay).await;
            }
            Some(place.insert(ask(fetcher, &seed.site(), plan).await))
        }
    }
}

/// The rules of a site, or why they cannot be had.
async fn ask(fetcher: &Fetcher, site: &Site, plan: &Plan) -> Result<Rules, String> {
    let url = CanonicalUrl::from_canonical(&format!("{site}/robots.txt")).ok_or("has no URL")?;
    let address = match plan.fetch.proxy {
        Some(_) => None,
        None => Some(fetcher.resolve(site).await.map_err(|failure| failure.detail)?),
    };
    let address = address.and_then(|addresses| addresses.first().copied());
    let task = FetchTask {
        id: TaskId(0),
        url,
        purpose: Purpose::Robots,
        address,
        head_first: false,
        condition: None,
        for_page: None,
    };
    let outcome = fetcher.fetch(task).await;
    if let Some(target) = robots_elsewhere(&outcome) {
        return Err(format!("redirects to {target}, which is not requested here"));
    }
    match outcome.fetched {
        Fetched::Failed(failure) => Err(failure.detail),
        Fetched::Response(response) => {
            let fetch = RobotsFetch::Status { code: response.status, body: &response.body };
            let token = &plan.settings.product_token;
            let unread = match response.status {
                200..=299 => robots::unread(&response.body, token),
                _ => Unread::default(),
            };
            Ok((robots::access(fetch, token).rules, unread))
        }
    }
}
