//! The whole program against webs of our own: the real binary crawls a test web, and what it leaves behind is judged,
//! together with the server's log.
//!
//! One program for all of them, so that they share the modules that begin a crawl and read its results.

#![expect(clippy::expect_used, reason = "a test's own servers and processes may panic: that is how it fails")]

mod binary;
mod broken;
mod clocks;
mod crawl;

mod addresses;
mod depth;
mod honest;
mod hostile;
mod logins;
mod memory;
mod patience;
mod politeness;
mod private;
mod requisites;
mod rounds;
mod sandboxes;
mod secrets;
