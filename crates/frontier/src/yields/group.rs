//! The groups that a URL belongs to: by its directories, and by its path with the names of its parameters.

use std::fmt;

use weburl::CanonicalUrl;

use crate::hashing::mixed;

/// Directories from the root whose whole trees are groups.
pub(super) const TREES: usize = 4;

/// Groups of a URL, at most.
pub(super) const GROUPS_OF_URL: usize = TREES + 2;

/// Keys of groups begin with these bits, and few of the other shapes that are counted do: so a site's record tells whether it has a group
/// that was noticed.
const MARK: u64 = 0xFFFF << MARK_SHIFT;
const MARK_SHIFT: u32 = 48;

/// URLs of a site that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group<'a> {
    /// One path, with parameters of the same names.
    Parameters {
        /// The path.
        path: &'a str,
        /// The query of one of them.
        query: &'a str,
    },
    /// What lies directly in a directory.
    Directory(&'a str),
    /// A directory and all below.
    Tree(&'a str),
}

/// The groups of a URL, the narrowest first.
pub fn groups_of(url: &CanonicalUrl) -> impl Iterator<Item = Group<'_>> {
    let path = url.path();
    let parameters = url.query().map(|query| Group::Parameters { path, query });
    let trees = ends_of_trees(path).into_iter().filter(|end| *end > 0).map(|end| Group::Tree(&path[..end]));
    parameters.into_iter().chain([Group::Directory(directory(path))]).chain(trees)
}

/// Where the directories end whose trees a path lies in, the narrowest first; 0 where there are fewer of them.
pub(super) fn ends_of_trees(path: &str) -> [usize; TREES] {
    let mut ends = [0; TREES];
    let mut count = 0;
    for (end, (at, _)) in ends.iter_mut().zip(path.match_indices('/')) {
        *end = at + 1;
        count += 1;
    }
    ends[..count].reverse();
    ends
}

/// True if a key may be one of a group.
#[must_use]
pub const fn is_key_of_group(key: u64) -> bool {
    key >> MARK_SHIFT == MARK >> MARK_SHIFT
}

impl Group<'_> {
    /// Its key among the shapes that are counted of a site.
    #[must_use]
    pub fn key(&self) -> u64 {
        let hash = match self {
            Group::Parameters { path, query } => hash(1, path).wrapping_add(names(query)),
            Group::Directory(directory) => hash(2, directory),
            Group::Tree(directory) => hash(3, directory),
        };
        mixed(hash) | MARK
    }

    /// True if a URL of the site belongs to it.
    #[must_use]
    pub fn contains(&self, url: &CanonicalUrl) -> bool {
        match self {
            Group::Parameters { path, query } => {
                url.path() == *path && url.query().is_some_and(|other| names(other) == names(query))
            }
            Group::Directory(directory) => url.path().strip_prefix(directory).is_some_and(|rest| !rest.contains('/')),
            Group::Tree(directory) => url.path().starts_with(directory),
        }
    }
}

impl fmt::Display for Group<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Group::Directory(directory) => f.write_str(directory),
            Group::Tree(directory) => write!(f, "{directory}*"),
            Group::Parameters { path, query } => {
                f.write_str(path)?;
                for (at, name) in names_of(query).enumerate() {
                    write!(f, "{}{name}", if at == 0 { '?' } else { '&' })?;
                }
                Ok(())
            }
        }
    }
}

/// The part of a path up to its last slash.
pub(super) fn directory(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |at| at + 1)]
}

fn names_of(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name))
}

/// A hash of the names of parameters, whatever their order.
fn names(query: &str) -> u64 {
    names_of(query).fold(0, |sum, name| sum.wrapping_add(mixed(hash(4, name))))
}

/// FNV-1a. A site gains nothing by making its own groups collide.
fn hash(kind: u8, text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(step(0xcbf2_9ce4_8422_2325, kind), step)
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://a.test{path}"), &CanonicalRules::default()).expect(path)
    }

    #[test]
    fn a_url_belongs_to_its_directories_and_to_its_parameters() {
        for (path, expect) in [
            ("/", &["/", "/*"][..]),
            ("/a", &["/", "/*"]),
            ("/a/b.html", &["/a/", "/a/*", "/*"]),
            ("/a/b/c/d/e/f", &["/a/b/c/d/e/", "/a/b/c/*", "/a/b/*", "/a/*", "/*"]),
            ("/a?y=1&x=2", &["/a?y&x", "/", "/*"]),
            ("/a?", &["/a", "/", "/*"]),
        ] {
            let names: Vec<String> = groups_of(&url(path)).map(|group| group.to_string()).collect();
            assert_eq!(names, expect, "{path}");
        }
    }

    #[test]
    fn what_belongs_to_a_group_has_its_key() {
        let paths = ["/", "/a/", "/a/x", "/a/b/x", "/a/b/y", "/a?x=1", "/a?x=2", "/a?x=1&y=1", "/a?y=2&x=2", "/b?x=1"];
        for (one, other) in paths.iter().flat_map(|one| paths.map(|other| (url(one), url(other)))) {
            for group in groups_of(&one) {
                let has_key = groups_of(&other).any(|its| its.key() == group.key());
                assert_eq!(group.contains(&other), has_key, "{group}: {one} {other}");
                assert!(is_key_of_group(group.key()));
            }
        }
    }
}
