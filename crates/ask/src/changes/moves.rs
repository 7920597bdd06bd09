//! Pages that have moved, and where they are now.

use std::collections::{BTreeMap, BTreeSet};

use model::{Change, Outcome, PayloadDigest, Visit, says_gone};
use store::{CrawlView, StoreError, current_visit};
use weburl::{CanonicalUrl, UrlKey};

use super::{ChangesError, Line, compare, each_page};

/// Redirects that are followed from a page that has moved, at most.
const REDIRECTS_MAX: usize = 20;

/// A content. The labels of visits tell it only in the coding in which it was sent, but earlier programs kept nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Identity(u64),
    Payload(PayloadDigest, u64),
}

/// The new places of pages. They are not new themselves.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Of pages that are gone without a redirect: the new page with the same content.
    by_content: BTreeMap<UrlKey, UrlKey>,
    /// All new places.
    places: BTreeSet<UrlKey>,
}

impl Moves {
    /// Finds the pages of a crawl that have moved since then. If pages are gone, the state is read a second time, for new pages
    /// with their contents.
    pub(super) fn find(view: &dyn CrawlView, line: &Line) -> Result<Self, ChangesError> {
        let mut moves = Moves::default();
        let mut gone: BTreeMap<Content, UrlKey> = BTreeMap::new();
        each_page(view, &mut |entry| {
            let Some((change, before, now)) = compare(view, &entry, line)? else { return Ok(()) };
            if change == Change::Moved {
                moves.places.extend(end_of(view, &now, line)?.map(|place| place.key()));
            } else if change == Change::Gone {
                for content in before.iter().flat_map(contents_of) {
                    gone.entry(content).or_insert(now.key);
                }
            }
            Ok(())
        })?;
        if !gone.is_empty() {
            each_page(view, &mut |entry| {
                let Some((Change::New, _, now)) = compare(view, &entry, line)? else { return Ok(()) };
                let from = contents_of(&now).find_map(|content| gone.get(&content).copied());
                // A page has moved to one place.
                if let Some(from) = from.filter(|from| !moves.by_content.contains_key(from)) {
                    moves.by_content.insert(from, now.key);
                    moves.places.insert(now.key);
                }
                Ok(())
            })?;
        }
        Ok(moves)
    }

    /// Where a page that is gone has moved to, by its content.
    pub(super) fn place_of(&self, gone: UrlKey) -> Option<UrlKey> {
        self.by_content.get(&gone).copied()
    }

    /// Whether a page has moved here.
    pub(super) fn is_place(&self, key: UrlKey) -> bool {
        self.places.contains(&key)
    }
}

/// Where the redirect that a visit found leads in the end, by what is known of the URLs on the way. A circle ends before it comes back to a
/// URL. `None` where the redirect names no URL that can be requested.
pub(super) fn end_of(view: &dyn CrawlView, found: &Visit, line: &Line) -> Result<Option<CanonicalUrl>, StoreError> {
    Ok(follow(view, found, line)?.map(|(end, _)| end))
}

/// Whether the redirect that a visit found leads to a URL that is gone.
pub(super) fn leads_to_nothing(view: &dyn CrawlView, found: &Visit, line: &Line) -> Result<bool, StoreError> {
    Ok(follow(view, found, line)?.is_some_and(|(_, is_gone)| is_gone))
}

/// The end of the redirects, and whether it is gone.
fn follow(view: &dyn CrawlView, found: &Visit, line: &Line) -> Result<Option<(CanonicalUrl, bool)>, StoreError> {
    let Some(mut place) = target_of(found) else { return Ok(None) };
    let mut passed = BTreeSet::from([found.key, place.key()]);
    for _ in 1..REDIRECTS_MAX {
        let Some(last) = view.get(place.key())?.and_then(|entry| entry.visit) else { break };
        let visits = line.visits(view, &last)?;
        let Some((last, earlier)) = visits.split_last() else { break };
        let now = current_visit(last, earlier);
        if says_gone(now) {
            return Ok(Some((place, true)));
        }
        let Some(next) = target_of(now).filter(|next| passed.insert(next.key())) else { break };
        place = next;
    }
    Ok(Some((place, false)))
}

/// The URL to which a visit found a redirect.
fn target_of(visit: &Visit) -> Option<CanonicalUrl> {
    let target = visit.target.as_deref().filter(|_| visit.outcome == Outcome::Redirect);
    target.and_then(CanonicalUrl::from_canonical)
}

/// The content of the page that a visit found, in each way in which it is known. An empty one says nothing, and neither does that of a redirect.
fn contents_of(visit: &Visit) -> impl Iterator<Item = Content> {
    let is_content = visit.outcome.is_fetched() && visit.length > 0;
    let identity = visit.identity.map(Content::Identity);
    let payload = visit.digest.map(|digest| Content::Payload(digest, visit.length));
    identity.into_iter().chain(payload).filter(move |_| is_content)
}
