//! The change that takes another one back.

use settings::options::Options;

use super::Change;

impl Change {
    /// The change that takes this one back, given the options in force. `None` where nothing does: a URL that has left the queue, or an
    /// earlier value that is not known; and where nothing of it is in force any more.
    #[must_use]
    pub fn undo(&self, options: &Options) -> Option<Change> {
        let without = Options::default;
        match self {
            Change::Pause => Some(Change::Resume),
            Change::Resume => Some(Change::Pause),
            Change::Hold(sites) => {
                let held: Vec<_> = sites.iter().filter(|site| options.hold.contains(site)).cloned().collect();
                (!held.is_empty()).then_some(Change::Release(held))
            }
            Change::Release(sites) => Some(Change::Hold(sites.clone())),
            Change::Exclude(patterns) => {
                let exclude = rest(&options.exclude, |pattern| patterns.contains(pattern))?;
                if_any("exclude", exclude.is_empty(), Options { exclude, ..without() })
            }
            Change::Include(patterns) => {
                let include = rest(&options.include, |pattern| patterns.contains(pattern))?;
                // Without a pattern all URLs would count.
                (!include.is_empty()).then(|| Change::set(&Options { include, ..without() }).ok())?
            }
            Change::DelayFor(delays) => {
                let delay_for = rest(&options.delay_for, |delay| delays.contains(delay))?;
                if_any("delay-for", delay_for.is_empty(), Options { delay_for, ..without() })
            }
            Change::Stop
            | Change::Seeds(_)
            | Change::Retry(_)
            | Change::Remove(_)
            | Change::Set(_)
            | Change::Unset(_) => None,
        }
    }
}

/// What is left of a list; `None` if nothing is taken out of it.
fn rest<T: Clone>(all: &[T], is_taken: impl Fn(&T) -> bool) -> Option<Vec<T>> {
    let rest: Vec<T> = all.iter().filter(|one| !is_taken(one)).cloned().collect();
    (rest.len() < all.len()).then_some(rest)
}

/// The change to the given list; to none if it is empty.
fn if_any(key: &str, is_empty: bool, given: Options) -> Option<Change> {
    if is_empty { Some(Change::Unset(vec![key.to_owned()])) } else { Change::set(&given).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_taken_back_as_far_as_it_is_in_force() {
        let change = |what: &str, to: &[&str]| {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            Change::from_words(what, &to).expect("a change")
        };
        for (what, to, undo, after) in [
            ("pause", &[][..], Some("resume"), true),
            ("hold", &["a.test"], Some("release a.test"), true),
            ("exclude", &["*/x/*"], Some("unset exclude"), true),
            ("delay", &["a.test=5s"], Some("unset delay-for"), true),
            ("exclude", &["*/x/*"], None, false),
            ("hold", &["a.test"], None, false),
            ("set", &["max-pages = 5"], None, true),
            ("remove", &["*/x/*"], None, true),
        ] {
            let before = Options::default();
            let change = change(what, to);
            let changed = if after { change.of(&before).expect("a change") } else { None };
            let found = change.undo(&changed.unwrap_or(before)).map(|undo| undo.to_string());
            assert_eq!(found.as_deref(), undo, "{what}");
        }
    }

    #[test]
    fn what_was_there_before_stays() {
        let exclude = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let before = Options { exclude: exclude(&["*/a/*"]), ..Options::default() };
        let change = Change::Exclude(exclude(&["*/b/*"]));
        let changed = change.of(&before).expect("a change").expect("options");
        let undo = change.undo(&changed).expect("a change");
        let back = undo.of(&changed).expect("a change").expect("options");
        assert_eq!(back.exclude, before.exclude);
    }
}
