//! Names of sites that a crawl does not know.

use std::fmt;

use crawl::Change;
use model::Outcome;
use printable::counted;
use settings::site_name::SiteName;
use store::{CrawlView, StoreError};
use weburl::{Site, SiteKey, UrlKey};

/// Sites read from the state at once.
const SITES_AT_ONCE: usize = 1_000;
/// The least similarity (Jaro) of a site that is offered in place of an unknown one.
const SIMILARITY_MIN: f64 = 0.7;

/// The settings by which URLs are excluded.
const EXCLUDING: [&str; 3] = ["include", "exclude", "exclude-file"];

/// A site that is not in a crawl.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unknown {
    /// Its name.
    pub name: String,
    /// The site of the crawl with the most similar name, if one is similar.
    pub nearest: Option<String>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such site in the crawl: {}", self.name)?;
        self.nearest.iter().try_for_each(|nearest| write!(f, "; nearest: {nearest}"))
    }
}

/// Looks for a site by its name, which may stand for several keys. `None` if the crawl has a URL of one of them.
///
/// # Errors
/// The state cannot be read.
pub fn unknown(
    view: &dyn CrawlView,
    name: &str,
    mut keys: impl Iterator<Item = SiteKey>,
) -> Result<Option<Unknown>, StoreError> {
    let is_known = |site| Ok::<_, StoreError>(view.site(site)?.is_some() || has_url(view, site)?);
    if keys.try_fold(false, |known, site| Ok::<_, StoreError>(known || is_known(site)?))? {
        return Ok(None);
    }
    let (mut nearest, mut after) = (None, None);
    let mut similarity_min = SIMILARITY_MIN;
    loop {
        let sites = view.sites(after, SITES_AT_ONCE)?;
        let Some(last) = sites.last() else { break };
        after = Some(last.site.key());
        for site in &sites {
            // Compared without the scheme where the name has none.
            let text = site.site.as_str();
            let text = if name.contains("://") { text } else { text.split_once("://").map_or(text, |(_, rest)| rest) };
            let similarity = strsim::jaro(name, text);
            if similarity > similarity_min {
                (nearest, similarity_min) = (Some(text.to_owned()), similarity);
            }
        }
    }
    Ok(Some(Unknown { name: name.to_owned(), nearest }))
}

/// What somebody should know of a change: the sites that it names and that the crawl does not know.
///
/// # Errors
/// The state cannot be read.
pub fn unknown_of(view: &dyn CrawlView, change: &Change) -> Result<Vec<String>, StoreError> {
    let names: Vec<&SiteName> = match change {
        Change::Hold(names) | Change::Release(names) => names.iter().collect(),
        Change::DelayFor(delays) => delays.iter().map(|delay| &delay.site).collect(),
        Change::Unset(keys) if keys.iter().any(|key| EXCLUDING.contains(&key.as_str())) => return stay_excluded(view),
        _ => return Ok(Vec::new()),
    };
    let unknown = |name: &&SiteName| unknown(view, &name.to_string(), name.keys()).transpose();
    let unknown = names.iter().filter_map(unknown).collect::<Result<Vec<_>, _>>()?;
    Ok(unknown.iter().map(|unknown| format!("{unknown}: it counts once the crawl finds the site")).collect())
}

/// What is excluded stays so when its rule goes: how it comes back.
fn stay_excluded(view: &dyn CrawlView) -> Result<Vec<String>, StoreError> {
    let urls = view.totals()?.count(Outcome::Excluded);
    let note = || {
        format!("{} excluded earlier: they stay so until `retry excluded` looks at them again", counted(urls, "URL"))
    };
    Ok((urls > 0).then(note).into_iter().collect())
}

/// The same for a name that fits sites by a rule of its own.
///
/// # Errors
/// The state cannot be read.
pub fn unfit(view: &dyn CrawlView, name: &str, fits: impl Fn(&Site) -> bool) -> Result<Option<Unknown>, StoreError> {
    let mut after = None;
    loop {
        // One URL of each site.
        let first = view.scan(after, 1)?;
        let Some(entry) = first.first() else { return unknown(view, name, std::iter::empty()) };
        if fits(&entry.candidate.url.site()) {
            return Ok(None);
        }
        after = Some(UrlKey { url: u64::MAX, ..entry.candidate.url.key() });
    }
}

/// Whether the crawl has a URL of a site. The keys of its URLs follow that of the site.
fn has_url(view: &dyn CrawlView, site: SiteKey) -> Result<bool, StoreError> {
    let first = view.scan(Some(UrlKey { site, url: 0 }), 1)?;
    Ok(first.first().is_some_and(|entry| entry.candidate.url.key().site == site))
}

#[cfg(test)]
mod tests {
    use model::{Candidate, SiteRecord};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn an_unknown_site_is_named_with_the_nearest() {
        let store = MemoryStore::new();
        let url = |text: &str| CanonicalUrl::from_canonical(text).expect("a URL");
        let known = ["https://docs.example.org/", "http://example.org/", "http://other.test:81/"].map(url);
        let sites = known.iter().map(|url| SiteRecord::new(url.site())).collect();
        let found = vec![Candidate::seed(url("http://found.test/"))];
        store.commit(&Batch { sites, found, ..Batch::default() }).expect("a commit");
        let ask = |name: &str, of: &str| {
            let unknown = unknown(&store, name, std::iter::once(url(of).site().key())).expect("a state");
            unknown.map(|unknown| unknown.to_string())
        };
        assert_eq!(ask("example.org", "http://example.org/"), None);
        assert_eq!(ask("found.test", "http://found.test/"), None, "its URL waits in the queue");
        let by_host = |name: &'static str| {
            let fits = |site: &Site| site.as_str().contains(&format!("://{name}"));
            unfit(&store, name, fits).expect("a state").map(|unknown| unknown.to_string())
        };
        assert_eq!(
            (by_host("found"), by_host("other.test")),
            (None, Some("no such site in the crawl: other.test; nearest: other.test:81".to_owned()))
        );
        for (name, of, expect) in [
            ("exmaple.org", "http://exmaple.org/", "no such site in the crawl: exmaple.org; nearest: example.org"),
            (
                "https://doc.example.org",
                "https://doc.example.org/",
                "no such site in the crawl: https://doc.example.org; nearest: https://docs.example.org",
            ),
            ("zzz", "http://zzz/", "no such site in the crawl: zzz"),
        ] {
            assert_eq!(ask(name, of).as_deref(), Some(expect));
        }
    }
}
