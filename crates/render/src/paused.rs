//! A request that the browser holds back, as it tells of it (`Fetch.requestPaused`).

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use model::{Headers, Method, Refusal};
use serde_json::{Value, json};

use crate::{Kind, Settings, Wanted, credentials};

/// The greatest body of a request, in bytes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// The greatest fields of a request, in bytes.
const FIELDS_BYTES_MAX: usize = 32 << 10;
/// A stream of events has no end: the page gets what came in this time.
const STREAM_TIME_MAX: Duration = Duration::from_secs(2);
/// A request may take this part of the time of its page.
const PART_OF_PAGE: u32 = 3;
/// The media type of a stream of events (HTML, 9.2.1).
const EVENT_STREAM: &str = "text/event-stream";

/// Holds back every request of a page or a worker.
pub(crate) fn all_requests() -> Value {
    json!({"patterns": [{"urlPattern": "*", "requestStage": "Request"}]})
}

/// Names workers before they request anything.
pub(crate) fn discovering_workers() -> Value {
    json!({"discover": true, "filter": [{"type": "worker"}, {"exclude": true}]})
}

/// Holds back the requests that no page and no worker holds back: those for the scripts of workers that a worker starts. Each bears the
/// name of the worker that is to run the script.
pub(crate) fn requests_of_workers() -> Value {
    json!({"patterns": [{"urlPattern": "*", "resourceType": "Other", "requestStage": "Request"}]})
}

/// Has workers of these kinds wait until their requests are held back, and the debugger has them run.
pub(crate) fn attaching(kinds: &[&str]) -> Value {
    let kinds = kinds.iter().map(|kind| json!({"type": kind}));
    let filter: Vec<Value> = kinds.chain([json!({"exclude": true})]).collect();
    json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter})
}

/// What is requested, or why it is refused. `None` if no page needs it to be seen: reports, what a later page may want, icons,
/// and pictures where none are wanted.
pub(crate) fn wanted(parameters: &Value, settings: &Settings) -> Option<Result<Wanted, Refusal>> {
    let request = &parameters["request"];
    let mut headers = fields(&request["headers"]);
    let has_credentials = credentials::take_marks(&mut headers);
    let kind = kind(parameters["resourceType"].as_str().unwrap_or_default(), &headers)?;
    if is_for_later(&headers) || (kind == Kind::Media && !settings.media) {
        return None;
    }
    let time_max = if is_stream(&headers) { STREAM_TIME_MAX } else { settings.page_time_max / PART_OF_PAGE };
    let url = url(request);
    let checked = || {
        let method = Method::of(request["method"].as_str().unwrap_or_default()).ok_or(Refusal::Method)?;
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Refusal::Url);
        }
        let size = |(name, value): &(String, String)| name.len() + value.len();
        if headers.0.iter().map(size).sum::<usize>() > FIELDS_BYTES_MAX {
            return Err(Refusal::Request);
        }
        let (body, is_after_click) = (body(request)?, false);
        Ok(Wanted { url, kind, method, headers, body, has_credentials, is_after_click, time_max })
    };
    Some(checked())
}

/// The image, sound, video or font that is requested.
pub(crate) fn unloaded(parameters: &Value) -> Option<String> {
    let request = &parameters["request"];
    let is_media = Kind::of(parameters["resourceType"].as_str().unwrap_or_default()) == Some(Kind::Media);
    (is_media && !is_for_later(&fields(&request["headers"]))).then(|| url(request))
}

fn url(request: &Value) -> String {
    request["url"].as_str().unwrap_or_default().split('#').next().unwrap_or_default().to_owned()
}

fn is_for_later(headers: &Headers) -> bool {
    let purposes = ["Purpose", "Sec-Purpose"].iter().filter_map(|name| headers.get(name));
    purposes.into_iter().any(|purpose| purpose.contains("prefetch"))
}

impl Wanted {
    /// Asks what a URL leads to.
    pub(crate) fn probe(url: String, method: Method, settings: &Settings) -> Self {
        let kind = Kind::Document;
        let time_max = settings.page_time_max / PART_OF_PAGE;
        let (headers, body) = (Headers::default(), Bytes::new());
        Wanted { url, kind, method, headers, body, has_credentials: true, is_after_click: false, time_max }
    }

    /// Whether it is for a stream of events. A page asks for it again as often as it ends.
    pub(crate) fn is_stream(&self) -> bool {
        is_stream(&self.headers)
    }
}

fn is_stream(headers: &Headers) -> bool {
    headers.get("Accept").is_some_and(|accept| accept == EVENT_STREAM)
}

/// The scripts of workers and modules of JSON come without a type of their own, as icons do.
fn kind(resource_type: &str, headers: &Headers) -> Option<Kind> {
    let is_module = |accept: &str| accept == "*/*" || accept.starts_with("application/json");
    let is_script = resource_type == "Other" && headers.get("Accept").is_none_or(is_module);
    if is_script { Some(Kind::Script) } else { Kind::of(resource_type) }
}

fn fields(headers: &Value) -> Headers {
    let Value::Object(fields) = headers else { return Headers::default() };
    let fields = fields.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Headers(fields.collect())
}

fn body(request: &Value) -> Result<Bytes, Refusal> {
    if request["hasPostData"] != Value::Bool(true) {
        return Ok(Bytes::new());
    }
    let mut body = Vec::new();
    // What is no bytes, such as a file, is not told.
    let entries =
        request["postDataEntries"].as_array().filter(|entries| !entries.is_empty()).ok_or(Refusal::Request)?;
    for entry in entries {
        let entry = entry["bytes"].as_str().and_then(|bytes| BASE64.decode(bytes.as_bytes()).ok());
        body.extend(entry.ok_or(Refusal::Request)?);
        if body.len() > BODY_BYTES_MAX {
            return Err(Refusal::Request);
        }
    }
    Ok(body.into())
}
