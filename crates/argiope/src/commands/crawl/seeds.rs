//! The seeds of a crawl: from the command line, from a file, from standard input.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use printable::Printable;
use weburl::{CanonicalUrl, without_user_info};

use super::CrawlArgs;
use printable::counted;
use settings::plan::Plan;
use settings::usage;

/// What is read from a file or from standard input, at most, in bytes.
const SEEDS_BYTES_MAX: u64 = 1 << 30;

/// Lines of a file that are no URLs and are named; more are counted.
const BAD_LINES_SHOWN: usize = 10;

/// Seeds as text.
pub(super) struct Seeds {
    given: Vec<String>,
    /// The name of the file, and its lines.
    listed: Option<(String, Vec<Line>)>,
}

/// A line of a file: its number, from 1, and what is in it.
type Line = (usize, Vec<u8>);

impl Seeds {
    /// Reads what the arguments name.
    ///
    /// # Errors
    /// The file cannot be read, or is too large.
    pub(super) fn read(args: &CrawlArgs) -> anyhow::Result<Self> {
        let listed = args.seeds.as_deref().map(|path| {
            let name = format!("--seeds {}", path.display());
            Ok::<_, anyhow::Error>((name.clone(), lines(&content(path, &name)?)))
        });
        Ok(Seeds { given: args.seed.clone(), listed: listed.transpose()? })
    }

    /// The first of them, as it is written.
    pub(super) fn first(&self) -> Option<String> {
        let listed = self.listed.iter().flat_map(|(_, lines)| lines);
        let listed = listed.map(|(_, line)| String::from_utf8_lossy(line).into_owned());
        self.given.iter().cloned().chain(listed).next()
    }

    /// The URLs; the plan keeps the users and passwords in them. A line of a file that is no URL is reported and left out, unless
    /// `is_strict`.
    ///
    /// # Errors
    /// An argument is no URL; or a line, if `is_strict`.
    pub(super) fn urls(&self, plan: &mut Plan, is_strict: bool) -> anyhow::Result<Vec<CanonicalUrl>> {
        let mut urls = plan.take_seeds(&self.given)?;
        let Some((name, lines)) = &self.listed else { return Ok(urls) };
        let mut bad: usize = 0;
        for (number, line) in lines {
            let url = match std::str::from_utf8(line) {
                Ok(text) => plan.take_seeds(&[text.to_owned()]),
                Err(_) => {
                    Err(usage(format!("seed `{}`: not UTF-8", without_user_info(&line.escape_ascii().to_string()))))
                }
            };
            match url {
                Ok(url) => urls.extend(url),
                Err(error) if is_strict => bail!(usage(format!("{name} line {number}: {error}"))),
                Err(error) => {
                    bad += 1;
                    if bad <= BAD_LINES_SHOWN {
                        console::say!("{name} line {number}: {}; left out", Printable(&error.to_string()));
                    }
                }
            }
        }
        if bad > BAD_LINES_SHOWN {
            console::say!("{name}: {} left out in all", counted(bad as u64, "line"));
        }
        Ok(urls)
    }
}

fn content(path: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().take(SEEDS_BYTES_MAX + 1).read_to_end(&mut bytes).context("standard input")?;
    } else {
        let unreadable = |error| usage(format!("{name}: {error}"));
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(SEEDS_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if bytes.len() as u64 > SEEDS_BYTES_MAX {
        bail!(usage(format!("{name}: more than {SEEDS_BYTES_MAX} bytes: give the seeds in several runs")));
    }
    Ok(bytes)
}

/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines that are neither empty nor comments.
fn lines(content: &[u8]) -> Vec<Line> {
    let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
    let told = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    told.map(|(index, line)| (index + 1, line.to_vec())).collect()
}
