//! What the page and frames of its site have in storage from the start: of the crawl, not of the page's browser.

use serde_json::{Value, json};

use super::Tab;
use crate::RenderFailure;

/// Runs in each document before its scripts, with all entries and the domain of the page. Frames within frames of other sites get nothing,
/// and so do those without an origin.
const RESTORE: &str = "((all, domain) => {\
    const isOwn = origin => { const { hostname } = new URL(origin); return hostname === domain || hostname.endsWith('.' + domain) };\
    try {\
        if (![...location.ancestorOrigins].every(isOwn)) return;\
        for (const [origin, area, name, value] of all) {\
            const storage = area === 'local' ? localStorage : sessionStorage;\
            if (origin === location.origin && storage.getItem(name) === null) storage.setItem(name, value);\
        }\
    } catch { /* it has none */ }\
})";

impl Tab<'_> {
    /// Gives the page what its source has for storage.
    pub(super) async fn give_storage(&self) -> Result<(), RenderFailure> {
        let stored = self.source.stored();
        if stored.is_empty() {
            return Ok(());
        }
        let entries: Vec<Value> =
            stored.iter().map(|one| json!([one.origin, one.area.as_str(), one.name, one.value])).collect();
        let script = format!("{RESTORE}({}, {})", json!(entries), json!(self.page.url.domain()));
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": script})).await.map(drop)
    }
}
