//! How a worker learns of the crawl it joins: the server sends everything except the password of the store.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::access::Proof;

/// Where the server answers.
pub const PATH: &str = "/v1/join";
/// How long the server may take to answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// Bytes of an answer, at most: settings may hold many patterns.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The shortest lease that makes sense: a shorter one ends while a worker waits for the database.
pub const LEASE_MIN: Duration = Duration::from_secs(1);

/// What a worker must know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joining {
    /// The database, without the password: that comes from `PGPASSWORD` or `~/.pgpass`.
    pub store: String,
    /// The schema in it.
    pub store_schema: String,
    /// What tells this crawl from others.
    pub crawl_id: String,
    /// The settings, a `crawl.toml`.
    pub settings: String,
    /// Where the archive is, a URL.
    pub archive: String,
    /// How long a worker may go on without renewing its lease.
    pub lease_seconds: f64,
    /// The rule that assigns politeness groups to workers.
    pub placement: Placement,
}

/// The rule that assigns politeness groups to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The worker that is nearest to it.
    Latency,
    /// The worker that a hash of its name chooses.
    Hash,
}

impl Placement {
    /// The word for it, on the command line and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Placement::Latency => "latency",
            Placement::Hash => "hash",
        }
    }
}

/// Asks the server at `host:port`.
///
/// # Errors
/// It does not answer, or does not let us in.
pub async fn ask(server: &str, proof: &Proof) -> anyhow::Result<Joining> {
    let answered = tokio::time::timeout(ANSWER_TIME_MAX, answer(server, proof)).await;
    let (status, body) = answered
        .map_err(|_| anyhow::anyhow!("no answer within {} seconds", ANSWER_TIME_MAX.as_secs()))
        .and_then(|answer| answer)
        .with_context(|| format!("the server at {server}"))?;
    if status != hyper::StatusCode::OK {
        #[derive(Deserialize)]
        struct Refused {
            error: String,
        }
        match serde_json::from_slice(&body) {
            Ok(Refused { error }) => bail!("the server at {server}: {error}"),
            Err(_) => bail!("the server at {server} answered {status}: is it its port for workers?"),
        }
    }
    serde_json::from_slice(&body).with_context(|| format!("the server at {server} sent an unreadable answer"))
}

async fn answer(server: &str, proof: &Proof) -> anyhow::Result<(hyper::StatusCode, Bytes)> {
    let stream = TcpStream::connect(server).await?;
    match &proof.tls {
        None => exchange(server, proof, stream).await,
        Some(pems) => {
            let host = server.rsplit_once(':').map_or(server, |(host, _)| host).trim_matches(['[', ']']);
            let name = ServerName::try_from(host.to_owned()).context("its name")?;
            let connector = TlsConnector::from(Arc::new(pems.client_config()?));
            exchange(server, proof, connector.connect(name, stream).await?).await
        }
    }
}

async fn exchange(
    server: &str,
    proof: &Proof,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> anyhow::Result<(hyper::StatusCode, Bytes)> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let mut request = Request::post(PATH)
        .header(header::HOST, server)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Empty::<Bytes>::new())?;
    if let Some(token) = &proof.token {
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse()?);
    }
    let answered = async {
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
        Ok::<_, anyhow::Error>((head.status, body))
    };
    tokio::pin!(answered, connection);
    // The connection makes progress only while it is polled; the answer shows its end too.
    tokio::select! {
        answer = &mut answered => answer,
        ended = &mut connection => { ended?; answered.await }
    }
}
