//! What the coordinator says to a worker: one request with JSON, answered with JSON, on a connection of its own.

use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::handshake;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Method, Request, Uri};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ANSWER_BYTES_MAX;

/// The longest that a connection may take to be made.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// What an answer says that is none: one of the port has it in an object.
fn said(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Refused {
        error: String,
    }
    let refused = serde_json::from_slice(body).map(|Refused { error }| error);
    refused.unwrap_or_else(|_| String::from_utf8_lossy(body).trim_end().to_owned())
}

/// The token that every request bears, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) token: Option<String>,
}

impl Client {
    /// Sends a request, and reads the answer.
    pub(super) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        url: &str,
        body: &impl Serialize,
        time_max: Duration,
    ) -> anyhow::Result<T> {
        let answer = timeout(time_max, self.answer(method, url, body)).await;
        answer.map_err(|_| anyhow::anyhow!("no answer within {}", humantime::format_duration(time_max)))?
    }

    async fn answer<T: DeserializeOwned>(&self, method: Method, url: &str, body: &impl Serialize) -> anyhow::Result<T> {
        let url: Uri = url.parse()?;
        let authority = url.authority().context("the URL of a worker is http://HOST:PORT")?.clone();
        let stream = timeout(CONNECT_TIME_MAX, TcpStream::connect(authority.as_str())).await;
        let stream = stream.context("it cannot be reached")?.context("it cannot be reached")?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends when the answer is here, or nobody waits for it any more.
        let request = Request::builder()
            .method(method)
            .uri(url.path())
            .header(HOST, authority.as_str())
            .header(CONTENT_TYPE, "application/json");
        let request = match &self.token {
            Some(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        };
        let request = request.body(Full::new(Bytes::from(serde_json::to_vec(body)?)))?;
        let answer = async {
            let answer = sender.send_request(request).await?;
            let status = answer.status();
            let bytes_max = usize::try_from(ANSWER_BYTES_MAX).unwrap_or(usize::MAX);
            let body = Limited::new(answer.into_body(), bytes_max).collect().await;
            let body = body.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
            if !status.is_success() {
                bail!("{status}: {}", said(&body));
            }
            serde_json::from_slice(&body).context("it does not answer with what was expected")
        };
        tokio::pin!(answer);
        tokio::select! {
            answer = &mut answer => answer,
            ended = connection => {
                ended?;
                answer.await
            }
        }
    }
}
