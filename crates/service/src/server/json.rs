//! The API as JSON: `POST /v1/METHOD` with the request as an object; the response as one, or an object a line where it is a stream.
//! What fails is answered as `{"code": …, "error": …}`.

use api::crawler_server::Crawler;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderValue, Request as HttpRequest, header};
use axum::response::{IntoResponse, Response as HttpResponse};
use axum::routing::{MethodRouter, Router, post};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_stream::StreamExt;
use tonic::{Request, Response, Status};

use super::service::Service;
use crate::changes::UnderWay;
use crate::port::{failure, refused};
use console::message::message;

/// Bytes of a request, at most: the seeds of one.
pub(super) const REQUEST_BYTES_MAX: usize = 16 << 20;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const JSON_LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// The routes.
pub(super) fn routes(service: &Service) -> Router {
    macro_rules! methods {
        ($($path:literal $method:ident;)*) => {
            Router::new()
                $(.route(concat!("/v1/", $path), method(service, |service, request| async move { service.$method(request).await })))*
                .route("/v1/CrawlProgress", stream(service))
                .route("/v1/{method}", axum::routing::any(unknown))
        };
    }
    methods! {
        "GetWorkers" get_workers;
        "Crawl" crawl;
        "AddSeeds" add_seeds;
        "Domains" domains;
        "Overlap" overlap;
        "PageRank" page_rank;
        "Search" search;
        "Links" links;
        "Linking" linking;
        "Path" path;
        "Picture" picture;
        "Row" row;
        "Record" record;
        "PagePicture" page_picture;
        "Copies" copies;
        "Explain" explain;
        "ExplainHost" explain_host;
        "Urls" urls;
        "Changes" changes;
        "Again" again;
        "ForeseeAgain" foresee_again;
        "Freshness" freshness;
        "Stats" stats;
        "Report" report;
        "History" history;
        "Steer" steer;
        "Journal" journal;
        "Undo" undo;
        "Pause" pause;
        "Resume" resume;
        "Drain" drain;
    }
}

fn method<Q, A, F>(
    service: &Service,
    call: impl Fn(Service, Request<Q>) -> F + Clone + Send + Sync + 'static,
) -> MethodRouter
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize,
    F: Future<Output = Result<Response<A>, Status>> + Send,
{
    let service = service.clone();
    post(move |request: HttpRequest<Body>| async move {
        let answered = match read(request).await {
            Ok(request) => call(service, request).await,
            Err(status) => Err(status),
        };
        match answered {
            Ok(response) => {
                let (_, answer, mut extensions) = response.into_parts();
                let change = extensions.remove::<UnderWay>();
                let answer = ([(header::CONTENT_TYPE, JSON)], line(&answer)).into_response();
                match change {
                    Some(change) => change.until_written(answer),
                    None => answer,
                }
            }
            Err(status) => refused(&status),
        }
    })
}

fn stream(service: &Service) -> MethodRouter {
    let service = service.clone();
    post(move |request: HttpRequest<Body>| async move {
        let answered = match read(request).await {
            Ok(request) => service.crawl_progress(request).await,
            Err(status) => Err(status),
        };
        match answered {
            Ok(response) => {
                let lines = response.into_inner().map(|message| {
                    Ok::<_, std::convert::Infallible>(match message {
                        Ok(message) => line(&message),
                        Err(status) => failure(&status),
                    })
                });
                ([(header::CONTENT_TYPE, JSON_LINES)], Body::from_stream(lines)).into_response()
            }
            Err(status) => refused(&status),
        }
    })
}

async fn unknown(request: HttpRequest<Body>) -> HttpResponse {
    refused(&Status::unimplemented(message(format_args!(
        "{} is not a method: argiope.proto lists them",
        request.uri().path()
    ))))
}

/// The request. It must say that it is JSON: no page that a browser shows may send such a thing without being asked to.
async fn read<Q: DeserializeOwned>(request: HttpRequest<Body>) -> Result<Request<Q>, Status> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    if !content_type.trim().eq_ignore_ascii_case("application/json") {
        return Err(Status::invalid_argument("the request must have Content-Type: application/json"));
    }
    let body = to_bytes(request.into_body(), REQUEST_BYTES_MAX).await;
    let body = body.map_err(|error| {
        told(&error).unwrap_or_else(|| {
            Status::invalid_argument(format!("the request is broken, or longer than {REQUEST_BYTES_MAX} bytes"))
        })
    })?;
    let body = if body.is_empty() { Bytes::from_static(b"{}") } else { body };
    let request = serde_json::from_slice(&body);
    Ok(Request::new(request.map_err(|error| Status::invalid_argument(message(format_args!("the request: {error}"))))?))
}

/// The status that an error is, or has as a cause.
fn told(error: &(dyn std::error::Error + 'static)) -> Option<Status> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(status) = error.downcast_ref::<Status>() {
            return Some(status.clone());
        }
        cause = error.source();
    }
    None
}

fn line(value: &impl Serialize) -> Vec<u8> {
    // Messages have a form in JSON.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
