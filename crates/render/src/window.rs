//! A browser window in which a person logs in. Unlike the pages of a crawl it has the network of the machine.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::RenderFailure;
use crate::browser::Browser;

/// Between two looks at the cookies. Those of a window that was closed cannot be read any more: the last look counts.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a new profile need not ask a person.
const FLAGS: [&str; 4] =
    ["--no-first-run", "--no-default-browser-check", "--password-store=basic", "--disable-search-engine-choice-screen"];

/// A window with a profile of its own, which ends with it.
pub struct Window {
    browser: Browser,
    cookies: Vec<Value>,
}

impl Window {
    /// Opens a window of the browser at a URL.
    ///
    /// # Errors
    /// The browser does not start.
    pub async fn open(browser: &Path, url: &str) -> Result<Self, RenderFailure> {
        let arguments: Vec<&str> = FLAGS.into_iter().chain(["--", url]).collect();
        Ok(Window { browser: Browser::launch(browser, &arguments).await?, cookies: Vec::new() })
    }

    /// Waits until the person has closed the window. May be dropped before, and called again.
    pub async fn closed(&mut self) {
        while self.look().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The cookies of the window as Playwright's `storageState` has them, as of now, or of shortly before it was closed.
    pub async fn storage_state(mut self) -> Value {
        self.look().await;
        json!({"cookies": self.cookies, "origins": []})
    }

    /// Reads the cookies. False if the window is closed.
    async fn look(&mut self) -> bool {
        let Ok(mut answer) = self.browser.connection.call(None, "Storage.getCookies", json!({})).await else {
            return false;
        };
        if let Some(cookies) = answer["cookies"].as_array_mut() {
            self.cookies = cookies.iter().map(as_playwright).collect();
        }
        true
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
