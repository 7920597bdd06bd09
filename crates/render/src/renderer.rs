//! Pages to browsers: so many at a time, each within its deadline, a browser replaced before it grows.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::{Mutex, Semaphore};

use crate::browser::{Browser, is_sandbox_off};
use crate::tab::Tab;
use crate::{BrowserError, Page, RenderFailure, Rendered, Settings, Source};

/// How often the memory of a browser is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A tab that does not close within this is left to the end of its browser.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);
/// A browser that does not start within this does not start.
const START_TIME_MAX: Duration = Duration::from_secs(60);

/// Renders pages. Its browsers end with it.
pub struct Renderer {
    settings: Settings,
    tabs: Semaphore,
    current: Mutex<Option<Arc<Browser>>>,
}

impl Renderer {
    /// A renderer. A browser is started when a page comes.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let tabs = Semaphore::new(settings.tabs.max(1));
        Renderer { settings, tabs, current: Mutex::new(None) }
    }

    /// Whether the browser's own sandbox is off, as it is for root.
    #[must_use]
    pub fn is_sandbox_off() -> bool {
        is_sandbox_off()
    }

    /// A renderer with the browser that is named, or one of this machine. It is started and ended once, so a program that is no browser is
    /// told before the first page.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub fn with_browser(named: Option<&Path>, settings: Settings) -> Result<Self, RenderFailure> {
        let renderer = Renderer::new(Settings { browser: Settings::find_browser(named)?, ..settings });
        // In a thread of its own: that of the caller may be one of a runtime, which must not wait.
        std::thread::scope(|scope| scope.spawn(|| renderer.check()).join().unwrap_or(Err(BrowserError::Ended.into())))?;
        Ok(renderer)
    }

    fn check(&self) -> Result<(), RenderFailure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| self.does_not_start(error.to_string()))?.block_on(self.start()).map(drop)
    }

    async fn start(&self) -> Result<Browser, RenderFailure> {
        let started = tokio::time::timeout(START_TIME_MAX, Browser::start(&self.settings)).await;
        started.unwrap_or_else(|_| Err(self.does_not_start("it does not answer".to_owned())))
    }

    fn does_not_start(&self, detail: String) -> RenderFailure {
        BrowserError::Start { browser: self.settings.browser.display().to_string(), detail }.into()
    }

    /// The longest that one of `pages` given at the same time takes: it waits for a tab, and is tried twice.
    #[must_use]
    pub fn time_max(&self, pages: usize) -> Duration {
        let attempt = self.settings.time_max() + START_TIME_MAX * 2 + CLOSE_TIME_MAX;
        let turns = pages.div_ceil(self.settings.tabs.max(1)).max(1);
        attempt * 2 * u32::try_from(turns).unwrap_or(u32::MAX)
    }

    /// Renders a page; `source` answers what it asks for. A page whose process or browser ends is tried once more; one of broken
    /// XML, as HTML.
    ///
    /// # Errors
    /// Why it could not be rendered.
    pub async fn render(&self, page: &Page, source: Arc<dyn Source>) -> Result<Rendered, RenderFailure> {
        // The semaphore is never closed.
        let _tab = self.tabs.acquire().await.map_err(|_| BrowserError::Ended)?;
        match self.attempt(page, source.clone()).await {
            Err(RenderFailure::Crashed | RenderFailure::Browser(BrowserError::Ended)) => {
                self.attempt(page, source).await
            }
            Err(RenderFailure::Malformed) => self.attempt(&page.as_html(), source).await,
            ended => ended,
        }
    }

    async fn attempt(&self, page: &Page, source: Arc<dyn Source>) -> Result<Rendered, RenderFailure> {
        let browser = self.browser().await?;
        let limit = self.settings.time_max();
        let work = async {
            let mut tab = Tab::open(&browser, &self.settings, page, source).await?;
            let rendered = tokio::time::timeout(limit, tab.render()).await;
            // What does not answer is not waited for; it ends with its browser, if not before.
            let closed = tokio::time::timeout(CLOSE_TIME_MAX, tab.close()).await;
            if closed.is_err() {
                self.retire(&browser).await;
            }
            rendered.unwrap_or(Err(RenderFailure::Timeout(limit)))
        };
        tokio::select! {
            rendered = work => rendered,
            () = self.outgrown(&browser) => {
                // Who took the memory is not known: all pages in this browser are tried again, once.
                self.retire(&browser).await;
                browser.kill();
                Err(RenderFailure::Crashed)
            }
            () = tokio::time::sleep(limit + START_TIME_MAX) => {
                self.retire(&browser).await;
                Err(RenderFailure::Timeout(limit))
            }
        }
    }

    /// Resolves when a browser has more memory than it may.
    async fn outgrown(&self, browser: &Browser) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if browser.private_bytes() > self.settings.browser_bytes_max {
                return;
            }
        }
    }

    /// Ends the browser, with all that it wrote, once no page is shown. A page that comes later has another one.
    pub async fn end(&self) {
        self.current.lock().await.take();
    }

    /// The browser for the next page.
    async fn browser(&self) -> Result<Arc<Browser>, RenderFailure> {
        let mut current = self.current.lock().await;
        if let Some(browser) = current.as_ref()
            && !browser.connection.has_ended()
            && browser.begin_page() <= self.settings.pages_per_browser
        {
            return Ok(browser.clone());
        }
        // Pages that the last one still shows keep it until they are done.
        *current = None;
        let browser = self.start().await?;
        browser.begin_page();
        let browser = Arc::new(browser);
        *current = Some(browser.clone());
        Ok(browser)
    }

    /// Gives no more pages to a browser.
    async fn retire(&self, browser: &Arc<Browser>) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, browser)) {
            *current = None;
        }
    }
}
