//! Explanations as text for people.

mod at;
mod site;
mod url;
mod why;

pub use self::at::At;

use super::{HostStory, Story, Why};

impl Story {
    /// The story as text, a label and a value a line. Commands in it name the crawl.
    #[must_use]
    pub fn to_text(&self, at: At<'_>) -> String {
        match self {
            Story::Url(story) => url::of(story, at),
            Story::Host(story) => story.to_text(at),
        }
    }
}

impl HostStory {
    /// The same of a host.
    #[must_use]
    pub fn to_text(&self, at: At<'_>) -> String {
        site::of(self, at)
    }
}

impl Why {
    /// The reason in words. Commands in it name the crawl.
    #[must_use]
    pub fn to_text(&self, at: At<'_>) -> String {
        why::words(self, at)
    }
}
