//! How important pages are beside each other.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use store::Entry;
use weburl::UrlKey;

/// What makes a page important.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Importance {
    /// Nothing: all are alike.
    #[default]
    Equal,
    /// The nearer to a seed the more: one over one more than the depth.
    Depth,
    /// The more pages of the crawl link to it the more.
    InLinks,
    /// Its PageRank in the crawl.
    PageRank,
}

impl Importance {
    /// All of them.
    pub const ALL: [Importance; 4] = [Importance::Equal, Importance::Depth, Importance::InLinks, Importance::PageRank];
    /// Those that the state tells, without the links of the dataset.
    pub const OF_STATE: [Importance; 2] = [Importance::Equal, Importance::Depth];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Importance::Equal => "equal",
            Importance::Depth => "depth",
            Importance::InLinks => "in-links",
            Importance::PageRank => "pagerank",
        }
    }

    /// One of these by its word.
    ///
    /// # Errors
    /// It is not among them.
    pub fn among(these: &[Importance], word: &str) -> Result<Self, String> {
        let words = these.iter().map(|importance| importance.as_str()).collect::<Vec<_>>().join(", ");
        let known = these.iter().copied().find(|importance| importance.as_str() == word);
        known.ok_or_else(|| format!("`{word}` is no importance; there are {words}"))
    }
}

impl FromStr for Importance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Importance::among(&Importance::ALL, text)
    }
}

/// The importance of each page. That of the average page is 1 where links make it.
#[derive(Clone, Debug, Default)]
pub enum Important {
    /// All are alike.
    #[default]
    Equal,
    /// By depth.
    Depth,
    /// By a number for each page; others are as important as the least of these.
    Ranked {
        /// The numbers.
        of: Arc<HashMap<UrlKey, f32>>,
        /// The importance of other pages.
        others: f32,
    },
}

impl Important {
    /// By positive numbers, which count beside their average.
    #[must_use]
    pub fn ranked(numbers: impl Iterator<Item = (UrlKey, f64)>) -> Self {
        let numbers: Vec<(UrlKey, f64)> = numbers.filter(|(_, number)| *number > 0.0).collect();
        let mean = numbers.iter().map(|(_, number)| number).sum::<f64>() / numbers.len().max(1) as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a few digits are enough")]
        let of: HashMap<UrlKey, f32> = numbers.into_iter().map(|(key, number)| (key, (number / mean) as f32)).collect();
        let others = of.values().copied().reduce(f32::min).unwrap_or(1.0);
        Important::Ranked { of: Arc::new(of), others }
    }

    /// That of a page.
    #[must_use]
    pub fn of(&self, page: &Entry) -> f64 {
        match self {
            Important::Equal => 1.0,
            Important::Depth => 1.0 / (f64::from(page.candidate.depth) + 1.0),
            Important::Ranked { of, others } => {
                f64::from(of.get(&page.candidate.url.key()).copied().unwrap_or(*others))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Candidate;
    use weburl::CanonicalUrl;

    use super::*;

    fn page(path: &str, depth: u32) -> Entry {
        let url = CanonicalUrl::from_canonical(&format!("http://a.test/{path}")).expect("a URL");
        Entry { candidate: Candidate { depth, ..Candidate::seed(url) }, attempts: 1, visit: None, again: false }
    }

    #[test]
    fn pages_are_as_important_as_their_depth_or_rank_says() {
        let key = |path: &str| page(path, 0).candidate.url.key();
        let ranked =
            Important::ranked([(key("a"), 6.0), (key("b"), 2.0), (key("c"), 1.0), (key("d"), 0.0)].into_iter());
        for (important, expect) in [
            (Important::Equal, [1.0, 1.0, 1.0, 1.0]),
            (Important::Depth, [1.0, 0.5, 0.25, 0.25]),
            (ranked, [2.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]),
            (Important::ranked(std::iter::empty()), [1.0; 4]),
        ] {
            let of = [("a", 0), ("b", 1), ("c", 3), ("d", 3)].map(|(path, depth)| important.of(&page(path, depth)));
            assert!(of.iter().zip(expect).all(|(of, expect)| (of - expect).abs() < 1e-6), "{important:?}: {of:?}");
        }
    }

    #[test]
    fn each_has_its_word() {
        for importance in Importance::ALL {
            assert_eq!(importance.as_str().parse(), Ok(importance));
        }
        let error = Importance::among(&Importance::OF_STATE, "pagerank").expect_err("not of the state");
        assert_eq!(error, "`pagerank` is no importance; there are equal, depth");
    }
}
