//! Explanations as text for people.

mod site;
mod url;
mod why;

use std::path::Path;

use super::Story;

impl Story {
    /// The story as text, a label and a value a line. Commands in it name the crawl's directory.
    #[must_use]
    pub fn to_text(&self, dir: &Path) -> String {
        match self {
            Story::Url(story) => url::of(story, dir),
            Story::Host(story) => site::of(story, dir),
        }
    }
}
