//! A connection to a server's API, with the proof that we may ask, and its answers as text.

mod text;
mod undoing;
mod watching;

pub use text::Text;
pub use undoing::undo;
pub use watching::Watching;

use std::time::Duration;

use anyhow::Context;
use api::crawler_client::CrawlerClient;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

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

/// What a server said against a request.
#[must_use]
pub fn said(status: &Status) -> String {
    if status.message().starts_with(FOREIGN) {
        return "what answers is no server's port for clients, which `argiope server --clients` gives".to_owned();
    }
    status.message().to_owned()
}

/// A client of the API.
pub type Client = CrawlerClient<InterceptedService<Channel, Bearer>>;

/// Connects to a server, host:port.
///
/// # Errors
/// It is no address, or cannot be reached; the files of TLS cannot be used.
pub async fn connect(server: &str, proof: &Proof) -> anyhow::Result<Client> {
    let scheme = if proof.tls.is_some() { "https" } else { "http" };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}://{server}"))
        .map_err(|_| usage(format!("--server {server}: is not an address with a port, such as 127.0.0.1:7871")))?
        .connect_timeout(CONNECT_TIME_MAX)
        .http2_keep_alive_interval(KEEPALIVE_EVERY)
        .keep_alive_timeout(KEEPALIVE_TIME_MAX);
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
