//! Checking a file: is every record whole, and what it says it is?

use crate::date::date_to_timestamp14;
use crate::digest::{Digest, Hasher, LabelledDigest};
use crate::error::ReadError;
use crate::finding::{CheckReport, Finding, Problem};
use crate::header::Header;
use crate::http::HttpHead;
use crate::record_types::RecordType;
use crate::walk::{Stretch, Visited, Walk};
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::Path;

/// How much of a record's own words a finding repeats.
const SHOWN_CHARS_MAX: usize = 200;

/// Reads a file to its end and lists all that is wrong in it.
///
/// Every byte must belong to a whole record: gzip members complete with right checksum and length,
/// the block as long as Content-Length says, CRLF CRLF after it. Every record must have the fields
/// its type demands and an id of its own, and block and payload must match their digests (SHA-1 or
/// SHA-256; the payload of a revisit record is elsewhere and not looked at).
///
/// A damaged file is a report with errors; `Err` says that the file could not be read at all.
/// Memory grows with the number of records (about 50 bytes each), not with their length.
pub fn check(path: impl AsRef<Path>) -> Result<CheckReport, ReadError> {
    let mut walk = Walk::open(path.as_ref())?;
    let mut report = CheckReport { file_bytes: walk.file_len(), ..CheckReport::default() };
    let mut references = References::default();
    while let Some(stretch) = walk.next(examine)? {
        match stretch {
            Stretch::Whole(location, examined) => {
                add_record(&mut report, &mut references, location.offset, examined);
            }
            Stretch::Damaged(location, damage) => {
                let problem = Problem::Damaged { bytes: location.length, damage };
                add(&mut report, location.offset, None, problem);
            }
        }
    }
    for (offset, id, target) in references.open() {
        add(&mut report, offset, id, Problem::ConcurrentToElsewhere(target));
    }
    Ok(report)
}

/// A record, and what is wrong with it for itself.
struct Examined {
    header: Header,
    problems: Vec<Problem>,
}

fn add_record(
    report: &mut CheckReport,
    references: &mut References,
    offset: u64,
    Examined { header, mut problems }: Examined,
) {
    report.records += 1;
    if let Some(kind) = header.record_type() {
        *report.records_by_type.entry(kind).or_default() += 1;
    }
    if let Some(id) = header.record_id()
        && !references.is_new(id)
    {
        problems.push(Problem::DuplicateId);
    }
    let id = header.record_id().map(shown);
    for target in header.get_all("WARC-Concurrent-To") {
        references.refer(offset, id.as_deref(), target);
    }
    for problem in problems {
        add(report, offset, id.clone(), problem);
    }
}

fn add(report: &mut CheckReport, offset: u64, record_id: Option<String>, problem: Problem) {
    report.add(Finding { severity: problem.severity(), offset, record_id, problem });
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

fn examine(record: &mut Visited<'_>) -> Result<Examined, ReadError> {
    let header = record.header().clone();
    let mut problems = Vec::new();
    examine_fields(&header, &mut problems);
    examine_digests(record, &header, &mut problems)?;
    Ok(Examined { header, problems })
}

/// The fields that WARC 1.1 §5 demands: four of every record, one or two more of some types.
fn examine_fields(header: &Header, problems: &mut Vec<Problem>) {
    if !matches!(header.version(), "1.0" | "1.1") {
        problems.push(Problem::UnknownVersion(shown(header.version())));
    }
    let kind = header.record_type();
    if let (Some(word), None) = (header.get("WARC-Type"), kind) {
        problems.push(Problem::UnknownType(shown(word)));
    }
    let mut demand = |name: &'static str, is_right: fn(&str) -> bool| match header.get(name) {
        None => problems.push(Problem::MissingField(name)),
        Some(value) if !is_right(value) => {
            problems.push(Problem::WrongField { name, value: shown(value) });
        }
        Some(_) => {}
    };
    demand("WARC-Type", |_| true);
    demand("WARC-Record-ID", |id| id.starts_with('<') && id.ends_with('>') && id.contains(':'));
    demand("WARC-Date", |date| date_to_timestamp14(date).is_some());
    if let Some(
        RecordType::Response
        | RecordType::Resource
        | RecordType::Request
        | RecordType::Revisit
        | RecordType::Conversion
        | RecordType::Continuation,
    ) = kind
    {
        demand("WARC-Target-URI", |uri| uri.contains(':'));
    }
    if kind == Some(RecordType::Revisit) {
        demand("WARC-Profile", |_| true);
    }
    if kind == Some(RecordType::Continuation) {
        demand("WARC-Segment-Origin-ID", |_| true);
        demand("WARC-Segment-Number", |_| true);
    }
}

fn examine_digests(record: &mut Visited<'_>, header: &Header, problems: &mut Vec<Problem>) -> Result<(), ReadError> {
    let mut block = Claim::of(header, "WARC-Block-Digest", problems);
    let has_payload = header.record_type() != Some(RecordType::Revisit) && header.get("WARC-Segment-Number").is_none();
    let mut payload = None;
    if has_payload {
        payload = Claim::of(header, "WARC-Payload-Digest", problems);
    }

    let offset = record.offset();
    let mut is_payload_known = true;
    if payload.is_some() && header.holds_http() {
        let head = record.read_http_head()?;
        update(&mut block, head.bytes());
        is_payload_known = is_payload_known_after(&head, header);
    }
    loop {
        let bytes = record.fill_buf().map_err(|e| ReadError::from_io(offset, e))?;
        if bytes.is_empty() {
            break;
        }
        update(&mut block, bytes);
        update(&mut payload, bytes);
        let len = bytes.len();
        record.consume(len);
    }
    if let Some(text) = block.and_then(Claim::broken) {
        problems.push(Problem::BlockDigest(text));
    }
    if let Some(text) = payload.and_then(Claim::broken) {
        problems.push(match is_payload_known {
            true => Problem::PayloadDigest(text),
            false => Problem::PayloadUnknown(text),
        });
    }
    Ok(())
}

/// Whether the bytes after the head are the payload: not when a transfer coding is still on them,
/// nor when the end of the head was not found although the block goes on.
fn is_payload_known_after(head: &HttpHead, header: &Header) -> bool {
    let is_all = head.bytes().len() as u64 == header.content_length();
    head.get("Transfer-Encoding").is_none() && (head.is_whole() || is_all)
}

/// A digest that a record claims, and the one its bytes have so far.
struct Claim {
    text: String,
    digest: LabelledDigest,
    hasher: Hasher,
}

impl Claim {
    fn of(header: &Header, name: &'static str, problems: &mut Vec<Problem>) -> Option<Claim> {
        let text = shown(header.get(name)?);
        let Some(digest) = LabelledDigest::parse(&text) else {
            problems.push(Problem::UnknownDigest { name, value: text });
            return None;
        };
        let hasher = digest.hasher();
        Some(Claim { text, digest, hasher })
    }

    /// The claim as it stands in the header, when the bytes do not keep it.
    fn broken(self) -> Option<String> {
        (!self.digest.matches(self.hasher)).then_some(self.text)
    }
}

fn update(claim: &mut Option<Claim>, bytes: &[u8]) {
    if let Some(claim) = claim {
        claim.hasher.update(bytes);
    }
}

/// Which ids the records have, and to which ids they refer. An id is kept as its digest.
#[derive(Default)]
struct References {
    seen: HashSet<Digest>,
    /// By the id that was not seen yet: who refers to it.
    unseen: HashMap<Digest, Vec<Reference>>,
}

struct Reference {
    offset: u64,
    id: Option<String>,
    target: String,
}

impl References {
    fn is_new(&mut self, id: &str) -> bool {
        let key = Digest::of(id.as_bytes());
        self.unseen.remove(&key);
        self.seen.insert(key)
    }

    fn refer(&mut self, offset: u64, id: Option<&str>, target: &str) {
        let key = Digest::of(target.as_bytes());
        if !self.seen.contains(&key) {
            let reference = Reference { offset, id: id.map(str::to_owned), target: shown(target) };
            self.unseen.entry(key).or_default().push(reference);
        }
    }

    /// References to records that never came, in the order of the file.
    fn open(self) -> Vec<(u64, Option<String>, String)> {
        let mut open = self.unseen.into_values().flatten().collect::<Vec<_>>();
        open.sort_by_key(|reference| reference.offset);
        open.into_iter().map(|open| (open.offset, open.id, open.target)).collect()
    }
}
