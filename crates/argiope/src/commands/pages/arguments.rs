//! The three arguments, as strictly as the course reads them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::bail;
use pages::seed;
use settings::usage;
use weburl::CanonicalRules;

/// The greatest depth accepted: deeper is a mistake, not a site.
pub(super) const DEPTH_MAX: u32 = 1000;

/// The arguments, counted and read as far as that needs no settings.
pub(super) struct Arguments {
    pub(super) seed_url: String,
    pub(super) page_directory: PathBuf,
    pub(super) max_depth: u32,
}

impl Arguments {
    /// Takes exactly three.
    pub(super) fn read(given: &[OsString]) -> anyhow::Result<Self> {
        let [seed_url, page_directory, max_depth] = given else {
            let count = given.len();
            bail!(usage(format!("pages takes exactly three arguments, seedURL pageDirectory maxDepth: {count} given")));
        };
        if page_directory.is_empty() {
            bail!(usage("pageDirectory has no name"));
        }
        let arguments = Arguments {
            seed_url: seed_url.to_string_lossy().into_owned(),
            page_directory: page_directory.into(),
            max_depth: depth(max_depth)?,
        };
        seed(&arguments.seed_url, &CanonicalRules::default())?;
        Ok(arguments)
    }
}

fn depth(text: &OsStr) -> anyhow::Result<u32> {
    let digits = text.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse().ok()).filter(|depth| *depth <= DEPTH_MAX) {
        Some(depth) => Ok(depth),
        None => bail!(usage(format!("maxDepth `{}` is not an integer from 0 to {DEPTH_MAX}", text.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[&str]) -> Result<(String, u32), String> {
        let given: Vec<OsString> = given.iter().map(OsString::from).collect();
        let arguments = Arguments::read(&given).map_err(|error| error.to_string())?;
        let rules = CanonicalRules { collapse_slashes: true, ..CanonicalRules::default() };
        Ok((seed(&arguments.seed_url, &rules).expect("read before").0.to_string(), arguments.max_depth))
    }

    #[test]
    fn arguments_that_can_be_used() {
        for (seed, depth, expect) in [
            ("http://a.test", "0", ("http://a.test/", 0)),
            ("Http://CS50TSE.CS.Dartmouth.edu//index.html", "2", ("http://cs50tse.cs.dartmouth.edu/index.html", 2)),
            ("https://a.test/x#y", "1000", ("https://a.test/x", 1000)),
        ] {
            assert_eq!(read(&[seed, "data", depth]), Ok((expect.0.to_owned(), expect.1)), "{seed} {depth}");
        }
    }

    #[test]
    fn depths_that_cannot() {
        for depth in ["", "-1", "+1", "1.5", "two", "1001", "99999999999", "0x1", " 1"] {
            let expect = format!("maxDepth `{depth}` is not an integer from 0 to 1000");
            assert_eq!(read(&["http://a.test/", "data", depth]), Err(expect));
        }
    }
}
