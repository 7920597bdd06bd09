//! The cookies that scripts of a page read from the start: of the crawl, not of the page's browser.

use cookies::Cookie;
use serde_json::{Value, json};

use super::Tab;
use crate::RenderFailure;

impl Tab<'_> {
    /// Gives the page the cookies that its source has for scripts.
    pub(super) async fn give_cookies(&self) -> Result<(), RenderFailure> {
        let cookies: Vec<Value> = self.source.cookies().iter().map(parameters).collect();
        if cookies.is_empty() {
            return Ok(());
        }
        match self.set_cookies(&cookies).await {
            // One that the browser refuses keeps out the others.
            Err(RenderFailure::Protocol { .. }) => {
                for cookie in cookies {
                    match self.set_cookies(&[cookie]).await {
                        Ok(()) | Err(RenderFailure::Protocol { .. }) => {}
                        Err(failure) => return Err(failure),
                    }
                }
                Ok(())
            }
            set => set,
        }
    }

    async fn set_cookies(&self, cookies: &[Value]) -> Result<(), RenderFailure> {
        let parameters = json!({"cookies": cookies, "browserContextId": self.context});
        self.connection.call(None, "Storage.setCookies", parameters).await.map(drop)
    }
}

/// A cookie as the browser takes it (`Network.CookieParam`). Without a domain it is for the host of the URL alone.
fn parameters(cookie: &Cookie) -> Value {
    let Cookie { name, value, domain, host_only, path, secure, .. } = cookie;
    let scheme = if *secure { "https" } else { "http" };
    // None goes out from a frame of another site, whatever its server wants: the jar sends none there.
    let same_site = if cookie.is_strict() { "Strict" } else { "Lax" };
    let mut parameters = json!({
        "name": name, "value": value, "url": format!("{scheme}://{domain}/"), "path": path, "secure": secure, "sameSite": same_site,
    });
    if !host_only {
        parameters["domain"] = json!(format!(".{domain}"));
    }
    parameters
}
