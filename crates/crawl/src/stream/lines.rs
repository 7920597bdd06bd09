//! The lines of a batch.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use dataset::{Row, Rows};
use engine::details::FIELDS;
use engine::{Details, Visited};
use maintext::MainText;
use model::{Candidate, Timestamp, Visit};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Batch, CrawlView, Store};
use structured::Metadata;
use weburl::UrlKey;

use super::Field;

/// A visit of a batch: where the state has it, the batch was committed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Witness {
    pub(super) url: UrlKey,
    pub(super) at: Timestamp,
}

impl Witness {
    fn of(visit: &Visit) -> Self {
        Witness { url: visit.key, at: visit.at }
    }
}

/// Makes lines.
pub(super) struct Lines {
    store: Arc<dyn Store>,
    fields: BTreeSet<Field>,
}

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    #[serde(flatten)]
    row: Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<&'static str, &'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Vec<LinkOf<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_text: Option<MainTextOf<'a>>,
}

#[derive(Serialize)]
struct MainTextOf<'a> {
    text: &'a str,
    confidence: f32,
    kind: &'static str,
    kind_confidence: f32,
    title: Option<&'a str>,
    author: Option<&'a str>,
    published: Option<&'a str>,
    modified: Option<&'a str>,
    site_name: Option<&'a str>,
}

impl<'a> MainTextOf<'a> {
    fn of(main: &'a MainText, metadata: &'a Metadata) -> Self {
        MainTextOf {
            text: &main.text,
            confidence: main.confidence,
            kind: main.kind.as_str(),
            kind_confidence: main.kind_confidence,
            title: metadata.title.as_deref(),
            author: metadata.author.as_deref(),
            published: metadata.published.as_deref(),
            modified: metadata.modified.as_deref(),
            site_name: metadata.site_name.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct LinkOf<'a> {
    url: &'a str,
    text: &'a str,
    kind: &'static str,
}

impl Lines {
    pub(super) fn new(store: Arc<dyn Store>, fields: BTreeSet<Field>) -> Self {
        Lines { store, fields }
    }

    /// The lines of a batch that is about to be committed, how many there are, and a visit that shows whether it was.
    pub(super) fn of(
        &self,
        batch: &Batch,
        visited: &[Visited],
        seq: u64,
    ) -> anyhow::Result<(Vec<u8>, u64, Option<Witness>)> {
        let view: &dyn CrawlView = self.store.as_ref();
        let settled = self.settled(batch)?;
        if batch.visits.is_empty() && settled.is_empty() {
            return Ok((Vec::new(), 0, None));
        }
        let mut rows = Rows::new(view, true)?;
        batch.segments.iter().for_each(|segment| rows.name(segment));
        let visited: HashMap<UrlKey, &Visited> = visited.iter().map(|one| (one.visit.key, one)).collect();
        visited.values().for_each(|one| rows.remember(&one.candidate.url));
        let (mut bytes, mut count, mut witness) = (Vec::new(), 0, None);
        let mut add = |candidate: &Candidate, visit: &Visit, details: Option<&Details>| -> anyhow::Result<()> {
            let row = rows.of(candidate, visit.attempts, Some(visit))?;
            count += 1;
            serde_json::to_writer(&mut bytes, &self.line(seq + count, row, details))?;
            bytes.push(b'\n');
            witness = witness.or(Some(Witness::of(visit)));
            Ok(())
        };
        for visit in &batch.visits {
            match visited.get(&visit.key) {
                Some(one) => add(&one.candidate, visit, one.details.as_deref())?,
                // A URL that the state does not know has no visit either.
                None => view.get(visit.key)?.map_or(Ok(()), |entry| add(&entry.candidate, visit, None))?,
            }
        }
        settled.into_iter().try_for_each(|(candidate, visit)| add(candidate, visit, None))?;
        Ok((bytes, count, witness))
    }

    /// The URLs that the commit will settle: of those that are known the outcome stays.
    fn settled<'b>(&self, batch: &'b Batch) -> anyhow::Result<Vec<&'b (Candidate, Visit)>> {
        let mut known: HashSet<UrlKey> = batch.found.iter().map(|candidate| candidate.url.key()).collect();
        let mut settled = Vec::new();
        for one in &batch.settled {
            if known.insert(one.1.key) && self.store.get(one.1.key)?.is_none() {
                settled.push(one);
            }
        }
        Ok(settled)
    }

    fn line<'a>(&self, seq: u64, row: Row, details: Option<&'a Details>) -> Line<'a> {
        let wants = |field| self.fields.contains(&field);
        let html = details.and_then(|details| details.html.as_ref());
        let headers = |details: &'a Details| {
            let values = details.fields.iter().map(Option::as_deref);
            FIELDS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
        };
        let links = html.filter(|_| wants(Field::Links)).map(|html| {
            let link = |link: &'a engine::LinkDetails| LinkOf {
                url: html.targets[link.target].as_str(),
                text: &link.text,
                kind: link.kind.as_str(),
            };
            html.links.iter().map(link).collect()
        });
        Line {
            seq,
            row,
            extra: details.and_then(|details| serde_json::from_str(details.extra.as_deref()?).ok()),
            headers: details.filter(|_| wants(Field::Headers)).map(headers),
            links,
            text: html.filter(|_| wants(Field::Text)).map(|html| html.text.as_str()),
            main_text: html
                .filter(|_| wants(Field::MainText))
                .and_then(|html| html.main.as_deref().zip(html.structured.as_deref()))
                .map(|(main, said)| MainTextOf::of(main, &said.metadata)),
        }
    }
}
