//! A browser window in which a person logs in. Unlike the pages of a crawl it has the network of the machine.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::RenderFailure;
use crate::browser::Browser;

/// Between two looks at the cookies and at storage. Those of a window that was closed cannot be read any more: the last look counts.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a new profile need not ask a person.
const FLAGS: [&str; 4] =
    ["--no-first-run", "--no-default-browser-check", "--password-store=basic", "--disable-search-engine-choice-screen"];

/// What the document in a tab has in storage: its origin, and the names and values of both areas.
const STORED: &str = "(() => { const of = area => Object.entries(area).map(([name, value]) => ({ name, value }));\
    return { origin: location.origin, localStorage: of(localStorage), sessionStorage: of(sessionStorage) } })()";
/// A tab that does not answer within this time is left for the next look.
const TAB_ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// Origins whose storage is kept.
const ORIGINS_MAX: usize = 100;

/// A window with a profile of its own, which ends with it.
pub struct Window {
    browser: Browser,
    cookies: Vec<Value>,
    /// The sessions of its tabs.
    tabs: HashMap<String, String>,
    /// What the origins had in storage that were seen in a tab, as of the last look at each.
    origins: BTreeMap<String, Value>,
}

impl Window {
    /// Opens a window of the browser at a URL.
    ///
    /// # Errors
    /// The browser does not start.
    pub async fn open(browser: &Path, url: &str) -> Result<Self, RenderFailure> {
        let arguments: Vec<&str> = FLAGS.into_iter().chain(["--", url]).collect();
        let browser = Browser::launch(browser, &arguments).await?;
        Ok(Window { browser, cookies: Vec::new(), tabs: HashMap::new(), origins: BTreeMap::new() })
    }

    /// Waits until the person has closed the window. May be dropped before, and called again.
    pub async fn closed(&mut self) {
        while self.look().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The cookies and the storage of the window as Playwright's `storageState` has them, as of now, or of shortly before it was closed.
    /// `sessionStorage` stands beside `localStorage`.
    pub async fn storage_state(mut self) -> Value {
        self.look().await;
        let origins: Vec<Value> = self.origins.into_values().collect();
        json!({"cookies": self.cookies, "origins": origins})
    }

    /// Reads the cookies, and the storage of the origins in its tabs. False if the window is closed.
    async fn look(&mut self) -> bool {
        let Ok(mut answer) = self.browser.connection.call(None, "Storage.getCookies", json!({})).await else {
            return false;
        };
        if let Some(cookies) = answer["cookies"].as_array_mut() {
            self.cookies = cookies.iter().map(as_playwright).collect();
        }
        // A browser that has none is none of ours.
        if let Ok(targets) = self.browser.connection.call(None, "Target.getTargets", json!({})).await {
            for tab in targets["targetInfos"].as_array().into_iter().flatten().filter(|target| target["type"] == "page")
            {
                let looked = self.look_at(tab["targetId"].as_str().unwrap_or_default());
                // One that shows a dialog does not answer.
                let _ = tokio::time::timeout(TAB_ANSWERS_WITHIN, looked).await;
            }
        }
        true
    }

    /// Reads the storage of the origin in a tab. One that has gone has none.
    async fn look_at(&mut self, target: &str) -> Option<()> {
        let connection = &self.browser.connection;
        let session = match self.tabs.get(target) {
            Some(session) => session.clone(),
            None => {
                let attach = json!({"targetId": target, "flatten": true});
                let attached = connection.call(None, "Target.attachToTarget", attach).await.ok()?;
                let session = attached["sessionId"].as_str()?.to_owned();
                self.tabs.insert(target.to_owned(), session.clone());
                session
            }
        };
        let asked = json!({"expression": STORED, "returnByValue": true});
        let mut answer = connection.call(Some(&session), "Runtime.evaluate", asked).await.ok()?;
        let stored = answer["result"]["value"].take();
        let has_any = ["localStorage", "sessionStorage"]
            .iter()
            .any(|area| stored[*area].as_array().is_some_and(|all| !all.is_empty()));
        let origin = stored["origin"].as_str().filter(|origin| origin.starts_with("http"))?.to_owned();
        if !has_any {
            self.origins.remove(&origin);
        } else if self.origins.len() < ORIGINS_MAX || self.origins.contains_key(&origin) {
            self.origins.insert(origin, stored);
        }
        Some(())
    }
}

/// A cookie of the DevTools protocol (`Network.Cookie`) in Playwright's form.
fn as_playwright(cookie: &Value) -> Value {
    let kept = ["name", "value", "domain", "path", "expires", "httpOnly", "secure"];
    let mut fields: serde_json::Map<String, Value> =
        kept.iter().map(|name| ((*name).to_owned(), cookie[*name].clone())).collect();
    if let Some(same_site) = cookie["sameSite"].as_str() {
        fields.insert("sameSite".to_owned(), same_site.into());
    }
    fields.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_have_the_fields_of_playwright() {
        let cookie = json!({"name": "id", "value": "7", "domain": ".a.test", "path": "/", "expires": 1.5, "size": 3,
            "httpOnly": true, "secure": false, "session": false, "sameSite": "Lax", "priority": "Medium"});
        let expect = json!({"name": "id", "value": "7", "domain": ".a.test", "path": "/", "expires": 1.5,
            "httpOnly": true, "secure": false, "sameSite": "Lax"});
        assert_eq!(as_playwright(&cookie), expect);
        assert_eq!(as_playwright(&json!({"name": "id"})).get("sameSite"), None, "none was given");
    }
}
