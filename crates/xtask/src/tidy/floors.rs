//! The floors of the crates, as `ARCHITECTURE.md` lists them. A crate stands on crates of its own row and of rows above it.

use std::collections::BTreeMap;

/// How the first line of the table begins.
const HEAD: &str = "| floor | crate |";

/// The row of each crate.
#[derive(Debug, Default, PartialEq)]
pub struct Floors(BTreeMap<String, usize>);

impl Floors {
    /// Reads the table: of each row the names in its second column.
    #[must_use]
    pub fn of(page: &str) -> Self {
        let rows = page.lines().skip_while(|line| !line.starts_with(HEAD)).skip(1);
        let rows = rows.take_while(|line| line.starts_with('|')).enumerate();
        let names = rows.flat_map(|(row, line)| {
            let crates = line.split('|').nth(2).unwrap_or_default();
            crates.split('`').skip(1).step_by(2).map(move |name| (name.to_owned(), row))
        });
        Floors(names.collect())
    }

    /// What the table says against a crate that depends on these.
    #[must_use]
    pub fn problems<'a>(&self, name: &str, uses: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let missing = |name: &str| format!("crates/{name}: ARCHITECTURE.md does not say on which floor it is");
        let Some(row) = self.0.get(name) else { return vec![missing(name)] };
        let is_below = |used: &&str| self.0.get(*used).is_some_and(|used| used > row);
        let below = uses.into_iter().filter(is_below);
        below
            .map(|used| format!("crates/{name}: is above {used} in the table of ARCHITECTURE.md, and uses it"))
            .collect()
    }

    /// The crates in the table that there are not.
    pub fn unknown<'a>(&'a self, known: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = String> + 'a {
        let unknown = self.0.keys().filter(move |name| !known(name));
        unknown.map(|name| format!("ARCHITECTURE.md: there is no crate `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A page

| floor | crate | what it is |
|---|---|---|
| values | `weburl` | the URL |
| pure | `sort`, `fresh` | as `engine` needs them |
| loop | `engine` | `step` |

| floor | is | another |
| `late` | `later` | |
";

    #[test]
    fn a_crate_uses_no_crate_of_a_row_below_its_own() {
        let floors = Floors::of(PAGE);
        let check = |name: &str, uses: &[&str], expect: &[&str]| {
            assert_eq!(floors.problems(name, uses.iter().copied()), expect, "{name} uses {uses:?}");
        };
        check("engine", &["sort", "weburl"], &[]);
        check("sort", &["fresh", "weburl", "serde"], &[]);
        check(
            "weburl",
            &["sort", "serde"],
            &["crates/weburl: is above sort in the table of ARCHITECTURE.md, and uses it"],
        );
        check("later", &[], &["crates/later: ARCHITECTURE.md does not say on which floor it is"]);
    }

    #[test]
    fn a_crate_that_there_is_not_has_no_floor() {
        let unknown: Vec<String> = Floors::of(PAGE).unknown(|name| name != "fresh").collect();
        assert_eq!(unknown, ["ARCHITECTURE.md: there is no crate `fresh`"]);
        assert_eq!(Floors::of(PAGE).unknown(|_| true).count(), 0);
    }
}
