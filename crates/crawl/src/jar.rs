//! The cookies of a crawl in its directory.

use anyhow::{Context, bail};
use cookies::{Cookies, Profile, Refused, Tally};
use engine::Redactions;
use engine::clock::Clock;
use login::Logins;
use model::{Redacted, Timestamp};
use settings::plan::Plan;
use settings::usage;

use crate::{CrawlDir, Notice};

/// Sites that are named of those whose records lack something.
const NAMED_MAX: usize = 5;

/// The jar of a crawl, if it has one: what it kept so far, and over it what is given now. Its file does not change before [`keep`].
///
/// # Errors
/// Its file is gone or cannot be used, or what is given cannot be a cookie.
pub fn open(dir: &CrawlDir, plan: &Plan, now: Timestamp, notices: &mut Vec<Notice>) -> anyhow::Result<Option<Cookies>> {
    let Some(given) = &plan.cookies else { return Ok(None) };
    let path = dir.cookies_path();
    let had_jar = dir.holds_crawl() && dir.options()?.cookie_jar == Some(true);
    if had_jar && *given == Profile::default() && !path.exists() {
        bail!(usage(format!(
            "{}: the cookies of this crawl are gone: give others with --cookies FILE, or go on without any by --cookie-jar=false",
            path.display()
        )));
    }
    let jar = Cookies::default();
    jar.take_from(&path, now).with_context(|| path.display().to_string())?;
    let mut expired = 0;
    for cookie in &given.cookies {
        expired += u64::from(cookie.has_expired(now));
        let unusable = |error| usage(format!("--cookies: the cookie `{}` of {} {error}", cookie.name, cookie.domain));
        jar.put(cookie.clone(), now).map_err(unusable)?;
    }
    for entry in &given.stored {
        match jar.store(entry.clone()) {
            // Of an extension of the browser, for example.
            Ok(()) | Err(Refused::Domain) => {}
            Err(error) => bail!(usage(format!("--cookies: the entry `{}` of {} {error}", entry.name, entry.origin))),
        }
    }
    if *given != Profile::default() {
        let (taken, stored) = (given.cookies.len() as u64 - expired, given.stored.len() as u64);
        notices.push(Notice::Cookies { taken, expired, stored, place: path });
    }
    Ok(Some(jar))
}

/// Keeps the cookies of a jar in the crawl's directory from now on.
///
/// # Errors
/// Their file cannot be written.
pub(crate) fn keep(dir: &CrawlDir, jar: &Cookies) -> anyhow::Result<()> {
    let path = dir.cookies_path();
    jar.keep_at(&path, Clock::start().date()).with_context(|| format!("cannot write {}", path.display()))
}

/// What is to be said of the logins at the end of a run.
#[must_use]
pub fn logins_at_end(logins: &Logins) -> Vec<Notice> {
    logins
        .tallies()
        .into_iter()
        .map(|login::Tally { name, logins, closed, refused }| Notice::LoggedIn { name, logins, closed, refused })
        .collect()
}

/// What is to be said at the end of a run of what its records lack.
#[must_use]
pub(crate) fn redacted_at_end(Redactions { sites, others }: &Redactions) -> Option<Notice> {
    let all = sites.values().chain([others]);
    let values = all.fold(Redacted::default(), |sum, more| sum.and(*more));
    let more = sites.len().saturating_sub(NAMED_MAX) + usize::from(!others.is_empty());
    let sites = sites.keys().take(NAMED_MAX).cloned().collect();
    (!values.is_empty()).then_some(Notice::Redacted { values, sites, more })
}

/// What is to be said of the jar at the end of a run.
#[must_use]
pub fn at_end(jar: &Cookies) -> Option<Notice> {
    let (Tally { beyond_limits, .. }, failed) = (jar.tally(), jar.failed());
    (beyond_limits > 0 || failed.is_some()).then_some(Notice::CookiesLost { beyond_limits, failed })
}
