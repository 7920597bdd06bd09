//! A change to a crawl: in words, and what it makes of the settings.

use std::fmt;
use std::str::FromStr;

use anyhow::bail;
use serde::{Deserialize, Serialize};
use settings::options::{CHANGEABLE, FIXED, Options};
use settings::plan::{Plan, check_patterns};
use settings::site_name::{SiteDelay, SiteName};
use settings::{table, usage};
use weburl::without_user_info;

use super::queue::{Removed, Retried};
use crate::{CrawlDir, Unready, watch_lock};

/// What changes are called.
const NAMES: [&str; 13] = [
    "pause", "resume", "stop", "exclude", "include", "hold", "release", "delay", "seeds", "retry", "remove", "set",
    "unset",
];

/// A change to a crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Nothing new is fetched.
    Pause,
    /// The crawl goes on after a pause.
    Resume,
    /// The run ends, as by a signal.
    Stop,
    /// URLs that match one of these patterns are no longer fetched, those in the queue included.
    Exclude(Vec<String>),
    /// Admits URLs that match one of these patterns too, if the crawl has include patterns.
    Include(Vec<String>),
    /// These sites get no requests. Their URLs stay in the queue.
    Hold(Vec<SiteName>),
    /// These sites are no longer on hold.
    Release(Vec<SiteName>),
    /// The delays between visits to these sites.
    DelayFor(Vec<SiteDelay>),
    /// More seeds.
    Seeds(Vec<String>),
    /// URLs with these outcomes that match these patterns are visited again, in a round: failures and refusals.
    Retry(Vec<String>),
    /// URLs in the queue that match one of these patterns are taken out of it. Others that are found later are followed.
    Remove(Vec<String>),
    /// Other values of settings, in the form of `crawl.toml`. They replace the values in force.
    Set(String),
    /// Settings that count as not given any more, by their keys: their defaults hold again.
    Unset(Vec<String>),
}

impl Change {
    /// The change to the given settings, with the content of the files that they name.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn set(given: &Options) -> anyhow::Result<Self> {
        let mut lines = String::new();
        for (key, value) in toml::Table::try_from(given.clone().with_files()?)? {
            lines.push_str(&format!("{key} = {value}\n"));
        }
        Ok(Change::Set(lines))
    }

    /// The change in words: what is done, and what to. Patterns, sites, `SITE=DELAY`, URLs, or lines of settings.
    #[must_use]
    pub fn words(&self) -> (&'static str, Vec<String>) {
        let sites = |sites: &[SiteName]| sites.iter().map(ToString::to_string).collect();
        match self {
            Change::Pause => ("pause", Vec::new()),
            Change::Resume => ("resume", Vec::new()),
            Change::Stop => ("stop", Vec::new()),
            Change::Exclude(patterns) => ("exclude", patterns.clone()),
            Change::Include(patterns) => ("include", patterns.clone()),
            Change::Hold(names) => ("hold", sites(names)),
            Change::Release(names) => ("release", sites(names)),
            Change::DelayFor(delays) => ("delay", delays.iter().map(ToString::to_string).collect()),
            Change::Seeds(seeds) => ("seeds", seeds.clone()),
            Change::Retry(words) => ("retry", words.clone()),
            Change::Remove(patterns) => ("remove", patterns.clone()),
            Change::Set(given) => ("set", given.lines().map(str::to_owned).collect()),
            Change::Unset(keys) => ("unset", keys.clone()),
        }
    }

    /// The change that [`Change::words`] says.
    ///
    /// # Errors
    /// They say none.
    pub fn from_words(what: &str, to: &[String]) -> anyhow::Result<Self> {
        fn each<T: FromStr<Err = String>>(texts: &[String]) -> anyhow::Result<Vec<T>> {
            texts.iter().map(|text| text.parse().map_err(usage)).collect()
        }
        if !NAMES.contains(&what) {
            bail!(usage(format!("`{what}` is no change; possible are {}", NAMES.join(", "))));
        }
        let takes_none = matches!(what, "pause" | "resume" | "stop");
        // A retry of all failures names none.
        let is_whole = takes_none || what == "retry";
        if takes_none && !to.is_empty() || !is_whole && to.is_empty() {
            bail!(usage(format!("{what}: {}", if takes_none { "takes no values" } else { "values are missing" })));
        }
        Ok(match what {
            "pause" => Change::Pause,
            "resume" => Change::Resume,
            "stop" => Change::Stop,
            "exclude" => Change::Exclude(to.to_vec()),
            "include" => Change::Include(to.to_vec()),
            "hold" => Change::Hold(each(to)?),
            "release" => Change::Release(each(to)?),
            "delay" => Change::DelayFor(each(to)?),
            "seeds" => Change::Seeds(to.to_vec()),
            "retry" => Change::Retry(to.to_vec()),
            "remove" => Change::Remove(to.to_vec()),
            "set" => Change::Set(to.iter().map(|line| format!("{line}\n")).collect()),
            _ => Change::Unset(to.iter().map(|key| table::key(key).map_err(usage)).collect::<Result<_, _>>()?),
        })
    }

    /// The keys of the settings that it names. What cannot be read names none: it is refused where it is read.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        match self {
            Change::Set(given) => {
                given.parse::<toml::Table>().map(|table| table.into_iter().map(|(key, _)| key).collect())
            }
            Change::Unset(keys) => Ok(keys.clone()),
            _ => Ok(Vec::new()),
        }
        .unwrap_or_default()
    }

    /// Why it is not made where no crawl runs, if it is for a run.
    pub(crate) fn unready_without_run(&self, dir: &CrawlDir) -> Option<Unready> {
        let root = dir.root().to_owned();
        match self {
            // The next round of a watch takes them.
            Change::Seeds(_) if watch_lock::is_watched(dir) => None,
            Change::Seeds(_) => Some(Unready::NoRunForSeeds { root }),
            Change::Stop => Some(Unready::NothingToStop { root }),
            _ => None,
        }
    }

    /// The options that it gives.
    fn given(&self) -> anyhow::Result<Options> {
        Ok(match self {
            Change::Exclude(patterns) => Options { exclude: patterns.clone(), ..Options::default() },
            Change::Include(patterns) => Options { include: patterns.clone(), ..Options::default() },
            Change::Set(given) => Options::parse(given)?,
            _ => Options::default(),
        })
    }

    /// The options after the change; `None` if it does not change options.
    ///
    /// # Errors
    /// Its settings cannot be read.
    pub fn of(&self, options: &Options) -> anyhow::Result<Option<Options>> {
        let mut changed = options.clone();
        check_patterns(&self.given()?)?;
        match self {
            Change::Pause => changed.paused = Some(true),
            Change::Resume => changed.paused = Some(false),
            Change::Exclude(patterns) => extend(&mut changed.exclude, patterns),
            // The first pattern would leave out all others.
            Change::Include(_) if changed.include.is_empty() => {
                bail!(usage("the crawl has no include pattern, so all URLs count already: `set --include` narrows it"))
            }
            Change::Include(patterns) => extend(&mut changed.include, patterns),
            Change::Hold(sites) => extend(&mut changed.hold, sites),
            Change::Release(sites) => {
                if let Some(other) = sites.iter().find(|site| !changed.hold.contains(site)) {
                    bail!(usage(format!("{other} is not on hold")));
                }
                changed.hold.retain(|site| !sites.contains(site));
            }
            Change::DelayFor(delays) => {
                changed.delay_for.retain(|before| delays.iter().all(|delay| delay.site != before.site));
                changed.delay_for.extend_from_slice(delays);
            }
            Change::Unset(keys) => changed = options.without(keys)?,
            Change::Set(given) => {
                refuse_without_effect(given)?;
                let (keys, given) = (self.keys(), Options::parse(given)?);
                let kept = toml::Table::try_from(&given)?;
                // Another user may send the request, and the file may be for its owner alone.
                if let Some((key, _)) = given.unread_files().first() {
                    bail!(usage(format!("{key}: files are for `argiope steer`, which reads them once")));
                }
                if let Some(key) = keys.iter().find(|key| !kept.contains_key(*key)) {
                    bail!(usage(format!(
                        "{key}: the crawl does not keep it, so each run takes its own: give the flag to `argiope crawl`"
                    )));
                }
                changed = given.over(options)?;
            }
            Change::Retry(words) => return Retried::read(words).map(|_| None),
            Change::Remove(words) => return Removed::read(words).map(|_| None),
            Change::Seeds(_) | Change::Stop => return Ok(None),
        }
        Ok(Some(changed))
    }

    /// The plan after the change; `None` if it does not change options.
    ///
    /// # Errors
    /// It cannot be used, or not while the crawl runs.
    pub fn plan(&self, options: &Options) -> anyhow::Result<Option<Plan>> {
        let Some(changed) = self.of(options)? else { return Ok(None) };
        // Before files are read that it names.
        let fixed: Vec<String> = changed.differing_keys(options)?.into_iter().collect();
        let fixed: Vec<&str> = fixed.iter().map(String::as_str).filter(|key| !CHANGEABLE.contains(key)).collect();
        if !fixed.is_empty() {
            let named = fixed.join(", ");
            bail!(usage(match fixed.iter().find(|key| FIXED.contains(key)) {
                Some(_) => format!("{named} cannot change within a crawl: begin another one, in another directory"),
                None =>
                    format!("{named} cannot change while a crawl runs: stop it, and give the flag to `argiope crawl`"),
            }));
        }
        Ok(Some(Plan::new(&changed)?))
    }
}

/// Refuses lines that set nothing: none, or a list without values, which counts as not given.
fn refuse_without_effect(given: &str) -> anyhow::Result<()> {
    // What is no TOML is refused where it is read.
    let Ok(table) = given.parse::<toml::Table>() else { return Ok(()) };
    if table.is_empty() {
        bail!(usage("set: no setting is given"));
    }
    match table.iter().find(|(_, value)| value.as_array().is_some_and(Vec::is_empty)) {
        Some((key, _)) => bail!(usage(format!("{key} = []: an empty list changes nothing; `unset {key}` empties it"))),
        None => Ok(()),
    }
}

fn extend<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}

/// The words on one line. Seeds are without their users and passwords.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, mut to) = self.words();
        if matches!(self, Change::Seeds(_)) {
            to = to.iter().map(|seed| without_user_info(seed).into_owned()).collect();
        }
        let between = if matches!(self, Change::Set(_)) { ", " } else { " " };
        match to.is_empty() {
            true => f.write_str(what),
            false => write!(f, "{what} {}", to.join(between)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_every_change() {
        let site = |text: &str| text.parse::<SiteName>().expect("a site");
        let delay = SiteDelay { site: site("a.test"), delay: "5s".parse().expect("a delay") };
        for (change, shown) in [
            (Change::Pause, "pause"),
            (Change::Resume, "resume"),
            (Change::Stop, "stop"),
            (Change::Exclude(vec!["*.pdf".to_owned(), "*/x/*".to_owned()]), "exclude *.pdf */x/*"),
            (Change::Include(vec!["*/docs/*".to_owned()]), "include */docs/*"),
            (Change::Hold(vec![site("a.test"), site("https://b.test:81")]), "hold a.test https://b.test:81"),
            (Change::Release(vec![site("a.test")]), "release a.test"),
            (Change::DelayFor(vec![delay]), "delay a.test=5s"),
            (Change::Seeds(vec!["http://a.test/".to_owned()]), "seeds http://a.test/"),
            (Change::Retry(vec!["http_error".to_owned(), "*/docs/*".to_owned()]), "retry http_error */docs/*"),
            (Change::Retry(Vec::new()), "retry"),
            (Change::Remove(vec!["*/docs/*".to_owned()]), "remove */docs/*"),
            (Change::Unset(vec!["max-pages".to_owned(), "include".to_owned()]), "unset max-pages include"),
            (Change::Set("delay = \"5s\"\npatience = \"1h\"\n".to_owned()), "set delay = \"5s\", patience = \"1h\""),
        ] {
            let (what, to) = change.words();
            assert_eq!(Change::from_words(what, &to).expect("a change"), change);
            assert_eq!(change.to_string(), shown);
        }
    }

    #[test]
    fn settings_that_change_nothing_are_refused() {
        for (given, why) in [
            ("exclude = []\n", "exclude = []: an empty list"),
            ("# nothing\n", "no setting is given"),
            ("patience = \"1h\"\nbrowser = \"/bin/chromium\"\n", "browser: the crawl does not keep it"),
        ] {
            let error = Change::Set(given.to_owned()).of(&Options::default()).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn words_that_say_no_change_are_refused() {
        for (what, to, why) in [
            ("paus", &["x"][..], "`paus` is no change"),
            ("paus", &[], "`paus` is no change; possible are pause,"),
            ("", &[], "`` is no change"),
            ("pause", &["x"], "pause: takes no values"),
            ("hold", &[], "hold: values are missing"),
            ("hold", &["a.test/x"], "`a.test/x` is no site"),
            ("delay", &["5s"], "`5s` is not like example.org=5s"),
            ("unset", &["max-page"], "`max-page` is no setting"),
        ] {
            let to: Vec<String> = to.iter().map(ToString::to_string).collect();
            let error = Change::from_words(what, &to).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
