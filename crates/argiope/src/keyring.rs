//! A crawl's secrets on their way to the fetcher: from the options, the seeds, and the file in the crawl's directory.

use anyhow::bail;
use fetch::Keyring;
use model::{Distance, Outcome, Via};
use store::Store;
use weburl::{CanonicalUrl, Site, UserInfo};

use crate::cli::usage;
use crate::crawl_dir::CrawlDir;
use crate::plan::Plan;
use crate::secrets_file::{SECRETS, Secrets};

/// Sites named in messages of one kind, at most.
const SITES_TOLD_MAX: usize = 5;

/// Writes the secrets of a crawl into its directory, and puts them on the keyring of its fetcher with the sites of its seeds: those that
/// `store` has, and the `fresh` ones.
///
/// # Errors
/// A secret is missing, the file cannot be used, or the store failed.
pub fn fill(dir: &CrawlDir, plan: &Plan, store: &dyn Store, fresh: &[CanonicalUrl]) -> anyhow::Result<()> {
    let missing = plan.options.missing_secrets();
    if !missing.is_empty() {
        bail!(usage(format!(
            "{}: the secret values are not in {SECRETS} beside it: give again {}",
            dir.settings().display(),
            missing.join(", ")
        )));
    }
    let mut secrets = Secrets { credentials: dir.secrets()?.credentials, ..Secrets::of(&plan.options) };
    secrets.credentials.extend(plan.credentials.clone());
    secrets.write(&dir.secrets_path())?;
    let keyring = &plan.fetch.keyring;
    for (site, user) in &secrets.credentials {
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
    tell_of_credentials(plan.credentials.keys(), &format!("{}", dir.secrets_path().display()));
    Ok(())
}

/// Puts a user name and password on a keyring.
///
/// # Errors
/// They cannot be sent.
pub fn add_credentials(keyring: &Keyring, site: &Site, user: &UserInfo) -> anyhow::Result<()> {
    keyring.add_credentials(site, user).map_err(|error| usage(format!("{site}: {error}")))
}

/// Says what becomes of user names and passwords in seeds.
pub fn tell_of_credentials<'s>(sites: impl ExactSizeIterator<Item = &'s Site>, place: &str) {
    let more = sites.len().saturating_sub(SITES_TOLD_MAX);
    let mut named: Vec<String> = sites.take(SITES_TOLD_MAX).map(ToString::to_string).collect();
    if named.is_empty() {
        return;
    }
    if more > 0 {
        named.push(format!("{more} more"));
    }
    crate::say!(
        "user name and password in a seed are used as basic authentication for its site alone ({}), and kept in {place} alone",
        named.join(", ")
    );
}

/// Says which seeds redirect to a site that learns none of the secrets that the seed's learns.
///
/// # Errors
/// The store failed.
pub fn tell_of_redirects(keyring: &Keyring, store: &dyn Store) -> anyhow::Result<()> {
    if keyring.is_empty() {
        return Ok(());
    }
    let mut told: Vec<Site> = Vec::new();
    for seed in store.seeds()? {
        let visit = store.get(seed.key())?.and_then(|entry| entry.visit);
        let redirect = visit.filter(|visit| visit.outcome == Outcome::Redirect).and_then(|visit| visit.target);
        let Some(target) = redirect.as_deref().and_then(CanonicalUrl::from_canonical) else { continue };
        let site = target.site();
        if !keyring.fits(&seed, None) || keyring.fits(&target, None) || told.contains(&site) {
            continue;
        }
        crate::say!(
            "{seed} redirects to {site}, which is no seed's site: it learnt none of the secret request fields; \
             --header-for '{site}/*' 'Name: value' sends one there, and so does that site as a seed"
        );
        told.push(site);
        if told.len() == SITES_TOLD_MAX {
            break;
        }
    }
    Ok(())
}
