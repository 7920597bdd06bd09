//! Requests, one JSON object a line, and their answers, in the same order.

use std::io::{self, BufRead, Read};

use anyhow::{anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::request::Request;
use crate::{html, robots, sitemap, url, warc};

/// The longest request, in bytes: room for the largest sitemap that is read, in base64.
const REQUEST_BYTES_MAX: u64 = 128 << 20;

/// The answer to a request, with the name the request gave itself.
#[derive(Debug, Serialize)]
pub struct Named {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(flatten)]
    answer: BatchAnswer,
}

/// What a request is answered with.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum BatchAnswer {
    Robots(robots::RobotsAnswer),
    Url(url::UrlAnswer),
    Html(Box<html::HtmlAnswer>),
    Sitemap(Box<sitemap::SitemapAnswer>),
    Warc(Box<warc::RecordAnswer>),
    Error { error: String },
}

/// Answers requests until there are no more. A request is read when its answer is taken. An invalid request has an answer too: its error.
pub fn answers(mut requests: impl BufRead) -> impl Iterator<Item = io::Result<Named>> {
    std::iter::from_fn(move || {
        let line = read_line(&mut requests).transpose()?;
        Some(line.map(|line| {
            let mut id = None;
            let answer = answer(line, &mut id);
            Named { answer: answer.unwrap_or_else(|error| BatchAnswer::Error { error: format!("{error:#}") }), id }
        }))
    })
}

/// The next line, without its end; `None` at the end of the input. A line that is too long is read to its end and gives
/// an error in its place.
fn read_line(requests: &mut impl BufRead) -> io::Result<Option<anyhow::Result<Vec<u8>>>> {
    let mut line = Vec::new();
    let read = requests.by_ref().take(REQUEST_BYTES_MAX).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_none() && read as u64 == REQUEST_BYTES_MAX {
        drop(line);
        requests.skip_until(b'\n')?;
        return Ok(Some(Err(anyhow!("the request is longer than {REQUEST_BYTES_MAX} bytes"))));
    }
    Ok(Some(Ok(line)))
}

fn answer(line: anyhow::Result<Vec<u8>>, id: &mut Option<Value>) -> anyhow::Result<BatchAnswer> {
    let line = line?;
    let keys: Map<String, Value> =
        serde_json::from_slice(&line).map_err(|error| anyhow!("not a JSON object: {error}"))?;
    drop(line);
    let mut request = Request::new(keys);
    *id = request.value("id");
    Ok(match request.needed_text("inspect")?.as_str() {
        "robots" => BatchAnswer::Robots(robots::answer_request(request)?),
        "url" => BatchAnswer::Url(url::answer_request(request)?),
        "html" => BatchAnswer::Html(Box::new(html::answer_request(request)?)),
        "sitemap" => BatchAnswer::Sitemap(Box::new(sitemap::answer_request(request)?)),
        "warc" => BatchAnswer::Warc(Box::new(warc::answer_request(request)?)),
        _ => bail!("\"inspect\" is none of robots, url, html, sitemap, warc"),
    })
}
