//! What can go wrong with a page, and with the browser.

use std::time::Duration;

/// Why a page could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderFailure {
    /// It did not come to an end.
    #[error("not rendered within {} s", .0.as_secs())]
    Timeout(Duration),
    /// Its process ended, for example since it took too much memory.
    #[error("the page crashed")]
    Crashed,
    /// It is XML that is not well formed: the browser shows an error page.
    #[error("the XML of the page is not well-formed")]
    Malformed,
    /// There is more of it than is taken.
    #[error("the rendered page has more than {0} bytes")]
    TooLarge(usize),
    /// The browser ended, or could not be started.
    #[error("{0}")]
    Browser(#[from] BrowserError),
    /// The browser answered what it should not.
    #[error("the browser answered to {method}: {answer}")]
    Protocol {
        /// The command.
        method: &'static str,
        /// Its answer.
        answer: String,
    },
}

/// Why there is no browser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserError {
    /// There is none on this machine.
    #[error("no Chromium found ({0}): on Debian and Ubuntu `apt-get install chromium` installs it")]
    Missing(String),
    /// It could not be started.
    #[error("{browser} does not start: {detail}")]
    Start {
        /// The program.
        browser: String,
        /// What happened.
        detail: String,
    },
    /// It ended.
    #[error("the browser ended")]
    Ended,
}
