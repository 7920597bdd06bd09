//! Who crawls in a comparison: Argiope and its peers, each told to go as fast as it can, to obey robots.txt, and to stay on the hosts of its seeds.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::Options;
use super::argiope::{self, Summary};
use super::measured::Measured;
use super::run_file::said;
use crate::needs;
use crate::workspace::workspace;

/// The version of Scrapy that is installed.
const SCRAPY: &str = "scrapy==2.19.0";

/// After how many pages Scrapy stops: at its speed the rest would only take time.
const SCRAPY_PAGES: u32 = 2_500;

/// Requests of Scrapy at a time.
const SCRAPY_AT_ONCE: u32 = 64;

/// The variable in which the script for Scrapy finds how far it may go from the seeds.
const SCRAPY_DEPTH: &str = "DEPTH_MAX";

/// As far as the links of the seeds lead.
const LINKED_DEPTH: &str = "1";

/// Threads of wget2: more are slower.
const WGET2_THREADS: &str = "4";

/// Processes of wget2 at a time where there are many hosts. It crawls one host each: over many at once it waits most of the time.
const WGET2_PROCESSES: &str = "2";

/// What a crawl of ours records.
#[derive(Clone, Copy, PartialEq)]
pub enum Work {
    /// State, archive and dataset, with main text and structured data: the default.
    Everything,
    /// The same without main text and structured data, as in the first programme.
    Pages,
    /// The state alone.
    State,
}

/// One that crawls.
#[derive(Clone, Copy, PartialEq)]
pub enum Crawler {
    /// Ours.
    Argiope {
        /// The earlier binary that is given by `--before`.
        is_before: bool,
        /// What it records.
        work: Work,
    },
    /// The crate `spider`, below `bench/peers`.
    Spider,
    /// GNU Wget2.
    Wget2,
    /// Scrapy with `bench/peers/scrapy_all.py`.
    Scrapy,
}

impl Crawler {
    /// In the order of a round.
    pub const ALL: [Self; 8] = [
        Self::ARGIOPE,
        Self::Argiope { is_before: false, work: Work::Pages },
        Self::Argiope { is_before: true, work: Work::Pages },
        Self::STATE_ONLY,
        Self::Argiope { is_before: true, work: Work::State },
        Self::Spider,
        Self::Wget2,
        Self::Scrapy,
    ];

    /// Ours, with everything recorded.
    pub const ARGIOPE: Self = Self::Argiope { is_before: false, work: Work::Everything };

    /// Ours, with only the state recorded.
    pub const STATE_ONLY: Self = Self::Argiope { is_before: false, work: Work::State };

    /// As it is called in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Argiope { is_before: false, work: Work::Everything } => "argiope",
            Self::Argiope { is_before: false, work: Work::Pages } => "argiope-pages",
            Self::Argiope { is_before: false, work: Work::State } => "argiope-state-only",
            Self::Argiope { is_before: true, work: Work::State } => "before-state-only",
            Self::Argiope { is_before: true, .. } => "before",
            Self::Spider => "spider",
            Self::Wget2 => "wget2",
            Self::Scrapy => "scrapy",
        }
    }

    /// Whether it is somebody else's.
    pub fn is_peer(self) -> bool {
        !matches!(self, Self::Argiope { .. })
    }

    /// Whether it is an earlier binary of ours.
    pub fn is_before(self) -> bool {
        matches!(self, Self::Argiope { is_before: true, .. })
    }

    /// The same crawl by the earlier binary, if this is one of ours.
    pub fn before(self) -> Option<Self> {
        match self {
            Self::Argiope { is_before: false, work: Work::State } => {
                Some(Self::Argiope { is_before: true, work: Work::State })
            }
            // The earlier one knew no more.
            Self::Argiope { is_before: false, .. } => Some(Self::Argiope { is_before: true, work: Work::Pages }),
            _ => None,
        }
    }
}

/// The programs of all crawlers.
pub struct Programs {
    argiope: PathBuf,
    before: Option<PathBuf>,
    spider: PathBuf,
    python: PathBuf,
}

impl Programs {
    /// Builds and installs what the crawlers need.
    ///
    /// # Errors
    /// Something cannot be had.
    pub fn provide(crawlers: &[Crawler], options: &Options) -> anyhow::Result<Self> {
        let has = |crawler| crawlers.contains(&crawler);
        if has(Crawler::Wget2) {
            needs::packages("the comparison", &[("wget2", "/usr/bin/wget2")])?;
        }
        let peers = argiope::target().join("peers");
        let python = if has(Crawler::Scrapy) {
            needs::python(&peers.join("python"), &[(SCRAPY, "scrapy")])?.join("python3")
        } else {
            PathBuf::new()
        };
        let spider = if has(Crawler::Spider) { build_spider(&peers.join("spider"))? } else { PathBuf::new() };
        let before = options.before.as_deref().map(|before| argiope::binary(Some(before))).transpose()?;
        Ok(Self { argiope: argiope::binary(options.binary.as_deref())?, before, spider, python })
    }

    /// Names and versions.
    ///
    /// # Errors
    /// One of them cannot be started.
    pub fn versions(&self, crawlers: &[Crawler]) -> anyhow::Result<Vec<String>> {
        let mut versions = vec![said(&self.argiope, &["--version"])?, said("nginx", &["-v"])?];
        if let Some(before) = &self.before {
            versions.push(format!("before: {}", said(before, &["--version"])?));
        }
        for crawler in crawlers {
            match crawler {
                Crawler::Argiope { .. } => {}
                Crawler::Spider => versions.push(locked_spider()?),
                Crawler::Wget2 => versions.push(said("wget2", &["--version"])?),
                Crawler::Scrapy => versions.push(said(&self.python, &["-m", "scrapy", "version"])?),
            }
        }
        Ok(versions)
    }

    /// What crawls all of the seeds' hosts into a directory.
    ///
    /// # Errors
    /// The seeds cannot be written.
    pub fn command(&self, crawler: Crawler, seeds: &[String], dir: &Path) -> anyhow::Result<Command> {
        Ok(match crawler {
            Crawler::Argiope { is_before, work } => self.argiope(is_before, work, seeds, dir)?,
            Crawler::Spider => {
                let mut command = Command::new(&self.spider);
                command.arg(dir).args(seeds);
                command
            }
            Crawler::Wget2 => wget2(seeds, dir)?,
            Crawler::Scrapy => self.scrapy(seeds, dir, SCRAPY_AT_ONCE, SCRAPY_PAGES),
        })
    }

    /// What crawls the seeds, and what they link to, with so many requests at a time. Of ours and of Scrapy.
    ///
    /// # Errors
    /// It is another's.
    pub fn command_of(&self, crawler: Crawler, seeds: &[String], dir: &Path, at_once: u32) -> anyhow::Result<Command> {
        Ok(match crawler {
            Crawler::Argiope { is_before, work } => {
                let at_once = at_once.to_string();
                let mut command = self.argiope(is_before, work, &[], dir)?;
                command.args(["--connections-per-site", &at_once, "--concurrency", &at_once, "--depth", LINKED_DEPTH]);
                command.args(seeds);
                command
            }
            Crawler::Scrapy => {
                let mut command = self.scrapy(seeds, dir, at_once, 0);
                command.env(SCRAPY_DEPTH, LINKED_DEPTH);
                command
            }
            Crawler::Spider | Crawler::Wget2 => bail!("{} cannot be told", crawler.name()),
        })
    }

    fn scrapy(&self, seeds: &[String], dir: &Path, at_once: u32, pages: u32) -> Command {
        let mut command = Command::new(&self.python);
        command.arg(workspace().join("bench/peers/scrapy_all.py"));
        command.arg(dir.join("bodies")).args([pages, at_once].map(|number| number.to_string())).args(seeds);
        command
    }

    fn argiope(&self, is_before: bool, work: Work, seeds: &[String], dir: &Path) -> anyhow::Result<Command> {
        let binary = if is_before { self.before.as_ref().context("no earlier binary")? } else { &self.argiope };
        let mut command = argiope::crawl(binary, &dir.join("crawl"));
        match work {
            // The earlier one has no such options.
            Work::Pages if !is_before => drop(command.args(["--no-main-text", "--no-structured"])),
            Work::State => drop(command.args(["--no-archive", "--no-dataset"])),
            Work::Pages | Work::Everything => {}
        }
        if let [_] = seeds {
            command.args(["--connections-per-site", argiope::CONNECTIONS_OF_ONE]);
        }
        command.args(seeds);
        Ok(command)
    }
}

/// How many pages a crawler that has ended had, where it also came by so many `others`.
///
/// # Errors
/// It does not say, or it failed.
pub fn pages(crawler: Crawler, measured: &Measured, others: u64, dir: &Path) -> anyhow::Result<u64> {
    match crawler {
        // Of what is a duplicate it does not say whether it is a page.
        Crawler::Argiope { .. } => Ok(Summary::read(&measured.output)?.fetched() - others),
        // It ends with an error wherever a link was dead, so only its files count.
        Crawler::Wget2 => html_files(dir),
        Crawler::Spider | Crawler::Scrapy => {
            let last = measured.output.lines().last().context("no number of pages")?;
            last.parse().with_context(|| last.to_owned())
        }
    }
}

fn wget2(seeds: &[String], dir: &Path) -> anyhow::Result<Command> {
    let list = dir.join("seeds");
    let mut file = std::fs::File::create(&list)?;
    for seed in seeds {
        writeln!(file, "{seed}")?;
    }
    let mut command = Command::new("xargs");
    command.arg("--arg-file").arg(list).args(["--max-args", "1", "--max-procs", WGET2_PROCESSES]);
    command.args(["wget2", "--no-config", "--recursive", "--level", "0", "--quiet"]);
    command.args(["--max-threads", WGET2_THREADS, "--ignore-tags", "img,link,script", "--directory-prefix"]).arg(dir);
    Ok(command)
}

fn html_files(dir: &Path) -> anyhow::Result<u64> {
    let mut files = 0;
    for entry in dir.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files += html_files(&entry.path())?;
        } else if entry.path().extension().is_some_and(|extension| extension == "html") {
            files += 1;
        }
    }
    Ok(files)
}

fn build_spider(target: &Path) -> anyhow::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--locked", "--quiet", "--manifest-path"])
        .arg(spider_project().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target)
        .stdin(Stdio::null())
        .status()?;
    if !status.success() {
        bail!("the build of bench/peers/spider failed");
    }
    Ok(target.join("release/spider-peer"))
}

/// The version of `spider` that is built.
fn locked_spider() -> anyhow::Result<String> {
    let lock: toml::Table = std::fs::read_to_string(spider_project().join("Cargo.lock"))?.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("no packages are locked")?;
    let named = |package: &&toml::Value| package.get("name").and_then(toml::Value::as_str) == Some("spider");
    let spider = packages.iter().find(named).context("spider is not locked")?;
    Ok(format!("spider {}", spider.get("version").and_then(toml::Value::as_str).unwrap_or_default()))
}

fn spider_project() -> PathBuf {
    workspace().join("bench/peers/spider")
}
