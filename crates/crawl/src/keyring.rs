//! A crawl's secrets for the fetcher: from the options, the seeds, and the file in the crawl's directory.

use std::collections::HashSet;

use anyhow::bail;
use fetch::{Initiator, Keyring};
use model::{Distance, Outcome, Via};
use store::Store;
use weburl::{CanonicalUrl, Site, UserInfo};

use crate::{CrawlDir, Notice};
use settings::plan::Plan;
use settings::secrets_file::{SECRETS, Secrets};
use settings::usage;

/// Sites named in messages of one kind, at most.
const SITES_TOLD_MAX: usize = 5;

/// Writes the secrets of a crawl into its directory, and puts them on the keyring of its fetcher with the sites of its seeds: those in
/// `store`, and the `fresh` ones.
///
/// # Errors
/// A secret is missing, the file cannot be used, or the store failed.
pub fn fill(
    dir: &CrawlDir,
    plan: &Plan,
    store: &dyn Store,
    fresh: &[CanonicalUrl],
    notices: &mut Vec<Notice>,
) -> anyhow::Result<()> {
    check(dir, plan)?;
    let mut secrets = Secrets { credentials: dir.secrets()?.credentials, ..Secrets::of(&plan.options) };
    secrets.credentials.extend(plan.credentials.clone());
    secrets.write(&dir.secrets_path())?;
    put_keys(dir, plan, store, fresh)?;
    notices.extend(credentials(plan.credentials.keys(), dir.secrets_path().display().to_string()));
    Ok(())
}

/// Makes sure that all secrets are there.
///
/// # Errors
/// One is missing: it is named.
pub(crate) fn check(dir: &CrawlDir, plan: &Plan) -> anyhow::Result<()> {
    let missing = plan.options.missing_secrets();
    if !missing.is_empty() {
        bail!(usage(format!(
            "{}: the secret values are not in {SECRETS} beside it: give again {}",
            dir.settings().display(),
            missing.join(", ")
        )));
    }
    Ok(())
}

/// The same as [`fill`], but writes nothing.
pub(crate) fn put_keys(dir: &CrawlDir, plan: &Plan, store: &dyn Store, fresh: &[CanonicalUrl]) -> anyhow::Result<()> {
    let keyring = &plan.fetch.keyring;
    for (site, user) in dir.secrets()?.credentials.iter().chain(&plan.credentials) {
        add_credentials(keyring, site, user)?;
    }
    if !keyring.is_empty() {
        for seed in store.seeds()? {
            let is_given = store.get(seed.key())?.is_some_and(|entry| {
                entry.candidate.via == Via::Seed || entry.candidate.distance() == Distance::default()
            });
            if is_given {
                keyring.add_seed_site(&seed.site());
            }
        }
        fresh.iter().for_each(|seed| keyring.add_seed_site(&seed.site()));
    }
    Ok(())
}

/// Puts a user name and password on a keyring.
///
/// # Errors
/// They cannot be sent.
pub fn add_credentials(keyring: &Keyring, site: &Site, user: &UserInfo) -> anyhow::Result<()> {
    keyring.add_credentials(site, user).map_err(|error| usage(format!("{site}: {error}")))
}

/// The notice about user names and passwords in seeds of these sites.
pub fn credentials<'s>(sites: impl ExactSizeIterator<Item = &'s Site>, place: String) -> Option<Notice> {
    let more = sites.len().saturating_sub(SITES_TOLD_MAX);
    let sites: Vec<Site> = sites.take(SITES_TOLD_MAX).cloned().collect();
    (!sites.is_empty()).then_some(Notice::Credentials { sites, more, place })
}

/// The seeds that redirect to a site that does not get the secrets of the seed's site.
///
/// # Errors
/// The store failed.
pub fn redirects(keyring: &Keyring, store: &dyn Store) -> anyhow::Result<Vec<Notice>> {
    let mut notices = Vec::new();
    if keyring.is_empty() {
        return Ok(notices);
    }
    let mut told: HashSet<Site> = HashSet::new();
    for seed in store.seeds()? {
        let visit = store.get(seed.key())?.and_then(|entry| entry.visit);
        let redirect = visit.filter(|visit| visit.outcome == Outcome::Redirect).and_then(|visit| visit.target);
        let Some(target) = redirect.as_deref().and_then(CanonicalUrl::from_canonical) else { continue };
        let site = target.site();
        if !keyring.fits(&seed, Initiator::Crawl) || keyring.fits(&target, Initiator::Crawl) || told.contains(&site) {
            continue;
        }
        told.insert(site.clone());
        notices.push(Notice::SecretsStayed { seed, site });
        if told.len() == SITES_TOLD_MAX {
            break;
        }
    }
    Ok(notices)
}
