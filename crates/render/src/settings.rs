//! How pages are rendered.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::PictureKind;

use crate::{BrowserError, Viewport};

/// Where Chromium is looked for, in `PATH`, if none is named.
pub const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// How far a page's clock is let run, by default.
pub const PAGE_CLOCK: Duration = Duration::from_secs(5);

/// What is waited for before a page is looked at. Its clock runs fast wherever the page only waits, and stands while it waits for
/// an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The page's clock has run this far: what appears later is not seen.
    Clock(Duration),
    /// Half a second has passed on the page's clock without a request; a minute at most.
    Idle,
    /// [`PAGE_CLOCK`] has passed, and something matches this CSS selector. Where nothing ever does the page is given up.
    Selector(String),
}

impl Wait {
    /// How long workers that do not answer are waited for: as long as the page's clock runs, by the clock of the machine.
    pub(crate) fn for_workers(&self) -> Duration {
        match self {
            Wait::Clock(time) => *time,
            Wait::Idle | Wait::Selector(_) => PAGE_CLOCK,
        }
    }
}

/// A script of the user's that runs in pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Its name in messages.
    pub name: String,
    /// The body of an asynchronous function.
    pub script: String,
}

/// How pages are rendered.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The browser.
    pub browser: PathBuf,
    /// The browser's name for pages.
    pub user_agent: String,
    /// Pages rendered at a time.
    pub tabs: usize,
    /// After this a page is given up.
    pub page_time_max: Duration,
    /// What is waited for before a page is looked at.
    pub wait: Wait,
    /// Scroll a page that watches it to its end, and what scrolls in it, again while it grows.
    pub scroll: bool,
    /// The window in which pages are shown, unless it is the browser's own.
    pub viewport: Option<Viewport>,
    /// The pictures that are taken of a page.
    pub pictures: Vec<PictureKind>,
    /// Device pixels of a picture of a whole page; it ends where they are used up.
    pub picture_pixels_max: u64,
    /// The greatest picture that is kept, in bytes.
    pub picture_bytes_max: usize,
    /// Clicks on a page at most. Those that undo others are not counted.
    pub clicks_max: u32,
    /// Scripts that run in a page after what is done on every page.
    pub behaviours: Vec<Behaviour>,
    /// The greatest document that is taken, in bytes.
    pub html_bytes_max: usize,
    /// Things that a page may ask for.
    pub requests_max: u32,
    /// A browser is replaced after so many pages.
    pub pages_per_browser: u32,
    /// A browser is replaced when its processes have more memory than this, in bytes, what they share not counted.
    pub browser_bytes_max: u64,
    /// Images, sound, video and fonts are requested too.
    pub media: bool,
}

/// A picture may take this long, beyond the time of its page.
pub(crate) const PICTURE_TIME_MAX: Duration = Duration::from_secs(10);

impl Settings {
    /// The longest that a page may take with its pictures.
    pub(crate) fn time_max(&self) -> Duration {
        self.page_time_max + PICTURE_TIME_MAX * u32::try_from(self.pictures.len()).unwrap_or(u32::MAX)
    }
}

impl Default for Settings {
    /// The usual settings, with the first of [`BROWSERS`] by its name alone.
    fn default() -> Self {
        Settings {
            browser: PathBuf::from(BROWSERS[0]),
            user_agent: String::new(),
            tabs: 2,
            page_time_max: Duration::from_secs(30),
            wait: Wait::Clock(PAGE_CLOCK),
            scroll: true,
            viewport: None,
            pictures: Vec::new(),
            picture_pixels_max: 40_000_000,
            picture_bytes_max: 20_000_000,
            clicks_max: 100,
            behaviours: Vec::new(),
            html_bytes_max: 64 << 20,
            requests_max: 500,
            pages_per_browser: 200,
            browser_bytes_max: 2 << 30,
            media: false,
        }
    }
}

impl Settings {
    /// The usual settings with a browser.
    #[must_use]
    pub fn new(browser: PathBuf) -> Self {
        Settings { browser, ..Settings::default() }
    }

    /// The browser that is named, or else the first of [`BROWSERS`] that is in `PATH`.
    ///
    /// # Errors
    /// There is none.
    pub fn find_browser(named: Option<&Path>) -> Result<PathBuf, BrowserError> {
        let is_program = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.is_file());
        if let Some(named) = named {
            let found = is_program(named).then(|| named.to_owned());
            return found.ok_or_else(|| BrowserError::Missing(format!("there is no {}", named.display())));
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut candidates = BROWSERS.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name)));
        candidates
            .find(|path| is_program(path))
            .ok_or_else(|| BrowserError::Missing(format!("none of {} is in PATH", BROWSERS.join(", "))))
    }
}
