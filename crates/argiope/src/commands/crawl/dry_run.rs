//! `--dry-run`: the settings in force, what becomes of the seeds, and what their sites' robots.txt say. Nothing is written.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use engine::clock::Clock;
use fetch::{Fetcher, SeedStatus, robots_elsewhere};
use model::{FetchTask, Fetched, Purpose, TaskId};
use printable::{Printable, counted};
use robots::{RobotsFetch, RobotsTxt};
use settings::plan::Plan;
use weburl::{CanonicalUrl, Site, SiteKey};

use crate::exit;

/// Sites that are asked for their robots.txt.
const SITES_ASKED_MAX: usize = 20;

/// Says what a crawl would begin with.
///
/// # Errors
/// The fetcher cannot be made.
pub(super) fn run(plan: &Plan, seeds: &[CanonicalUrl]) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout();
    let settings = plan.options.to_toml("")?;
    for line in settings.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let mut filter = plan.settings.filter.clone();
    for seed in seeds {
        filter.scope.add_seed(seed);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let clock = Clock::start();
    let fetcher = Fetcher::new(plan.fetch.clone(), Arc::new(move || clock.date()))?;
    fetcher.grants().add(seeds.iter().map(|seed| seed.key().site));
    fetcher.grants().ask(Box::new(|_| SeedStatus::New));
    let mut sites: BTreeMap<SiteKey, Result<RobotsTxt, String>> = BTreeMap::new();
    for seed in seeds {
        if let Err(rule) = filter.judge_seed(seed) {
            writeln!(out, "{seed}: excluded: {}", Printable(&rule.to_string()))?;
            continue;
        }
        let Some(matching) = plan.settings.site_rules.matching else {
            writeln!(out, "{seed}: robots.txt is ignored")?;
            continue;
        };
        let site = seed.key().site;
        if !sites.contains_key(&site) {
            if sites.len() >= SITES_ASKED_MAX {
                writeln!(out, "{seed}: robots.txt is not requested: {} were", counted(SITES_ASKED_MAX as u64, "site"))?;
                continue;
            }
            let asked = runtime.block_on(async {
                // Sites may share an address.
                if !sites.is_empty() {
                    tokio::time::sleep(plan.settings.site_rules.politeness.ip_delay).await;
                }
                ask(&fetcher, &seed.site(), plan).await
            });
            sites.insert(site, asked);
        }
        match &sites[&site] {
            Err(failure) => writeln!(out, "{seed}: robots.txt: {}", Printable(failure))?,
            Ok(rules) => {
                let decision = rules.decide(seed.path_and_query(), matching);
                let verdict = if decision.allowed { "allowed" } else { "disallowed" };
                let by = decision.rule.map_or_else(|| decision.reason.to_string(), |line| line.to_string());
                let delay = rules.crawl_delay().map(|delay| format!("; Crawl-delay {} s", delay.as_secs_f64()));
                writeln!(out, "{seed}: {verdict} by robots.txt: {}{}", Printable(&by), delay.unwrap_or_default())?;
            }
        }
    }
    writeln!(out, "{}; nothing was written", counted(seeds.len() as u64, "seed"))?;
    Ok(ExitCode::from(exit::DONE))
}

/// The rules of a site, or why they cannot be had.
async fn ask(fetcher: &Fetcher, site: &Site, plan: &Plan) -> Result<RobotsTxt, String> {
    let url = CanonicalUrl::from_canonical(&format!("{site}/robots.txt")).ok_or("has no URL")?;
    let address = match plan.fetch.proxy {
        Some(_) => None,
        None => Some(fetcher.resolve(site).await.map_err(|failure| failure.detail)?),
    };
    let address = address.and_then(|addresses| addresses.first().copied());
    let task = FetchTask { id: TaskId(0), url, purpose: Purpose::Robots, address, head_first: false, validators: None };
    let outcome = fetcher.fetch(task).await;
    if let Some(target) = robots_elsewhere(&outcome) {
        return Err(format!("redirects to {target}, which is not requested here"));
    }
    match outcome.fetched {
        Fetched::Failed(failure) => Err(failure.detail),
        Fetched::Response(response) => {
            let fetch = RobotsFetch::Status { code: response.status, body: &response.body };
            Ok(robots::access(fetch, &plan.settings.product_token).rules)
        }
    }
}
