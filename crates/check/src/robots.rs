//! Records of robots.txt files. No visit points to them, so a repair compares what there was with what there is.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead as _, BufReader};

use archive::index_path;
use model::{RobotsAnswer, RobotsRecord, SiteRecord, Timestamp};
use serde::{Deserialize, Serialize};
use store::{Batch, Segment, Store};
use warc::{Header, Reader};

use crate::archive::Archive;

/// Sites read from the state at once.
const SITES_AT_ONCE: usize = 1_000;

/// The path of the file (RFC 9309 §2.3).
const PATH: &str = "/robots.txt";

/// A record of a robots.txt that is not in the archive any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LostRobots {
    /// The URL.
    pub url: String,
    /// When it was recorded, as an index had it; none where only the state knew of it.
    pub at: Option<String>,
}

/// What an index says of a record.
#[derive(Deserialize)]
struct Indexed {
    url: String,
}

/// The records that the indexes of the segments have now. An index that is missing, or damaged, has fewer.
pub(crate) fn in_indexes(archive: &Archive) -> BTreeSet<LostRobots> {
    let files = archive.segments().filter_map(|segment| fresh::open_to_read(&index_path(&archive.path(segment))).ok());
    let lines = files.flat_map(|file| BufReader::new(file).lines().map_while(Result::ok));
    lines.filter(|line| line.contains(PATH)).filter_map(|line| read_line(&line)).collect()
}

/// A line of CDXJ: `KEY TIMESTAMP {JSON}`.
fn read_line(line: &str) -> Option<LostRobots> {
    let mut parts = line.splitn(3, ' ');
    let (_, at, json) = (parts.next()?, parts.next()?, parts.next()?);
    let Indexed { url } = serde_json::from_str(json).ok()?;
    is_robots(&url).then(|| LostRobots { url, at: Some(at.to_owned()) })
}

fn is_robots(url: &str) -> bool {
    let site = url.strip_suffix(PATH).and_then(|site| site.split_once("://"));
    site.is_some_and(|(_, host)| !host.is_empty() && !host.contains(['/', '?', '#']))
}

/// The records that are gone: those that an index had `before`, and those of which the state has the answer. The sites are asked for the
/// whole file again, before anything else: what is not in the archive cannot be confirmed as unchanged.
///
/// # Errors
/// The state cannot be read or written.
pub(crate) fn lost(
    store: &dyn Store,
    archive: &Archive,
    before: BTreeSet<LostRobots>,
) -> anyhow::Result<Vec<LostRobots>> {
    let mut there = BTreeSet::new();
    for segment in archive.segments() {
        // A segment that could not be mended keeps what it has; its records count as lost.
        let lines = warc::index(archive.path(segment)).unwrap_or_default();
        there.extend(lines.into_iter().filter(|line| is_robots(&line.url)).map(|line| (line.url, line.timestamp14)));
    }
    let has_any: BTreeSet<&str> = there.iter().map(|(url, _)| url.as_str()).collect();
    let is_gone = |record: &LostRobots| {
        let at = record.at.clone().unwrap_or_default();
        !there.contains(&(record.url.clone(), at))
    };
    let mut lost: BTreeSet<LostRobots> = before.into_iter().filter(is_gone).collect();
    let named: BTreeSet<String> = lost.iter().map(|record| record.url.clone()).collect();
    let mut after = None;
    loop {
        let sites = store.sites(after, SITES_AT_ONCE)?;
        let Some(last) = sites.last() else { break };
        after = Some(last.site.key());
        let mut asked_again = Vec::new();
        for site in sites {
            let url = format!("{}{PATH}", site.site);
            if has_any.contains(url.as_str()) {
                continue;
            }
            let Some(robots) = site.robots.clone().filter(was_recorded) else { continue };
            if !named.contains(&url) {
                lost.insert(LostRobots { url, at: None });
            }
            let robots = RobotsRecord { fetched_at: Timestamp::default(), renewal: None, ..robots };
            asked_again.push(SiteRecord { robots: Some(robots), ..site });
        }
        if !asked_again.is_empty() {
            store.commit(&Batch { sites: asked_again, ..Batch::default() })?;
        }
    }
    Ok(lost.into_iter().collect())
}

/// Whether the answer is one that a crawl records, and no repair has said that its record is lost.
fn was_recorded(robots: &RobotsRecord) -> bool {
    matches!(robots.answer, RobotsAnswer::Status { .. }) && robots.fetched_at != Timestamp::default()
}

/// The media type of a revisit in an index.
const REVISIT: &str = "warc/revisit";

/// A line of an index, as far as it tells which record it is.
#[derive(Deserialize)]
struct Line {
    url: String,
    offset: String,
}

/// The lines of the index of a segment that are wanted. Where there is no index, or one that does not agree with it, the segment is read.
fn lines_of(
    archive: &Archive,
    misindexed: &HashSet<String>,
    segment: &Segment,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Line> {
    let path = archive.path(segment);
    let index = fresh::open_to_read(&index_path(&path)).ok().filter(|_| !misindexed.contains(&segment.name));
    let lines: Box<dyn Iterator<Item = String>> = match index {
        Some(index) => Box::new(BufReader::new(index).lines().map_while(Result::ok)),
        None => Box::new(warc::index(&path).unwrap_or_default().into_iter().map(|line| line.to_string())),
    };
    let parsed = |line: String| serde_json::from_str(line.splitn(3, ' ').nth(2)?).ok();
    lines.filter(|line| is_wanted(line)).filter_map(parsed).collect()
}

/// The header of an indexed record, and where it lies. Nothing where it cannot be read: that is found as damage.
fn header_at(archive: &Archive, segment: &Segment, line: &Line) -> Option<(u64, Header)> {
    let offset = line.offset.parse().ok()?;
    let mut reader = Reader::open(archive.path(segment), offset).ok()?;
    let record = reader.next_record().ok()??;
    Some((offset, record.header().clone()))
}

/// A revisit of a robots.txt whose original is not in the archive.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WithoutOriginal {
    /// The file name of its segment.
    pub(crate) segment: String,
    pub(crate) offset: u64,
    pub(crate) url: String,
    /// The date of the original.
    pub(crate) date: String,
}

/// The revisits of robots.txt whose originals are not in the archive, by place: they have no content, and no later request brings it. The
/// indexes of the segments in `misindexed` do not agree with them.
pub(crate) fn without_original(archive: &Archive, misindexed: &HashSet<String>) -> BTreeSet<WithoutOriginal> {
    // Only such revisits say of no payload that they repeat it.
    let is_such = |line: &str| line.contains(REVISIT) && !line.contains("\"digest\":");
    let mut open: BTreeMap<String, Vec<WithoutOriginal>> = BTreeMap::new();
    let mut urls = BTreeSet::new();
    for segment in archive.segments() {
        for line in lines_of(archive, misindexed, segment, is_such) {
            let Some((offset, header)) = header_at(archive, segment, &line) else { continue };
            let Some(original) = header.get("WARC-Refers-To").filter(|_| offset < segment.length) else { continue };
            let date = header.get("WARC-Refers-To-Date").unwrap_or("an unknown date").to_owned();
            urls.insert(line.url.clone());
            let revisit = WithoutOriginal { segment: segment.name.clone(), offset, url: line.url, date };
            open.entry(original.to_owned()).or_default().push(revisit);
        }
    }
    for segment in archive.segments() {
        if open.is_empty() {
            break;
        }
        for line in lines_of(archive, misindexed, segment, |line| !line.contains(REVISIT)) {
            if !urls.contains(&line.url) {
                continue;
            }
            let header = header_at(archive, segment, &line).map(|(_, header)| header);
            if let Some(id) = header.as_ref().and_then(Header::record_id) {
                open.remove(id);
            }
        }
    }
    open.into_values().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_index_is_that_of_a_robots_txt_or_not() {
        for (line, expect) in [
            (r#"test,a)/robots.txt 20260102030405 {"url":"http://a.test/robots.txt","status":"200"}"#, true),
            (r#"test,a:8080)/robots.txt 20260102030405 {"url":"http://a.test:8080/robots.txt"}"#, true),
            (r#"test,a)/x/robots.txt 20260102030405 {"url":"http://a.test/x/robots.txt"}"#, false),
            (r#"test,a)/?/robots.txt 20260102030405 {"url":"http://a.test?/robots.txt"}"#, false),
            (r#"test,a)/robots.txt 20260102030405"#, false),
            ("", false),
        ] {
            let read = read_line(line);
            assert_eq!(read.is_some(), expect, "{line}");
            assert!(read.is_none_or(|read| read.at.as_deref() == Some("20260102030405")), "{line}");
        }
    }
}
