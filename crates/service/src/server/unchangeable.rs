//! Settings that a crawl by several workers does not have, and those that it was set up with.

use anyhow::bail;
use crawl::Change;
use settings::options::{CHANGEABLE, Options};
use settings::usage;

/// Why several processes cannot crawl with a setting, and what to do instead; `None` of others.
pub(super) fn lacking(key: &str) -> Option<&'static str> {
    Some(match key {
        "sandbox" => "the test web lives in one process; workers reach one that `argiope testweb` serves",
        "no-archive" | "no-dataset" => "a crawl by several workers needs both, to answer questions about its pages",
        _ => return None,
    })
}

/// Why a setting cannot change in a crawl by several workers, and what to do instead; `None` if it can.
fn fixed(key: &str) -> Option<&'static str> {
    let elsewhere = match key {
        "exclude-file" => "workers have no such file: `exclude` takes patterns",
        "browser" => "each worker has its own: give it to `argiope worker`",
        "cookies" | "cookie-jar" => "workers share no jar of cookies: only a crawl by one process has one",
        key => match lacking(key) {
            Some(why) => why,
            None if CHANGEABLE.contains(&key) => return None,
            None => {
                "cannot change in a crawl by several workers, which was set up with it: `argiope server` with another --store-schema and \
                 --archive begins another crawl"
            }
        },
    };
    Some(elsewhere)
}

/// Refuses options that make no sense where several processes crawl.
///
/// # Errors
/// There are some.
pub(super) fn check_options(given: &Options) -> anyhow::Result<()> {
    let given = [
        ("sandbox", given.sandbox == Some(true)),
        ("no-archive", given.no_archive == Some(true)),
        ("no-dataset", given.no_dataset == Some(true)),
    ];
    let refused = given.into_iter().filter(|(_, is_given)| *is_given).find_map(|(key, _)| Some((key, lacking(key)?)));
    match refused {
        Some((key, why)) => bail!(usage(format!("--{key}: {why}"))),
        None => Ok(()),
    }
}

/// Refuses a change of settings that cannot change here. It would have no effect, or another one for each worker.
///
/// # Errors
/// It is one.
pub(super) fn check_change(change: &Change) -> anyhow::Result<()> {
    match change.keys().into_iter().find_map(|key| fixed(&key).map(|why| (key, why))) {
        Some((key, why)) => bail!(usage(format!("{key}: {why}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use settings::table;

    use super::*;

    #[test]
    fn each_setting_that_cannot_change_is_refused_with_what_to_do_instead() -> anyhow::Result<()> {
        let ways_out = [
            ("sandbox", "`argiope testweb`"),
            ("no-archive", "needs both"),
            ("no-dataset", "needs both"),
            ("exclude-file", "`exclude` takes patterns"),
            ("browser", "`argiope worker`"),
            ("cookies", "only a crawl by one process"),
            ("cookie-jar", "only a crawl by one process"),
        ];
        let mut changeable = 0;
        for setting in table::all(&Options::default()) {
            let key = setting.key;
            let special = ways_out.iter().find(|(of, _)| *of == key).map(|(_, way_out)| *way_out);
            let other = (!setting.is_changeable).then_some("`argiope server` with another --store-schema");
            for change in [Change::Unset(vec![key.clone()]), Change::Set(format!("{key} = 1\n"))] {
                let refused = check_change(&change).err().map(|error| error.to_string());
                match special.or(other) {
                    Some(way_out) => {
                        let told = refused.unwrap_or_default();
                        assert!(told.starts_with(&format!("{key}: ")) && told.contains(way_out), "{change}: {told}");
                        // Nobody can stop a cluster and give a flag to a crawl by one process.
                        assert!(!told.contains("`argiope crawl`"), "{change}: {told}");
                    }
                    None => {
                        changeable += 1;
                        assert_eq!(refused, None, "{change}");
                    }
                }
            }
        }
        assert_eq!(changeable, 2 * (CHANGEABLE.len() - 1), "all but exclude-file");
        for (what, to) in [("pause", &[][..]), ("exclude", &["*".to_owned()]), ("delay", &["a.test=5s".to_owned()])] {
            check_change(&Change::from_words(what, to)?)?;
        }
        Ok(())
    }
}
