//! The cookies of a crawl: which request gets which (RFC 6265bis), read from files of browsers, and kept over restarts.
//!
//! ```text
//!  files of browsers ──▶ from_text ──┐
//!                                    ├──▶ Jar ──▶ Cookie field of a request
//!  Set-Cookie ─────────▶ SetCookie ──┘     └────▶ CookieFile, one line a change
//! ```
//!
//! [`Cookies`] is all of it in one handle. A value is a secret: no debug form and no error shows one.
//!
//! Of the draft's rules, those that need a person are left out: a request of a crawler counts as an address that a person typed, so
//! `SameSite` keeps no cookie back. Requests of a page on another site get no cookies at all, as in browsers without third-party cookies.

mod cookie;
mod date;
mod file;
mod jar;
mod read;
mod refused;
mod set_cookie;
mod shared;
mod stored;

pub use cookie::{Cookie, SameSite};
pub use file::CookieFile;
pub use jar::{COOKIES_PER_DOMAIN_MAX, JAR_BYTES_MAX, Jar, LIFETIME_MAX, Tally};
pub use read::{Profile, ReadError, from_text};
pub use refused::{COOKIE_BYTES_MAX, Refused};
pub use set_cookie::SetCookie;
pub use shared::Cookies;
pub use stored::{Area, Stored};
