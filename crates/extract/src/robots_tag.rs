//! `meta name=robots` and `X-Robots-Tag`: what a page asks of robots.
//!
//! There is no RFC; the vocabulary is the one all large search engines document.

/// The name under which a page can address this crawler alone.
pub const PRODUCT_TOKEN: &str = "argiope";

/// What a page asks of robots. All false means nothing is forbidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotsDirectives {
    /// Do not show the page in search results (`noindex`, `none`).
    pub noindex: bool,
    /// Do not follow the page's links (`nofollow`, `none`).
    pub nofollow: bool,
    /// Do not offer a stored copy (`noarchive`, `nocache`).
    pub noarchive: bool,
    /// Do not show an excerpt (`nosnippet`).
    pub nosnippet: bool,
    /// Do not index the page's images (`noimageindex`).
    pub noimageindex: bool,
}

impl RobotsDirectives {
    /// Reads a comma-separated list, as in `content` of a `meta` element. Unknown words are ignored.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let mut directives = Self::default();
        for word in list.split(',') {
            directives.add(word.trim());
        }
        directives
    }

    /// What either of the two forbids.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            noindex: self.noindex | other.noindex,
            nofollow: self.nofollow | other.nofollow,
            noarchive: self.noarchive | other.noarchive,
            nosnippet: self.nosnippet | other.nosnippet,
            noimageindex: self.noimageindex | other.noimageindex,
        }
    }

    fn add(&mut self, word: &str) {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let none = is("none");
        self.noindex |= none || is("noindex");
        self.nofollow |= none || is("nofollow");
        self.noarchive |= is("noarchive") || is("nocache");
        self.nosnippet |= is("nosnippet");
        self.noimageindex |= is("noimageindex");
    }
}

/// Whether a `meta` element of this name speaks to us.
pub(crate) fn addresses_us(meta_name: &str) -> bool {
    let name = meta_name.trim();
    name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(PRODUCT_TOKEN)
}

/// Reads the values of all `X-Robots-Tag` headers of a response.
///
/// A value may begin with the robot it speaks to (`googlebot: nofollow`); the directives after it, up
/// to the next such name, count only when the name is `product_token`.
pub fn x_robots_tag<'v>(values: impl IntoIterator<Item = &'v str>, product_token: &str) -> RobotsDirectives {
    let mut directives = RobotsDirectives::default();
    for value in values {
        let mut for_us = true;
        for part in value.split(',') {
            let word = match part.split_once(':') {
                Some((name, _)) if has_value(name) => continue,
                Some((name, word)) => {
                    for_us = name.trim().eq_ignore_ascii_case(product_token);
                    word
                }
                None => part,
            };
            if for_us {
                directives.add(word.trim());
            }
        }
    }
    directives
}

/// Directives of the form `name: value`, which would look like a robot's name otherwise.
fn has_value(name: &str) -> bool {
    const NAMES: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    // The name may follow a robot's: `googlebot: unavailable_after: 25 Jun 2030`.
    NAMES.iter().any(|n| name.trim().eq_ignore_ascii_case(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directives as letters: Index, Follow, Archive, Snippet, iMage.
    fn letters(d: RobotsDirectives) -> String {
        [(d.noindex, 'I'), (d.nofollow, 'F'), (d.noarchive, 'A'), (d.nosnippet, 'S'), (d.noimageindex, 'M')]
            .iter()
            .filter_map(|&(set, letter)| set.then_some(letter))
            .collect()
    }

    #[test]
    fn meta_lists_are_read() {
        for (list, expect) in [
            ("", ""),
            ("all", ""),
            ("index, follow", ""),
            ("noindex", "I"),
            ("NoFollow ,NOINDEX", "IF"),
            ("none", "IF"),
            ("noarchive,nosnippet, noimageindex", "ASM"),
            ("nocache", "A"),
            ("max-snippet:0, nofollow", "F"),
            ("nofollowx", ""),
        ] {
            assert_eq!(letters(RobotsDirectives::parse(list)), expect, "{list:?}");
        }
    }

    fn check(values: &[&str], expect: &str) {
        let directives = x_robots_tag(values.iter().copied(), "argiope");
        assert_eq!(letters(directives), expect, "{values:?}");
    }

    #[test]
    fn headers_for_all_and_for_us_count() {
        check(&[], "");
        check(&["noindex"], "I");
        check(&["noindex", "nofollow"], "IF");
        check(&["noindex, nofollow"], "IF");
        check(&["argiope: nofollow"], "F");
        check(&["Argiope:none"], "IF");
        check(&["googlebot: noindex, argiope: nofollow"], "F");
    }

    #[test]
    fn headers_for_others_do_not() {
        check(&["googlebot: nofollow"], "");
        check(&["googlebot: noindex, nofollow"], "");
        check(&["googlebot: noindex", "nofollow"], "F");
        check(&["argiope-images: nofollow"], "");
    }

    #[test]
    fn directives_with_values_are_no_robot_names() {
        check(&["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], "F");
        check(&["unavailable_after: Friday, 25-Aug-30 15:00:00 UTC"], "");
        check(&["max-snippet: 0, noindex"], "I");
        check(&["googlebot: unavailable_after: 25 Jun 2030, nofollow"], "");
    }
}
