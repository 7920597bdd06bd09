//! The seeds of a crawl as given: as texts, in a file, on standard input.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use settings::plan::Plan;
use settings::usage;
use weburl::{CanonicalUrl, without_user_info};

use crate::Notice;

/// What is read from a file or from standard input, at most, in bytes.
const SEEDS_BYTES_MAX: u64 = 1 << 30;

/// Lines of a file that are no URLs and are named; more are counted.
const BAD_LINES_SHOWN: usize = 10;

/// Seeds as text.
pub struct SeedList {
    given: Vec<String>,
    /// The name of the file, and its lines.
    listed: Option<(String, Vec<Line>)>,
}

/// A line of a file: its number, from 1, and what is in it.
type Line = (usize, Vec<u8>);

impl SeedList {
    /// Texts, and the lines of a file. `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, or is too large.
    pub fn read(given: Vec<String>, file: Option<&Path>) -> anyhow::Result<Self> {
        let listed = file.map(|path| {
            let name = format!("--seeds {}", path.display());
            Ok::<_, anyhow::Error>((name.clone(), lines(&content(path, &name)?)))
        });
        Ok(SeedList { given, listed: listed.transpose()? })
    }

    /// The first of them, as it is written.
    #[must_use]
    pub fn first(&self) -> Option<String> {
        let listed = self.listed.iter().flat_map(|(_, lines)| lines);
        let listed = listed.map(|(_, line)| String::from_utf8_lossy(line).into_owned());
        self.given.iter().cloned().chain(listed).next()
    }

    /// The URLs; the plan keeps the users and passwords in them. A line of a file that is no URL is left out, with a notice, unless
    /// `is_strict`.
    ///
    /// # Errors
    /// An argument is no URL; or a line, if `is_strict`.
    pub fn urls(&self, plan: &mut Plan, is_strict: bool) -> anyhow::Result<(Vec<CanonicalUrl>, Vec<Notice>)> {
        let mut urls = plan.take_seeds(&self.given)?;
        let Some((name, lines)) = &self.listed else { return Ok((urls, Vec::new())) };
        let (mut bad, mut notices) = (0, Vec::new());
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
                        let why = error.to_string();
                        notices.push(Notice::SeedLeftOut { file: name.clone(), line: *number, why });
                    }
                }
            }
        }
        if bad > BAD_LINES_SHOWN {
            notices.push(Notice::SeedsLeftOut { file: name.clone(), lines: bad as u64 });
        }
        Ok((urls, notices))
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
