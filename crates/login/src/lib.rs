//! Logs in by a form, and notices when a crawl is logged out.
//!
//! ```text
//!  [login.NAME] ──▶ Login ──▶ form: what is sent ──▶ attempt: GET, POST, redirects, success ──▶ cookies, in the jar of the fetcher
//!                               ▲
//!  a fetch of the crawl ──▶ Logins: is the answer, or what a browser shows of it, for strangers? ──▶ once more, logged in
//! ```
//!
//! Nothing of a login is recorded: neither its requests nor their answers leave this crate.

mod attempt;
mod controls;
mod description;
mod error;
mod form;
mod guard;
mod marks;

pub use description::{DescriptionError, LOGINS_MAX, Login, LoginSet};
pub use error::{LoginError, LoginFailed, REDIRECTS_MAX};
pub use guard::{Logins, Tally};
