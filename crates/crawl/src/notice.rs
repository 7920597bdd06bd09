//! Notices for the user of a crawl.

use std::fmt;
use std::path::PathBuf;

use printable::counted;
use settings::units::human_bytes;
use weburl::{CanonicalUrl, Site};

use crate::Waits;

/// A notice for the user. Nothing has failed.
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
    RoundOfNothing,
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
    },
    /// What came of looking payloads up in earlier archives.
    Referred {
        /// Payloads whose earlier record is the same, byte for byte.
        verified: u64,
        /// Payloads whose earlier record only an index tells of.
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

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Credentials { sites, more, place } => {
                let mut named: Vec<String> = sites.iter().map(ToString::to_string).collect();
                if *more > 0 {
                    named.push(format!("{more} more"));
                }
                write!(
                    f,
                    "user name and password in a seed are used as basic authentication for its site only ({}), and stored only in {place}",
                    named.join(", ")
                )
            }
            Notice::SecretsStayed { seed, site } => write!(
                f,
                "{seed} redirects to {site}, which is not a seed's site: it got none of the secret request fields; \
                 send one there with --header-for '{site}/*' 'Name: value', or add that site as a seed"
            ),
            Notice::SetAside { files, bytes, place, root } => write!(
                f,
                "the archive has more than the state knows, as if an older state had been restored: {} ({}) set \
                 aside in {}; `argiope adopt {}` takes the pages in again instead of fetching them",
                counted(*files, "file"),
                human_bytes(*bytes),
                place.display(),
                root.display()
            ),
            Notice::Derived(rows) => write!(f, "{} of the dataset derived from the archive", counted(*rows, "row")),
            Notice::Lacking(rows) => write!(
                f,
                "{} of the dataset without text, links and images: the payloads are in an earlier archive (--against) that cannot be \
                 read; put it back, or name its new place with --against, and run `argiope derive`",
                counted(*rows, "row")
            ),
            Notice::Reopened { urls, sites } => {
                write!(f, "--retry: {} of {} in the frontier again", counted(*urls, "URL"), counted(*sites, "site"))
            }
            Notice::RoundBegun { round, urls } => {
                write!(f, "--again: round {round} begins, {} to be visited again", counted(*urls, "URL"))
            }
            Notice::RoundGoesOn { round, urls } => {
                write!(f, "--again: round {round} goes on, {} left to be visited again", counted(*urls, "URL"))
            }
            Notice::RoundOfNothing => f.write_str("--again: no page matches"),
            Notice::NothingDue(waits) => waits.fmt(f),
            Notice::TakenIn { payloads, files, unverifiable } => {
                let of = counted(*payloads, "payload");
                write!(f, "--against: {of} can be looked up, {} read for it", counted(*files, "file"))?;
                match unverifiable {
                    0 => Ok(()),
                    count => write!(f, "; {count} cannot be verified: no WARC file lies beside the index"),
                }
            }
            Notice::Referred { verified, unverified, wrong } => {
                let of = counted(verified + unverified, "payload");
                write!(f, "--against: {of} not recorded again, {verified} compared byte for byte")?;
                if *unverified > 0 {
                    write!(f, ", {unverified} by the index alone")?;
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
