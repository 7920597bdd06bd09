//! The forms by which somebody changes a crawl.

/// A form: the change, its title, what to give, an example.
pub(crate) const FORMS: [(&str, &str, &str, &str); 10] = [
    ("exclude", "Exclude URLs", "Patterns, one a line", "*/calendar/*"),
    ("include", "Include URLs", "Patterns, one a line", "*/docs/*"),
    ("hold", "Put sites on hold", "Sites, one a line", "example.org"),
    ("release", "Release sites", "Sites, one a line", "example.org"),
    ("delay", "Delay of sites", "SITE=DELAY, one a line", "example.org=5s"),
    ("seeds", "Add seeds", "URLs, one a line", "https://example.org/"),
    ("retry", "Visit failures again", "Outcomes and patterns, one a line", "http_error"),
    ("remove", "Remove URLs from the queue", "Patterns, one a line", "*/old/*"),
    ("set", "Change settings", "Lines of crawl.toml", "max-pages = 10000"),
    ("unset", "Go back to defaults", "Keys of settings, one a line", "max-pages"),
];

/// The changes that somebody can make here, by the words of `argiope steer`.
pub fn changes() -> impl Iterator<Item = &'static str> {
    ["pause", "resume", "stop"].into_iter().chain(FORMS.iter().map(|(what, ..)| *what))
}
