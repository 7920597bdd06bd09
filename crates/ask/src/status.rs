//! Where a crawl stands.

use std::time::Duration;

use archive::{ArchiveInState, Orphan};
use crawl::lost::lost;
use crawl::opened::Opened;
use crawl::outlook::DatedWaits;
use crawl::passing::Passing;
use crawl::summary::Summary;
use crawl::survey::Effort;
use crawl::trouble::Troubled;
use crawl::{Change, Changed, LiveView, SiteWaits};
use engine::clock::Clock;
use model::{Limits, Timestamp};
use serde::{Deserialize, Serialize, Serializer};
use settings::site_name::SiteName;
use store::Segment;

use crate::freshness::Freshness;

/// Changes named, the last ones.
const CHANGES_NAMED: usize = 5;

/// Seeds named.
const SEEDS_NAMED_MAX: usize = 200;

/// What was counted so long before a status, at most, is as of now.
const COUNTED_NOW_MAX: Duration = Duration::from_secs(5);

/// Where a crawl stands.
#[derive(Debug, Serialize)]
pub struct Status {
    /// Its totals.
    #[serde(flatten)]
    pub summary: Summary,
    /// How fresh the pages are, by estimate; `None` before a page was visited again.
    pub freshness: Option<Freshness>,
    /// The seeds, the first two hundred.
    pub seeds: Vec<String>,
    /// How many seeds there are.
    pub seeds_count: u64,
    /// The segments of the archive.
    pub segments: Vec<SegmentStatus>,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// What was set aside of the archive.
    pub orphaned: Vec<SegmentStatus>,
    /// What is wrong with the archive at a first look: a segment that is missing, shorter, or changed from outside.
    pub archive_fault: Option<String>,
    /// Nothing new is fetched.
    pub paused: bool,
    /// Sites of which nothing is asked.
    pub hold: Vec<String>,
    /// When each of these was put on hold; `None` where no change of the journal did that.
    #[serde(skip)]
    pub held_since: Vec<Option<String>>,
    /// How many sites have all the pages that they may have, and are neither in trouble nor given up.
    pub sites_spent: u64,
    /// What a site may have of pages and documents.
    pub max_pages_per_site: Option<u64>,
    /// The last changes from outside.
    pub changes: Vec<Changed>,
    /// What holds the sites of a running crawl up.
    #[serde(serialize_with = "dated")]
    pub waits: Option<SiteWaits>,
    /// When seeds, sites in trouble, URLs that failed, and freshness were counted, if that was before: a large crawl that runs is not counted for
    /// each status.
    pub counted_at: Option<String>,
}

#[expect(clippy::ref_option, reason = "serde calls it so")]
fn dated<S: Serializer>(waits: &Option<SiteWaits>, to: S) -> Result<S::Ok, S::Error> {
    waits.as_ref().map(DatedWaits).serialize(to)
}

/// A file of the archive.
#[derive(Debug, Serialize)]
pub struct SegmentStatus {
    /// Its name.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The part of it that many records are read for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Survey {
    /// When it was made.
    #[serde(skip)]
    at: Timestamp,
    seeds: Vec<String>,
    seeds_count: u64,
    troubled: Troubled,
    passing: Option<Passing>,
    lost: Option<u64>,
    freshness: Option<Freshness>,
}

impl Survey {
    /// Of a crawl that runs, or has ended. One that runs keeps it for further questions, for a hundred times the processor time that it took: however often
    /// a status is asked for, it costs the crawl little.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(opened: &Opened) -> anyhow::Result<Self> {
        let Some(live) = opened.live() else { return Survey::make(opened) };
        // The survey of another version is not read.
        let kept = live.survey()?.and_then(|kept| Some((kept.at, serde_json::from_str(&kept.found).ok()?)));
        if let Some((at, survey)) = kept {
            return Ok(Survey { at, ..survey });
        }
        let effort = Effort::begin();
        let survey = Survey::make(opened)?;
        live.keep_survey(serde_json::to_string(&survey)?, &effort)?;
        Ok(survey)
    }

    fn make(opened: &Opened) -> anyhow::Result<Self> {
        let clock = Clock::start();
        let totals = opened.view().totals()?;
        let is_first = totals.round.number == 1;
        let seeds = opened.view().seeds()?;
        Ok(Survey {
            seeds: seeds.iter().take(SEEDS_NAMED_MAX).map(ToString::to_string).collect(),
            seeds_count: seeds.len() as u64,
            troubled: Troubled::of(opened.view(), &totals, opened.options()?.max_pages_per_site)?,
            passing: Passing::of(opened.view(), &totals)?,
            // Many URLs are read for it, which a crawl that runs should not pay for.
            lost: if opened.is_running() { None } else { lost(opened.view(), &totals)?.filter(|lost| *lost > 0) },
            freshness: if is_first { None } else { Freshness::of(opened.view(), clock.date())? },
            at: clock.date(),
        })
    }
}

impl Status {
    /// Of a crawl that runs, or has ended.
    ///
    /// # Errors
    /// The directory cannot be read, or the crawl ends meanwhile.
    pub fn of(opened: &Opened) -> anyhow::Result<Self> {
        Status::with(opened, Survey::of(opened)?)
    }

    /// The same, with a survey that was made before.
    ///
    /// # Errors
    /// As [`Status::of`].
    pub fn with(opened: &Opened, survey: Survey) -> anyhow::Result<Self> {
        let Survey { at, seeds, seeds_count, troubled, passing, lost, freshness } = survey;
        let totals = opened.view().totals()?;
        let end = match totals.pending {
            _ if opened.is_running() => "running",
            0 => "finished",
            _ => "pending",
        };
        let segments = opened.view().segments()?;
        let orphaned = archive::orphans(&opened.dir.archive())?;
        let options = opened.options()?;
        // Of workers, and of what a database knows, the segments may be elsewhere.
        let archive_fault = match options.store {
            None => {
                archive::is_whole(&opened.dir.archive(), &ArchiveInState::of(opened.view(), &Limits::default())?).err()
            }
            Some(_) => None,
        };
        let mut changes = Changed::all_of(&opened.dir)?;
        let held_since = |site: &SiteName| {
            let holds = |changed: &&Changed| matches!(&changed.change, Change::Hold(sites) if sites.contains(site));
            changes.iter().rev().find(holds).map(|changed| changed.at.clone())
        };
        let held_since = options.hold.iter().map(held_since).collect();
        changes.drain(..changes.len().saturating_sub(CHANGES_NAMED));
        let waits = opened.live().map(LiveView::waits).transpose()?.flatten();
        let is_before = opened.is_running() && Clock::start().date().since(at) >= COUNTED_NOW_MAX;
        Ok(Status {
            waits,
            counted_at: is_before.then(|| at.to_rfc3339()),
            paused: options.paused == Some(true),
            hold: options.hold.iter().map(ToString::to_string).collect(),
            held_since,
            sites_spent: troubled.spent,
            max_pages_per_site: options.max_pages_per_site,
            changes,
            freshness,
            archive_fault: archive_fault.map(|fault| fault.to_string()),
            orphaned: orphaned.into_iter().map(|Orphan { name, bytes, .. }| SegmentStatus { name, bytes }).collect(),
            summary: Summary {
                of_workers: opened.is_of_workers()?,
                in_trouble: troubled.in_trouble,
                given_up: troubled.given_up,
                passing,
                lost,
                ..Summary::new(end, &totals, opened.dir.root())
            },
            seeds,
            seeds_count,
            archive_bytes: segments.iter().map(|segment| segment.length).sum(),
            segments: segments
                .into_iter()
                .map(|Segment { name, length, .. }| SegmentStatus { name, bytes: length })
                .collect(),
        })
    }
}
