//! A connection to a server's API, with the proof that we may ask, and its answers as text.

mod listing;
mod of_page;
mod text;
mod undoing;
mod watching;

pub use listing::Listing;
pub use of_page::OfPage;
pub use text::Text;
pub use undoing::undo;
pub use watching::Watching;

use std::error::Error as _;
use std::time::Duration;

use anyhow::Context;
use api::crawler_client::CrawlerClient;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status};

use crate::access::Proof;
use settings::usage;

/// How long it may take to reach the server.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// How often a server that is silent is asked whether it is still there, and how long it may take to say so.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(30);
const KEEPALIVE_TIME_MAX: Duration = Duration::from_secs(20);
/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Adds the client's token to each request.
#[derive(Clone, Debug)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

/// How an answer begins, in words of the library, that is not of this protocol.
const FOREIGN: &str = "grpc-status header missing";

/// The words for a server that does not know a method.
pub const EARLIER: &str = "is of an earlier version, which does not answer this";

/// The words for a server that does not know an order of URLs.
pub const UNSORTED: &str = "the server is of an earlier version, which does not sort URLs";

/// What a server said against a request; or how it kept silent.
#[must_use]
pub fn said(status: &Status) -> String {
    if is_silent(status) {
        let patience = (KEEPALIVE_EVERY + KEEPALIVE_TIME_MAX).as_secs();
        return format!("nothing in {patience} seconds");
    }
    if status.message().starts_with(FOREIGN) {
        return "what answers is no server's port for clients, which `argiope server --clients` gives".to_owned();
    }
    status.message().to_owned()
}

/// Why there is no answer of a server, and what to do about it.
#[must_use]
pub fn why_no_answer(server: &str, status: &Status) -> String {
    let said = said(status);
    match status {
        _ if status.code() == Code::Unimplemented && said.is_empty() => {
            format!("the server at {server} {EARLIER}")
        }
        _ if is_silent(status) => format!(
            "the server at {server} gives no answer: {said}. See whether its process is stopped (`kill -CONT` lets it go on) and its machine can be reached, then ask again"
        ),
        // What the library says of a connection has a cause; what a server says has none.
        _ if status.source().is_some() => {
            format!("the server at {server} gives no answer: {said}. See whether it runs still, then ask again")
        }
        _ => format!("the server at {server}: {said}"),
    }
}

/// Whether the server was asked if it is still there, and said nothing in time.
fn is_silent(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A client of the API.
pub type Client = CrawlerClient<InterceptedService<Channel, Bearer>>;

/// Connects to a server, host:port.
///
/// # Errors
/// It is no address, or cannot be reached; the files of TLS cannot be used.
pub async fn connect(server: &str, proof: &Proof) -> anyhow::Result<Client> {
    connect_patiently(server, proof, (KEEPALIVE_EVERY, KEEPALIVE_TIME_MAX)).await
}

async fn connect_patiently(
    server: &str,
    proof: &Proof,
    (keepalive_every, keepalive_time_max): (Duration, Duration),
) -> anyhow::Result<Client> {
    let scheme = if proof.tls.is_some() { "https" } else { "http" };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{server}"))
        .map_err(|_| usage(format!("--server {server}: is not an address with a port, such as 127.0.0.1:7871")))?
        .connect_timeout(CONNECT_TIME_MAX)
        .http2_keep_alive_interval(keepalive_every)
        .keep_alive_timeout(keepalive_time_max);
    if let Some(pems) = &proof.tls {
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&pems.authority))
            .identity(Identity::from_pem(&pems.certificate, &pems.key));
        endpoint =
            endpoint.tls_config(tls).map_err(|error| usage(format!("--tls-ca, --tls-cert, --tls-key: {error}")))?;
    }
    let channel = endpoint.connect().await.with_context(|| format!("the server at {server} cannot be reached"))?;
    let token = proof.token.as_ref().map(|token| format!("Bearer {token}").parse()).transpose()?;
    let client = CrawlerClient::with_interceptor(channel, Bearer(token));
    Ok(client.max_decoding_message_size(ANSWER_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use api::StatsRequest;

    use super::*;

    #[tokio::test]
    async fn a_server_that_keeps_silent_is_named() {
        // Connections are taken up by the system, as for a process that is stopped.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = silent.local_addr().expect("an address").to_string();
        let proof = Proof { tls: None, token: None };
        let patience = (Duration::from_millis(50), Duration::from_millis(50));
        let mut client = connect_patiently(&server, &proof, patience).await.expect("a connection");
        let status = client.stats(StatsRequest {}).await.expect_err("no answer");
        let why = why_no_answer(&server, &status);
        let expect = format!("the server at {server} gives no answer: nothing in 50 seconds. See whether its process");
        assert!(why.starts_with(&expect), "{why}");

        drop(silent);
        let status = client.stats(StatsRequest {}).await.expect_err("nobody listens");
        let why = why_no_answer(&server, &status);
        let expect = format!("the server at {server} gives no answer: ");
        assert!(why.starts_with(&expect) && why.ends_with("See whether it runs still, then ask again"), "{why}");
        let status = Status::not_found("the journal has no such change");
        assert_eq!(why_no_answer("a:1", &status), "the server at a:1: the journal has no such change");
        let unknown = Status::unimplemented("");
        let expect = "the server at a:1 is of an earlier version, which does not answer this";
        assert_eq!(why_no_answer("a:1", &unknown), expect);
    }
}
