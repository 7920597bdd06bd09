//! Mending: the segments first, then the pointers into them, then the indexes.
//!
//! A segment is rewritten in one step, the state follows in another. A repair that is killed between the two is carried on
//! by the next, because pointers are not moved by what the repair of the segment said but by looking for the records.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use archive::ORPHANED;
use crawl::opened::Opened;
use crawl::tables::{complete_dataset, drop_segment};
use crawl::{CrawlDir, Plan};
use model::{ArchiveLocation, Timestamp, Visit};
use printable::counted;
use serde::Serialize;
use store::{Batch, Moved, Segment, Store};
use warc::RepairError;
use weburl::CanonicalUrl;

use crate::archive::Archive;
use crate::audit::Finding;
use crate::pointers::{Pointers, Pointing, Since};
use crate::robots::{self, LostRobots};

/// Pointers mended at once; all of them are in memory.
const MENDED_AT_ONCE_MAX: usize = 100_000;

/// What a repair did.
#[derive(Debug, Serialize)]
pub struct Repair {
    /// What was wrong before.
    pub found: Vec<Finding>,
    /// What was done, in words.
    pub actions: Vec<String>,
    /// Pointers that lead to their record again.
    pub moved: u64,
    /// URLs of which a response, of the last visit or of an earlier one, is not in the archive any more.
    pub lost: Vec<String>,
    /// Which visits these are.
    pub lost_visits: Vec<LostVisit>,
    /// The records of robots.txt files that were in the archive and are not any more: each with its date, where an index had it.
    pub lost_robots: Vec<LostRobots>,
    /// How lost responses are got again, if there are any.
    pub next: Option<String>,
    /// Segments whose rows in the dataset are not any more of what they hold.
    #[serde(skip)]
    changed: BTreeSet<String>,
    #[serde(skip)]
    dir: CrawlDir,
}

/// A visit whose response is not in the archive any more.
#[derive(Debug, Serialize)]
pub struct LostVisit {
    /// The URL.
    pub url: String,
    /// When it was visited.
    pub at: String,
    /// The round of the crawl.
    pub round: u32,
}

impl Repair {
    /// Mends the archive and the state of a crawl.
    ///
    /// # Errors
    /// The state or the disk fails.
    pub(crate) fn run(opened: &Opened, found: Vec<Finding>) -> anyhow::Result<Self> {
        let (actions, lost, lost_visits) = (Vec::new(), Vec::new(), Vec::new());
        let lost_robots = Vec::new();
        let (changed, dir) = (BTreeSet::new(), opened.dir.clone());
        let mut repair = Repair { found, actions, moved: 0, lost, lost_visits, lost_robots, next: None, changed, dir };
        let store = opened.own()?;
        let archive = Archive::of(opened)?;
        // Before the segments change that they are of.
        let robots_before = robots::in_indexes(&archive);
        repair.segments(store, &archive)?;
        let archive = Archive::of(opened)?;
        if archive.is_kept {
            repair.pointers(store, &archive)?;
            repair.lost_robots = robots::lost(store, &archive, robots_before)?;
        }
        repair.indexes(&archive);
        if let Err(error) = repair.derive(opened, store) {
            repair.actions.push(format!("the dataset is not complete ({error:#}): `argiope derive` completes it"));
        }
        if !repair.lost.is_empty() {
            repair.next = Some(next(opened)?);
        }
        Ok(repair)
    }

    /// Derives the rows again that were dropped. Nobody else may: the server of a cluster takes what is there.
    fn derive(&self, opened: &Opened, store: &dyn Store) -> anyhow::Result<()> {
        if self.changed.is_empty() || !self.dir.dataset().is_dir() {
            return Ok(());
        }
        complete_dataset(&self.dir, &Plan::new(&opened.options()?)?, store).map(drop)
    }

    fn segments(&mut self, store: &dyn Store, archive: &Archive) -> anyhow::Result<()> {
        let mut changed = Vec::new();
        if archive.is_kept {
            fs::create_dir_all(archive.dir())?;
        }
        for orphan in archive::set_aside_tails(archive.dir(), &archive.known)? {
            self.actions.push(format!("set aside records unknown to the state, as {ORPHANED}/{}", orphan.name));
        }
        for segment in archive.segments() {
            let path = archive.path(segment);
            self.segment(segment, &path)?;
            let length = fs::metadata(&path)?.len();
            if length != segment.length {
                changed.push(Segment { length, ..segment.clone() });
            }
        }
        if !changed.is_empty() {
            self.drop_rows(changed.iter().map(|segment| segment.name.as_str()))?;
            store.commit(&Batch { segments: changed, ..Batch::default() })?;
        }
        Ok(())
    }

    fn segment(&mut self, segment: &Segment, path: &Path) -> anyhow::Result<()> {
        let name = &segment.name;
        if fs::symlink_metadata(path).is_err() {
            File::create_new(path)?.sync_all()?;
            self.actions.push(format!("{name} was missing: an empty segment replaces it"));
            return Ok(());
        }
        let found = fs::metadata(path)?.len();
        // Otherwise all of it is kept, with what may never have been committed: no visit points to that.
        if found > segment.length && archive::is_record_end(path, segment.length)? {
            let file = fresh::open_to_write(path)?;
            file.set_len(segment.length)?;
            file.sync_all()?;
            self.actions
                .push(format!("cut {} off {name} that were not committed", counted(found - segment.length, "byte")));
        }
        match warc::repair(path) {
            Ok(warc::Repair::Intact) => {}
            Ok(warc::Repair::TailCut { old_bytes, new_bytes }) => {
                self.actions
                    .push(format!("cut {} of a broken record off {name}", counted(old_bytes - new_bytes, "byte")));
            }
            Ok(warc::Repair::Rewritten { damaged, dropped_bytes, .. }) => {
                let kept = damaged.display();
                self.actions
                    .push(format!("took {dropped_bytes} damaged bytes out of {name}; as it was it is kept as {kept}"));
            }
            Ok(_) => self.actions.push(format!("repaired {name}")),
            Err(RepairError::NotAWarc) => {
                let damaged = path.with_file_name(format!("{name}.damaged"));
                fs::rename(path, &damaged)?;
                File::create_new(path)?.sync_all()?;
                self.actions.push(format!("{name} holds not one record: an empty segment replaces it"));
            }
            Err(error) => return Err(anyhow::Error::new(error).context(path.display().to_string())),
        }
        Ok(())
    }

    /// Mends the pointers to responses, a part of the state at a time.
    fn pointers(&mut self, store: &dyn Store, archive: &Archive) -> anyhow::Result<()> {
        let pointers = Pointers { store, archive };
        let mut wrong = Vec::new();
        let mut after = None;
        while let Some((some, next)) = pointers.some(after)? {
            after = Some(next);
            let mut elsewhere = Vec::new();
            for it in some {
                if pointers.problem_of_record(&it.url, &it.visit).is_some() {
                    wrong.push(it);
                } else if let Some(at) = pointers.lost_elsewhere(&it.visit)? {
                    elsewhere.push((it, at));
                }
            }
            self.give_up(store, &pointers, elsewhere)?;
            if wrong.len() >= MENDED_AT_ONCE_MAX {
                self.mend(store, &pointers, std::mem::take(&mut wrong))?;
            }
        }
        self.mend(store, &pointers, wrong)?;
        if self.moved > 0 {
            self.actions.push(format!("moved {} to where the records are", counted(self.moved, "pointer")));
        }
        Ok(())
    }

    fn mend(&mut self, store: &dyn Store, pointers: &Pointers<'_>, wrong: Vec<Pointing>) -> anyhow::Result<()> {
        if wrong.is_empty() {
            return Ok(());
        }
        let places = places_of(pointers.archive, &wrong);
        let (mut moved, mut left) = (Vec::new(), Vec::new());
        for Pointing { url, visit } in wrong {
            let candidates = places.get(url.as_str()).map_or(&[][..], Vec::as_slice);
            let location = candidates.iter().copied().find(|place| pointers.compare(&url, &visit, *place).is_ok());
            moved.push(Moved { key: visit.key, at: visit.at, location });
            match location {
                Some(_) => {
                    self.moved += 1;
                    left.extend(visit.location.map(|location| location.segment));
                }
                // Said by the repair before, and made good since.
                None if visit.location.is_none() && pointers.since(&visit)? != Since::Nothing => {}
                None => self.lose(&url, &visit),
            }
        }
        let found = moved.iter().filter_map(|moved| moved.location);
        let serials: BTreeSet<u32> = found.map(|location| location.segment).chain(left).collect();
        let segments = pointers.archive.segments().filter(|segment| serials.contains(&segment.serial));
        self.drop_rows(segments.map(|segment| segment.name.as_str()))?;
        store.commit(&Batch { moved, ..Batch::default() })?;
        Ok(())
    }

    /// Gives up contents that are lost with an earlier archive, each with the date of its record: the next visits ask for them in any case. The records
    /// that refer to them stay.
    fn give_up(
        &mut self,
        store: &dyn Store,
        pointers: &Pointers<'_>,
        lost: Vec<(Pointing, Timestamp)>,
    ) -> anyhow::Result<()> {
        let mut moved = Vec::new();
        for (Pointing { url, visit }, at) in lost {
            if pointers.since(&visit)? == Since::Nothing {
                moved.push(Moved { key: visit.key, at, location: None });
                self.lose(&url, &visit);
            }
        }
        if !moved.is_empty() {
            store.commit(&Batch { moved, ..Batch::default() })?;
        }
        Ok(())
    }

    /// Drops the rows of segments from the dataset: what they were made of lies elsewhere now. It is done before the state says where, so that a
    /// repair that is killed in between does not leave them.
    fn drop_rows<'a>(&mut self, segments: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
        for segment in segments {
            if self.changed.insert(segment.to_owned()) {
                drop_segment(&self.dir, segment)?;
            }
        }
        Ok(())
    }

    fn lose(&mut self, url: &CanonicalUrl, visit: &Visit) {
        // The visits of a URL follow each other.
        if self.lost.last().is_none_or(|lost| lost != url.as_str()) {
            self.lost.push(url.to_string());
        }
        self.lost_visits.push(LostVisit { url: url.to_string(), at: visit.at.to_rfc3339(), round: visit.round });
    }

    fn indexes(&mut self, archive: &Archive) {
        for segment in archive.segments() {
            let path = archive.path(segment);
            let index = archive::index_path(&path);
            let before = match content_of(&index) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && archive.is_written_to(segment) => continue,
                // What cannot be read as a file is replaced.
                before => before.ok(),
            };
            match archive::write_index(&path) {
                Ok(()) if content_of(&index).ok() == before => {}
                Ok(()) => self.actions.push(format!("wrote {}", index.display())),
                Err(error) => self.actions.push(format!("failed: {error}")),
            }
        }
    }
}

fn content_of(index: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    fresh::open_to_read(index)?.read_to_end(&mut content)?;
    Ok(content)
}

/// How lost responses are got again.
fn next(opened: &Opened) -> anyhow::Result<String> {
    let again = format!("`argiope crawl -o {} --again`", opened.dir.root().display());
    // Only there several workers may crawl.
    let has_database = opened.options()?.store.is_some();
    let by_workers = if has_database { ", or `argiope client again` where several workers crawl," } else { "" };
    Ok(format!("{again}{by_workers} asks for these URLs again, and records in full what is there now"))
}

/// Where the archive has responses of these URLs: all places, whatever their dates.
fn places_of(archive: &Archive, wrong: &[Pointing]) -> HashMap<String, Vec<ArchiveLocation>> {
    let mut places: HashMap<String, Vec<ArchiveLocation>> =
        wrong.iter().map(|it| (it.url.to_string(), Vec::new())).collect();
    for segment in archive.segments() {
        // A segment that could not be mended keeps what it has; its records count as lost.
        let Ok(lines) = warc::index(archive.path(segment)) else { continue };
        for line in lines {
            if let Some(places) = places.get_mut(&line.url) {
                let warc::Location { offset, length } = line.location;
                places.push(ArchiveLocation { segment: segment.serial, offset, length });
            }
        }
    }
    places
}
