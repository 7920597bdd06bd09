//! The change that takes another one back.

use anyhow::bail;
use serde::{Deserialize, Serialize};
use settings::options::Options;
use settings::plan::Plan;
use toml::Table;

use super::change::Change;
use super::changed::{Changed, Replaced};
use crate::{CrawlDir, Unready};

/// What takes a change back.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo {
    /// These changes; at least one.
    By(Vec<Change>),
    /// Nothing, for this reason.
    Not(&'static str),
}

/// Why most changes are not taken back: later ones have taken their place.
const NOT_IN_FORCE: &str = "nothing of it is in force";
/// The same of a change that changed nothing, as one made twice.
const CHANGED_NOTHING: &str = "it changed nothing: what it says counted before";

impl Replaced {
    /// The changes back to it from `change`, as far as what `change` made holds now. What others changed since stays.
    fn undo(&self, change: &Change, now: &Options) -> anyhow::Result<Vec<Change>> {
        let before: Options = self.values.clone().try_into()?;
        let mut back = now.clone();
        match change {
            Change::Hold(sites) => {
                let added = sites.iter().filter(|site| !before.hold.contains(site) && now.hold.contains(site));
                return Ok(if_any(added.cloned().collect(), Change::Release));
            }
            Change::Release(sites) => {
                let left = sites.iter().filter(|site| before.hold.contains(site) && !now.hold.contains(site));
                return Ok(if_any(left.cloned().collect(), Change::Hold));
            }
            Change::Exclude(patterns) => {
                back.exclude.retain(|one| !patterns.contains(one) || before.exclude.contains(one));
            }
            Change::Include(patterns) => {
                back.include.retain(|one| !patterns.contains(one) || before.include.contains(one));
                // Without a pattern all URLs would count.
                if back.include.is_empty() {
                    return Ok(Vec::new());
                }
            }
            Change::DelayFor(delays) => {
                for delay in delays {
                    if let Some(at) = back.delay_for.iter().position(|one| one == delay) {
                        back.delay_for.remove(at);
                        back.delay_for.extend(before.delay_for.iter().filter(|one| one.site == delay.site).cloned());
                    }
                }
            }
            _ => return self.undo_keys(change, now),
        }
        let (values, differing) = (Table::try_from(&back)?, back.differing_keys(now)?);
        Ok(set_or_unset(differing.iter().map(|key| (key, values.get(key)))))
    }

    /// The same of a change that names keys: each goes back whose value is still that of the change.
    fn undo_keys(&self, change: &Change, now: &Options) -> anyhow::Result<Vec<Change>> {
        let now = Table::try_from(now)?;
        let made = match change {
            Change::Set(given) => Table::try_from(Options::parse(given)?)?,
            // Without a value they have their defaults.
            _ => {
                let mut without = now.clone();
                without.retain(|key, _| !self.values.contains_key(key));
                Table::try_from(Plan::new(&without.try_into()?)?.options)?
            }
        };
        let values = self.values.iter().map(|(key, value)| (key, Some(value)));
        let all = values.chain(self.absent.iter().map(|key| (key, None)));
        let holds = |key: &String| now.get(key) == made.get(key);
        Ok(set_or_unset(all.filter(|(key, _)| holds(key))))
    }
}

/// The changes that give settings these values, or none.
fn set_or_unset<'a>(settings: impl Iterator<Item = (&'a String, Option<&'a toml::Value>)>) -> Vec<Change> {
    let (mut lines, mut absent) = (String::new(), Vec::new());
    for (key, value) in settings {
        match value {
            Some(value) => lines.push_str(&format!("{key} = {value}\n")),
            None => absent.push(key.clone()),
        }
    }
    let set = (!lines.is_empty()).then_some(Change::Set(lines));
    set.into_iter().chain(if_any(absent, Change::Unset)).collect()
}

fn if_any<T>(all: Vec<T>, change: fn(Vec<T>) -> Change) -> Vec<Change> {
    if all.is_empty() { Vec::new() } else { vec![change(all)] }
}

/// The order to take a change back by changes that somebody has seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeBack {
    /// The change.
    pub changed: Changed,
    /// What takes it back.
    pub by: Vec<Change>,
}

impl TakeBack {
    /// Checks that these changes still take the change back. Nobody else may change the settings from here on until they are made.
    ///
    /// # Errors
    /// [`Unready::Outdated`]: the settings are others by now. Or they cannot be read.
    pub(super) fn check(&self, dir: &CrawlDir) -> anyhow::Result<()> {
        match self.changed.undo(&dir.options()?) {
            Undo::By(changes) if changes == self.by => Ok(()),
            _ => bail!(Unready::Outdated),
        }
    }
}

impl Changed {
    /// What takes this change back, given the options in force at this moment. It may be made only before they change again: see [`TakeBack`].
    #[must_use]
    pub fn undo(&self, options: &Options) -> Undo {
        match (&self.change, &self.replaced) {
            (Change::Pause, _) => Undo::By(vec![Change::Resume]),
            (Change::Resume, _) => Undo::By(vec![Change::Pause]),
            (Change::Stop, _) => Undo::Not("`argiope crawl` goes on"),
            (Change::Seeds(_), _) => Undo::Not(
                "a seed stays one: `exclude` keeps its pages from being fetched, and `remove` empties the queue of them",
            ),
            (Change::Retry(_), _) => Undo::Not("the URLs are visited again; `hold` keeps a site from it"),
            // They ended as excluded, as those that others removed: nothing says which are of this change.
            (Change::Remove(_), _) => Undo::Not(
                "`retry excluded` with the same patterns visits the URLs in a round, with all others excluded",
            ),
            (_, None) => Undo::Not("the values before were not written down"),
            (_, Some(replaced)) if replaced.values.is_empty() && replaced.absent.is_empty() => {
                Undo::Not(CHANGED_NOTHING)
            }
            (change, Some(replaced)) => match replaced.undo(change, options) {
                Ok(changes) if !changes.is_empty() => Undo::By(changes),
                _ => Undo::Not(NOT_IN_FORCE),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(what: &str, to: &[&str]) -> Change {
        let to: Vec<String> = to.iter().map(ToString::to_string).collect();
        Change::from_words(what, &to).expect("a change")
    }

    /// The options after a change, and the line of the journal.
    fn made(before: &Options, what: &str, to: &[&str]) -> (Options, Changed) {
        let change = change(what, to);
        let after = change.of(before).expect("a change").expect("options");
        let replaced = Replaced::by(&change, before, &after).expect("options");
        (after, Changed { at: String::new(), change, replaced, order: None })
    }

    fn told(undo: Undo) -> String {
        match undo {
            Undo::By(changes) => changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "),
            Undo::Not(why) => format!("not: {why}"),
        }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_change_goes_back_to_what_was_before() {
        let delays = |texts: &[&str]| texts.iter().map(|text| text.parse().expect("a delay")).collect();
        let none = Options::default();
        let some = Options {
            exclude: strings(&["*/a/*"]),
            include: strings(&["*/i/*"]),
            delay_for: delays(&["a.test=4s"]),
            hold: vec!["a.test".parse().expect("a site")],
            max_pages: Some(7),
            ..Options::default()
        };
        for (before, what, to, undo) in [
            (&none, "hold", &["a.test"][..], "release a.test"),
            (&none, "exclude", &["*/x/*"], "unset exclude"),
            (&none, "delay", &["a.test=5s"], "unset delay-for"),
            (&none, "set", &["max-pages = 5"], "unset max-pages"),
            (&some, "exclude", &["*/b/*", "*/a/*"], "set exclude = [\"*/a/*\"]"),
            (&some, "include", &["*/b/*"], "set include = [\"*/i/*\"]"),
            (&some, "delay", &["a.test=2s"], "set delay-for = [\"a.test=4s\"]"),
            (&some, "hold", &["b.test", "a.test"], "release b.test"),
            (&some, "release", &["a.test"], "hold a.test"),
            (&some, "set", &["max-pages = 5", "patience = \"1h\""], "set max-pages = 7 + unset patience"),
            (&some, "unset", &["max-pages"], "set max-pages = 7"),
            // What changed nothing.
            (&some, "hold", &["a.test"], "not: it changed nothing: what it says counted before"),
            (&some, "exclude", &["*/a/*"], "not: it changed nothing: what it says counted before"),
        ] {
            let (after, changed) = made(before, what, to);
            let json = serde_json::to_string(&changed).expect("JSON");
            assert_eq!(serde_json::from_str::<Changed>(&json).expect("a change"), changed);
            let undo_now = changed.undo(&after);
            assert_eq!(told(undo_now.clone()), undo, "{what} {to:?}");
            if let Undo::By(changes) = undo_now {
                let back = changes.iter().fold(after, |now, change| change.of(&now).expect("one").expect("options"));
                assert_eq!(back.differing_keys(before).expect("options").len(), 0, "{what} {to:?}");
                assert_eq!(told(changed.undo(&back)), "not: nothing of it is in force", "{what} {to:?}, twice");
            }
        }
    }

    #[test]
    fn a_setting_with_a_default_goes_back_to_its_value() {
        let given = Options { max_pages: Some(7), delay: Some("3s".parse().expect("a span")), ..Options::default() };
        // As a crawl has them.
        let before = Plan::new(&given).expect("options").options;
        for (what, to, undo) in [
            ("unset", &["delay"][..], "set delay = \"3s\""),
            ("unset", &["delay", "max-pages"], "set delay = \"3s\", max-pages = 7"),
            ("set", &["delay = \"7s\""], "set delay = \"3s\""),
        ] {
            let change = change(what, to);
            let after = change.plan(&before).expect("a change").expect("options").options;
            let replaced = Replaced::by(&change, &before, &after).expect("options");
            let changed = Changed { at: String::new(), change, replaced, order: None };
            assert_eq!(told(changed.undo(&after)), undo, "{what} {to:?}");
            let later = Options { delay: Some("9s".parse().expect("a span")), ..after };
            let left = if to.len() > 1 { "set max-pages = 7" } else { "not: nothing of it is in force" };
            assert_eq!(told(changed.undo(&later)), left, "{what} {to:?}, changed since");
        }
    }

    #[test]
    fn what_others_changed_since_stays() {
        let before = Options::default();
        let (after, first) = made(&before, "exclude", &["*/a/*"]);
        let (after, _) = made(&after, "exclude", &["*/b/*"]);
        assert_eq!(told(first.undo(&after)), "set exclude = [\"*/b/*\"]");
        let (after, first) = made(&before, "delay", &["a.test=5s"]);
        let (after, _) = made(&after, "delay", &["a.test=9s", "b.test=2s"]);
        assert_eq!(told(first.undo(&after)), "not: nothing of it is in force");
        let (after, first) = made(&before, "set", &["max-pages = 5", "patience = \"1h\""]);
        let (after, _) = made(&after, "set", &["max-pages = 9"]);
        assert_eq!(told(first.undo(&after)), "unset patience");
    }

    #[test]
    fn what_is_not_taken_back_says_why() {
        for (json, expect) in [
            (r#"{"at":"","change":{"set":"max-pages = 5\n"}}"#, "not: the values before were not written down"),
            (r#"{"at":"","change":{"exclude":["*/x/*"]}}"#, "not: the values before were not written down"),
            (r#"{"at":"","change":"stop"}"#, "not: `argiope crawl` goes on"),
            (
                r#"{"at":"","change":{"remove":["*/x/*"]}}"#,
                "not: `retry excluded` with the same patterns visits the URLs in a round, with all others excluded",
            ),
        ] {
            let changed: Changed = serde_json::from_str(json).expect("a change as an earlier version wrote it");
            assert_eq!(told(changed.undo(&Options::default())), expect, "{json}");
        }
    }
}
