//! `Row`, `Record`, `PagePicture` and `Copies`: what the crawl has of a page beside its story.

use api::{
    Answer, CopiesRequest, CopiesResponse, PagePictureRequest, PagePictureResponse, RecordRequest, RecordResponse,
    Recorded, RowRequest, RowResponse, Text,
};
use ask::UnknownUrl;
use ask::page::{self, PICTURES, PageRows, Repeating};
use replay::Replay;
use serde_json::{Map, Value};
use settings::Usage;
use store::{Entry, StoreError};
use store_postgres::cluster::Control;
use tokio::runtime::Handle;
use tonic::Status;
use weburl::CanonicalUrl;

use super::remote::Remote;
use super::service::Service;
use crate::queries::RowsRequest;
use console::message::message;

/// Bytes of a picture in an answer, at most.
const PICTURE_BYTES_MAX: usize = 32 << 20;
/// URLs with the same content in an answer, unless the request says otherwise.
const COPIES_DEFAULT: u32 = 200;
/// URLs that are looked at for having the same content, and so at most told.
const COPIES_MAX: u32 = 2_000;

/// The rows of a page, of the workers.
///
/// # Errors
/// The crawl does not know the URL, or the workers do not answer.
pub(super) async fn row(service: &Service, request: RowRequest) -> Result<RowResponse, Status> {
    let url = visited(service, request.url, String::new()).await?.candidate.url;
    let rows = service.put(RowsRequest { url: url.clone() }).await?.into_inner();
    let PageRows { page, cut, structured, structured_cut, structured_count } = rows;
    let in_json = |row: Map<String, Value>| Value::Object(row).to_string();
    Ok(RowResponse {
        url: url.to_string(),
        row: page.map(in_json).unwrap_or_default(),
        cut,
        structured: structured.into_iter().map(in_json).collect(),
        structured_cut: structured_cut.into_iter().map(|place| place as u32).collect(),
        structured_count: structured_count as u64,
    })
}

/// What a visit recorded.
///
/// # Errors
/// The crawl does not know the URL or the visit, or the database failed. The answer says what of the archive cannot be read.
pub(super) async fn record(service: &Service, request: RecordRequest) -> Result<RecordResponse, Status> {
    let entry = visited(service, request.url, request.at).await?;
    replayed(service, move |control, replay| {
        let visits = page::dates(control, &entry.candidate.url)?;
        let recorded = page::recorded(replay, &entry).map(told);
        let requests = if recorded.is_none() { entry.attempts.into() } else { 0 };
        Ok(RecordResponse { url: entry.candidate.url.to_string(), visits, recorded, requests })
    })
    .await?
    .map_err(failed)
}

fn told(recorded: page::Recorded) -> Recorded {
    let text = |page::Text { text, is_cut }| Text { text, cut: is_cut };
    let name = |(kind, name): (_, &str)| recorded.pictures.contains(&kind).then(|| name.to_owned());
    Recorded {
        pictures: PICTURES.into_iter().filter_map(name).collect(),
        at: recorded.at,
        outcome: recorded.outcome,
        reason: recorded.reason,
        requested: recorded.was_requested,
        request: recorded.request.map(text),
        answer: recorded.answer.map(|page::Answer { head, source, payload_bytes }| Answer {
            head: Some(text(head)),
            source: source.map(text),
            payload_bytes,
        }),
        seen: recorded.seen.map(text),
        failure: recorded.failure.unwrap_or_default(),
    }
}

/// A picture that a visit took.
///
/// # Errors
/// There is none, or it is too large; the crawl does not know the URL or the visit; the archive cannot be read.
pub(super) async fn picture(service: &Service, request: PagePictureRequest) -> Result<PagePictureResponse, Status> {
    let kind = page::picture_kind(&request.kind).map_err(failed)?;
    let entry = visited(service, request.url, request.at).await?;
    let read = replayed(service, move |_, replay| Ok(replay.picture(&entry, kind))).await?.map_err(failed)?;
    let picture = read.map_err(|error| Status::unavailable(message(error)))?;
    let picture = picture.ok_or_else(|| Status::not_found("the crawl took no such picture of it"))?;
    if picture.len() > PICTURE_BYTES_MAX {
        let bytes = picture.len();
        return Err(Status::failed_precondition(format!(
            "the picture has {bytes} bytes, more than {PICTURE_BYTES_MAX}: `argiope inspect warc` writes it"
        )));
    }
    Ok(PagePictureResponse { media_type: kind.media_type().to_owned(), picture })
}

/// The URLs with the same content. The state tells them, without the workers.
///
/// # Errors
/// The crawl does not know the URL, or the database failed.
pub(super) async fn copies(service: &Service, request: CopiesRequest) -> Result<CopiesResponse, Status> {
    let url = visited(service, request.url, String::new()).await?.candidate.url;
    let limit = if request.limit == 0 { COPIES_DEFAULT } else { request.limit.min(COPIES_MAX) } as usize;
    let asked = url.clone();
    let found = service.ask(move |control| repeating(control, &asked, limit)).await?;
    let page::Copies { original, urls, count, is_part } = found.unwrap_or_default();
    Ok(CopiesResponse { url: url.to_string(), original, urls, count: count as u64, in_part: is_part })
}

fn repeating(control: &Control, url: &CanonicalUrl, limit: usize) -> Result<Option<page::Copies>, StoreError> {
    let Some(mut repeating) = Repeating::of(control, url, limit)? else { return Ok(None) };
    let max = COPIES_MAX as usize;
    let keys = control.repeating(repeating.original().key(), max + 1)?;
    keys.iter().take(max).try_for_each(|key| repeating.look_at(*key))?;
    Ok(Some(repeating.found(keys.len() > max)))
}

/// A URL with one of its visits, as clients name them.
async fn visited(service: &Service, url: String, at: String) -> Result<Entry, Status> {
    let plan = service.plan().await?;
    let look = move |control: &Control| {
        let rules = || Ok(plan.settings.canonical.clone());
        Ok(page::visited(control, rules, &url, &at))
    };
    service.ask(look).await?.map_err(failed)
}

/// Calls `read` with what reads the segments. So many at a time ([`super::service`]).
async fn replayed<T: Send + 'static>(
    service: &Service,
    read: impl FnOnce(&Control, &mut Replay<'_>) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, Status> {
    let turn = service.record_turn().await?;
    let bytes_max = service.plan().await?.settings.limits.body_bytes_max;
    let (archive, coordinator, runtime) = (service.archive(), service.coordinator(), Handle::current());
    let reading = move |control: &Control| {
        let _turn = turn;
        let remote = Remote::new(control, archive, coordinator, runtime);
        Ok(read(control, &mut Replay::of(control, Box::new(remote), bytes_max)))
    };
    service.ask(reading).await
}

fn failed(error: anyhow::Error) -> Status {
    let text = message(format_args!("{error:#}"));
    match () {
        () if error.is::<UnknownUrl>() => Status::not_found(text),
        () if error.is::<Usage>() => Status::invalid_argument(text),
        () => Status::unavailable(text),
    }
}
