//! Notices for the user of a crawl.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use model::{Redacted, Timestamp};
use printable::{Printable, counted};
use settings::units::human_bytes;
use weburl::{CanonicalUrl, Site};

use crate::Waits;
use crate::covered::Covered;

/// A notice for the user. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// User names and passwords in seeds are used only for the sites of these seeds.
    Credentials {
        /// Some of the sites.
        sites: Vec<Site>,
        /// How many more there are.
        more: usize,
        /// Where they are stored.
        place: String,
    },
    /// A seed redirects to a site that does not get the secrets of the seed's site.
    SecretsStayed {
        /// The seed.
        seed: CanonicalUrl,
        /// The other site.
        site: Site,
    },
    /// Secrets that earlier versions stored with the other options have a file of their own.
    SecretsMoved {
        /// The options.
        options: String,
        /// Where they were.
        from: PathBuf,
        /// Where they are.
        to: PathBuf,
    },
    /// Cookies were given.
    Cookies {
        /// Those that are sent.
        taken: u64,
        /// Those whose time is over.
        expired: u64,
        /// Entries of storage that pages have in the browser.
        stored: u64,
        /// Where they are stored.
        place: PathBuf,
    },
    /// Cookies that servers set are not kept.
    CookiesLost {
        /// Too many of a site, or in all, or too long.
        beyond_limits: u64,
        /// Why the file lacks some.
        failed: Option<String>,
    },
    /// Records have `***` in place of known values.
    Redacted {
        /// How many.
        values: Redacted,
        /// Some of the sites.
        sites: Vec<Site>,
        /// How many more there are at least.
        more: usize,
    },
    /// How a login went.
    LoggedIn {
        /// Its name.
        name: String,
        /// How often it was done.
        logins: u64,
        /// Pages that look as if one were logged out, and are recorded as they are.
        closed: u64,
        /// How often it was refused.
        refused: u64,
    },
    /// The browser that this file names is not used.
    BrowserNotUsed(PathBuf),
    /// The settings of an earlier version name a file, whose content they have from now on.
    FileKept {
        /// The setting.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The settings.
        settings: PathBuf,
    },
    /// Requisites are fetched from now on: those of pages that were fetched before are not.
    RequisitesFromNow,
    /// What a rule has taken out of pages in a round.
    Items {
        /// The rule.
        table: String,
        /// The last round that visited pages of the rule; 0 in the archive of another tool.
        round: u32,
        /// Rows of that round.
        rows: u64,
        /// How many of them have a value, by field, in percent; nothing without rows.
        filled: Vec<(String, u64)>,
        /// Pages that had rows at the visit before, and have none now.
        lost: u64,
        /// Pages that had rows at the visit before, and are gone or moved.
        gone: u64,
    },
    /// A rule has found nothing.
    NoItems(String),
    /// Pages that were visited again have fewer rows than at the visit before.
    RowsDropped {
        /// The rule.
        table: String,
        /// Rows that they had.
        before: u64,
        /// Rows that they have now.
        now: u64,
        /// How many of them had any.
        pages: u64,
        /// How many of these have none now.
        lost: u64,
    },
    /// A field is found less often than before.
    FillDropped {
        /// The rule.
        table: String,
        /// The field.
        field: String,
        /// Rows with a value before, in percent.
        before: u64,
        /// The same now.
        now: u64,
    },
    /// A line of a file of seeds is no URL.
    SeedLeftOut {
        /// The file.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// Why it is none.
        why: String,
    },
    /// More lines of a file of seeds are no URLs than notices name.
    SeedsLeftOut {
        /// The file.
        file: String,
        /// How many in all.
        lines: u64,
    },
    /// Seeds are at private addresses, and others may be public.
    MixedSeeds {
        /// Some of the private sites.
        private: Vec<Site>,
        /// How many more there are.
        more: usize,
    },
    /// The rules admit more than before, and what they excluded stays so.
    ExcludedStay {
        /// URLs that are excluded.
        urls: u64,
        /// The crawl's directory.
        root: PathBuf,
    },
    /// The clock is behind the last run.
    ClockBack {
        /// How far.
        by: Duration,
        /// The last date of that run.
        last: Timestamp,
    },
    /// The last run is very long ago, by the clock.
    ClockForward {
        /// How long.
        by: Duration,
        /// The last date of that run.
        last: Timestamp,
    },
    /// The archive has more than the state knows.
    SetAside {
        /// Files of the archive.
        files: u64,
        /// Their length in bytes.
        bytes: u64,
        /// Where they are now.
        place: PathBuf,
        /// The crawl's directory.
        root: PathBuf,
    },
    /// Rows of the dataset were derived from the archive.
    Derived(u64),
    /// Rows of the dataset lack content that is in an earlier archive.
    Lacking(u64),
    /// Another command uses the state, so the dataset could not be completed.
    DatasetInUse(PathBuf),
    /// This user may not write what the dataset lacks.
    DatasetIncomplete {
        /// The crawl's directory.
        root: PathBuf,
        /// What it has.
        covered: Covered,
    },
    /// URLs are in the frontier again.
    Reopened {
        /// How many.
        urls: u64,
        /// Of how many sites.
        sites: u64,
    },
    /// A round has begun, in which known URLs are visited again.
    RoundBegun {
        /// Its number.
        round: u32,
        /// How many URLs.
        urls: u64,
    },
    /// A round that was begun before continues.
    RoundGoesOn {
        /// Its number.
        round: u32,
        /// How many URLs are left to be visited again.
        urls: u64,
    },
    /// Nothing is to be visited again.
    RoundOfNothing {
        /// So many would be, but were visited too short a time ago.
        too_young: u64,
        /// Patterns say what is to be visited.
        is_by_pattern: bool,
    },
    /// A schedule visits no page now.
    NothingDue(Waits),
    /// Earlier archives were taken in.
    TakenIn {
        /// Payloads that can be looked up.
        payloads: u64,
        /// Files that were read for it.
        files: u64,
        /// Payloads that only an index tells of.
        unverifiable: u64,
        /// Symbolic links that were not followed.
        links: u64,
        /// WARC files that end inside a record.
        cut: Vec<PathBuf>,
    },
    /// What came of looking payloads up in earlier archives.
    Referred {
        /// Payloads whose earlier record is the same, byte for byte.
        verified: u64,
        /// Payloads whose earlier record only an index tells of. They are recorded in full.
        unverified: u64,
        /// Earlier records that could not be read, or have another payload.
        wrong: u64,
    },
    /// The crawl is paused.
    Paused(PathBuf),
    /// The browser runs without its sandbox.
    NoSandbox,
    /// The reader of the stream did not read all of it.
    StreamLeft {
        /// Bytes that are left to the next run.
        bytes: u64,
        /// Where it goes.
        target: String,
        /// The reader of standard output went away, which ended the run.
        is_gone: bool,
    },
}

impl Notice {
    /// Whether it is a problem, which a quiet command names too: something that was given or crawled is left out, lost or not used, or nothing
    /// goes on until the user does something about it.
    #[must_use]
    pub const fn is_problem(&self) -> bool {
        match self {
            Notice::SeedLeftOut { .. }
            | Notice::SeedsLeftOut { .. }
            | Notice::SecretsStayed { .. }
            | Notice::CookiesLost { .. }
            | Notice::BrowserNotUsed(_)
            | Notice::NoItems(_)
            | Notice::RowsDropped { .. }
            | Notice::FillDropped { .. }
            | Notice::ClockBack { .. }
            | Notice::SetAside { .. }
            | Notice::Lacking(_)
            | Notice::DatasetInUse(_)
            | Notice::DatasetIncomplete { .. }
            | Notice::Paused(_)
            | Notice::StreamLeft { .. } => true,
            Notice::Cookies { expired, .. } => *expired > 0,
            Notice::LoggedIn { closed, refused, .. } => *closed > 0 || *refused > 0,
            Notice::TakenIn { unverifiable, links, cut, .. } => *unverifiable > 0 || *links > 0 || !cut.is_empty(),
            Notice::RoundOfNothing { too_young, is_by_pattern } => *is_by_pattern && *too_young == 0,
            Notice::Referred { wrong, .. } => *wrong > 0,
            Notice::Credentials { .. }
            | Notice::Redacted { .. }
            | Notice::SecretsMoved { .. }
            | Notice::FileKept { .. }
            | Notice::RequisitesFromNow
            | Notice::Items { .. }
            | Notice::Derived(_)
            | Notice::Reopened { .. }
            | Notice::RoundBegun { .. }
            | Notice::RoundGoesOn { .. }
            | Notice::NothingDue(_)
            | Notice::MixedSeeds { .. }
            | Notice::ExcludedStay { .. }
            | Notice::ClockForward { .. }
            | Notice::NoSandbox => false,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Credentials { sites, more, place } => {
                write!(
                    f,
                    "user name and password in a seed are used as basic authentication for its site only ({}), and stored only in {place}",
                    named(sites, *more)
                )
            }
            Notice::SecretsStayed { seed, site } => write!(
                f,
                "{seed} redirects to {site}, which is not a seed's site: it got none of the secret request fields; \
                 send one there with --header-for '{site}/*' 'Name: value', or add that site as a seed"
            ),
            Notice::SecretsMoved { options, from, to } => write!(
                f,
                "the secrets of {options} are in {} from now on, no longer in {}; an archive that earlier versions wrote still has them in its \
                 warcinfo and request records",
                to.display(),
                from.display()
            ),
            Notice::Cookies { taken: 0, expired, stored: 0, .. } => {
                let (have, are) = if *expired == 1 { ("has", "is") } else { ("have", "are") };
                write!(f, "--cookies: {} {have} expired and {are} not sent", counted(*expired, "cookie"))
            }
            Notice::Cookies { taken, expired, stored, place } => {
                write!(f, "--cookies: {} sent, each to its site only, ", counted(*taken, "cookie"))?;
                if *stored > 0 {
                    let values = counted(*stored, "value");
                    write!(f, "{values} in the storage of pages of their sites, ")?;
                }
                write!(f, "and stored only in {}", place.display())?;
                if *expired > 0 { write!(f, "; {expired} expired, not sent") } else { Ok(()) }
            }
            Notice::CookiesLost { beyond_limits, failed } => {
                let beyond = (*beyond_limits > 0).then(|| {
                    format!("{} not kept: too many of a domain, or too long", counted(*beyond_limits, "cookie"))
                });
                let failed =
                    failed.as_ref().map(|why| format!("some are not stored, so a later run lacks them: {why}"));
                write!(f, "cookies: {}", beyond.into_iter().chain(failed).collect::<Vec<_>>().join("; "))
            }
            Notice::Redacted { values, sites, more } => write!(
                f,
                "secrets: records have *** in place of {} in fields and {} in bodies of requests ({})",
                counted(values.fields, "value"),
                values.bodies,
                named(sites, *more)
            ),
            Notice::LoggedIn { name, logins, closed, refused } => {
                write!(f, "login {name}: logged in {}", counted(*logins, "time"))?;
                if *refused > 0 {
                    write!(f, ", refused {}: its pages have failed meanwhile", counted(*refused, "time"))?;
                }
                match closed {
                    0 => Ok(()),
                    1 => f.write_str("; 1 page looks as if one were logged out: it is recorded as it is"),
                    pages => write!(f, "; {pages} pages look as if one were logged out: they are recorded as they are"),
                }
            }
            Notice::RequisitesFromNow => f.write_str(
                "--requisites: from now on; pages that were fetched before get theirs when they are visited again (--again)",
            ),
            Notice::BrowserNotUsed(settings) => write!(
                f,
                "{}: the browser that is named there is not used, since the directory may be somebody else's: give it with --browser, or in \
                 ARGIOPE_BROWSER",
                settings.display()
            ),
            Notice::FileKept { key, path, settings } => write!(
                f,
                "{key}: what {} says is kept in {} from now on; the file is not read again",
                path.display(),
                settings.display()
            ),
            Notice::Items { table, round, rows, filled, lost, gone } => {
                let filled: Vec<String> =
                    filled.iter().map(|(field, percent)| format!("{field} {percent} %")).collect();
                write!(f, "items/{table}")?;
                // Archives of other tools have no rounds.
                if *round > 0 {
                    write!(f, ", round {round}")?;
                }
                write!(f, ": {}", counted(*rows, "row"))?;
                if !filled.is_empty() {
                    write!(f, ": {}", filled.join(", "))?;
                }
                let lost = (*lost > 0).then(|| format!("{} with rows before without any now", counted(*lost, "page")));
                let gone = (*gone > 0).then(|| format!("{} with rows before gone or moved", counted(*gone, "page")));
                lost.into_iter().chain(gone).try_for_each(|what| write!(f, "; {what}"))
            }
            Notice::NoItems(table) => write!(
                f,
                "items/{table}: no rows: no page matched; `argiope inspect extract FILE --url URL --rules RULES` shows what a page gives"
            ),
            Notice::RowsDropped { table, before, now, pages, lost } => {
                let rows = counted(*now, "row");
                write!(f, "items/{table}: {rows} on pages that had {before} at the visit before")?;
                if *lost > 0 {
                    write!(f, ", and none on {lost} of the {}", counted(*pages, "page"))?;
                }
                f.write_str(": the pages may have changed")
            }
            Notice::FillDropped { table, field, before, now } => write!(
                f,
                "items/{table}: {field} has a value in {now} % of the rows, {before} % before: the pages may have changed"
            ),
            Notice::SeedLeftOut { file, line, why } => write!(f, "{file} line {line}: {}; left out", Printable(why)),
            Notice::SeedsLeftOut { file, lines } => write!(f, "{file}: {} left out in all", counted(*lines, "line")),
            Notice::MixedSeeds { private, more } => {
                write!(
                    f,
                    "seeds at private addresses ({}) beside others: a public page may link to these sites, and the crawl fetches what it names \
                     there; a directory of their own keeps them apart, --deny-private=always refuses them",
                    named(private, *more)
                )
            }
            Notice::ExcludedStay { urls, root } => write!(
                f,
                "{} excluded earlier: they stay so until `argiope crawl -o {} --retry excluded` looks at them by the rules of now",
                counted(*urls, "URL"),
                root.display()
            ),
            Notice::ClockBack { by, last } => write!(
                f,
                "the system's clock is {} behind the last run, which ended at {last}: it was set, and the dates of this run lie before those",
                in_words(*by)
            ),
            Notice::ClockForward { by, last } => write!(
                f,
                "the last run ended {} ago by the system's clock, at {last}: if that is wrong, stop, and set the clock",
                in_words(*by)
            ),
            Notice::SetAside { files, bytes, place, root } => write!(
                f,
                "the archive has more than the state knows, as if an older state had been restored: {} ({}) set \
                 aside in {}; `argiope adopt {root}` takes the pages in again instead of fetching them; of pages that the state knows in an \
                 older version, `argiope crawl -o {root} --again` gets the present one",
                counted(*files, "file"),
                human_bytes(*bytes),
                place.display(),
                root = root.display()
            ),
            Notice::Derived(rows) => write!(f, "{} of the dataset derived from the archive", counted(*rows, "row")),
            Notice::Lacking(rows) => write!(
                f,
                "{} of the dataset without text, links and images: the payloads are in an earlier archive (--against) that cannot be \
                 read; put it back, or name its new place with --against, and run `argiope derive`",
                counted(*rows, "row")
            ),
            Notice::DatasetInUse(root) => write!(
                f,
                "{} is in use by another process: the answer is of the rows that the dataset has now",
                root.display()
            ),
            Notice::DatasetIncomplete { root, covered } => {
                let root = root.display();
                write!(
                    f,
                    "{root}: the dataset is not complete, and this user may not write to it: the answer is of the rows that it has; {covered}; \
                     a user with write permission completes it by `argiope derive {root}`"
                )
            }
            Notice::Reopened { urls, sites } => {
                write!(f, "--retry: {} of {} in the frontier again", counted(*urls, "URL"), counted(*sites, "site"))
            }
            Notice::RoundBegun { round, urls } => {
                write!(f, "--again: round {round} begins, {} to be visited again", counted(*urls, "URL"))
            }
            Notice::RoundGoesOn { round, urls } => {
                write!(f, "--again: round {round} goes on, {} left to be visited again", counted(*urls, "URL"))
            }
            Notice::RoundOfNothing { too_young: 0, .. } => f.write_str("--again: no page matches"),
            Notice::RoundOfNothing { too_young, .. } => {
                let urls = counted(*too_young, "URL");
                write!(f, "--again: no page matches, since the last visit of {urls} is not that long ago (--older-than)")
            }
            Notice::NothingDue(waits) => waits.fmt(f),
            Notice::TakenIn { payloads, files, unverifiable, links, cut } => {
                let of = counted(*payloads, "payload");
                write!(f, "--against: {of} can be looked up, {} read for it", counted(*files, "file"))?;
                if *unverifiable > 0 {
                    write!(
                        f,
                        "; {unverifiable} of them are recorded in full all the same: their WARC file does not lie beside the index"
                    )?;
                }
                if let Some(first) = cut.first() {
                    let files = counted(cut.len() as u64, "file");
                    write!(f, "; {files} cut off inside a record, which is left out: {}", first.display())?;
                    if cut.len() > 1 {
                        f.write_str(" and others")?;
                    }
                }
                match links {
                    0 => Ok(()),
                    count => write!(f, "; {} not followed: name what it leads to", counted(*count, "symbolic link")),
                }
            }
            Notice::Referred { verified, unverified, wrong } => {
                let of = counted(*verified, "payload");
                write!(f, "--against: {of} not recorded again, compared byte for byte")?;
                if *unverified > 0 {
                    write!(f, "; {unverified} recorded in full, since only an index tells of them")?;
                }
                if *wrong > 0 {
                    write!(f, "; {} unreadable or with another payload", counted(*wrong, "earlier record"))?;
                }
                Ok(())
            }
            Notice::Paused(root) => {
                write!(f, "the crawl is paused; `argiope steer {} resume` lets it go on", root.display())
            }
            Notice::StreamLeft { bytes, target, is_gone } => {
                let why = if *is_gone { "its reader went away" } else { "its reader did not take all" };
                let bytes = human_bytes(*bytes);
                write!(
                    f,
                    "--stream {target}: {why}; {bytes} of lines are left for the next run, which begins with them"
                )
            }
            Notice::NoSandbox => f.write_str("Chromium runs without its sandbox, as it does for root"),
        }
    }
}

/// A long time, in days or minutes.
fn in_words(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match minutes / (24 * 60) {
        0 => counted(minutes, "minute"),
        days => counted(days, "day"),
    }
}

/// Sites, and how many more there are.
fn named(sites: &[Site], more: usize) -> String {
    let named = sites.iter().map(ToString::to_string);
    named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
}
