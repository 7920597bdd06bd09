//! The versions of pages in files that were set aside, and which of them the crawl has too.

use std::collections::{BTreeMap, BTreeSet};

use model::{Timestamp, Visit};
use replay::Replay;
use store::Store;
use weburl::CanonicalUrl;

/// A recorded content of a URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    /// The URL, as it is recorded.
    pub(super) url: String,
    /// The digest of the payload, as it is recorded.
    pub(super) digest: Option<String>,
    /// When it was recorded.
    pub(super) at: Option<Timestamp>,
}

/// The versions that are in no other file.
#[derive(Debug, Default)]
pub(super) struct OnlyHere {
    /// The names of the files with such versions.
    pub(super) files: BTreeSet<String>,
    /// Each once: URL and digest.
    versions: BTreeSet<(String, Option<String>)>,
}

impl OnlyHere {
    /// Those among these versions, by file, that the crawl does not have: no visit of the URL has the same payload.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(super) fn of(
        versions: &BTreeMap<String, BTreeSet<Version>>,
        store: &dyn Store,
        replay: &mut Replay<'_>,
    ) -> anyhow::Result<Self> {
        let mut only = OnlyHere::default();
        for (file, versions) in versions {
            for version in versions {
                if !is_in_crawl(version, store, replay)? {
                    only.add(file, &version.url, version.digest.clone());
                }
            }
        }
        Ok(only)
    }

    /// Adds a version in a file.
    pub(super) fn add(&mut self, file: &str, url: &str, digest: Option<String>) {
        self.files.insert(file.to_owned());
        self.versions.insert((url.to_owned(), digest));
    }

    /// How many versions there are.
    pub(super) fn versions(&self) -> u64 {
        self.versions.len() as u64
    }

    /// Of how many URLs.
    pub(super) fn urls(&self) -> u64 {
        let urls: BTreeSet<&str> = self.versions.iter().map(|(url, _)| url.as_str()).collect();
        urls.len() as u64
    }
}

fn is_in_crawl(version: &Version, store: &dyn Store, replay: &mut Replay<'_>) -> anyhow::Result<bool> {
    let Some(url) = CanonicalUrl::from_canonical(&version.url) else { return Ok(false) };
    let Some(last) = store.get(url.key())?.and_then(|entry| entry.visit) else { return Ok(false) };
    let earlier = store.earlier(url.key())?;
    Ok(earlier.iter().chain([&last]).any(|visit| has(visit, version, replay)))
}

/// Whether the record of a visit has this version.
fn has(visit: &Visit, version: &Version, replay: &mut Replay<'_>) -> bool {
    let Some(location) = visit.location else { return false };
    if version.at == Some(visit.at) {
        return true;
    }
    match visit.digest {
        Some(digest) => version.digest == Some(digest.to_string()),
        // The visits of redirects and errors have no digest, but their records do.
        None => replay.record(location).is_ok_and(|record| {
            version.digest.is_some() && record.header.get("WARC-Payload-Digest") == version.digest.as_deref()
        }),
    }
}
