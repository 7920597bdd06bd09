//! One post, and the wait after one that failed.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, USER_AGENT};
use reqwest::{Client, Url, redirect};

use crate::{Secret, WebhookError};

/// The header field with the signature of the body.
const SIGNATURE: &str = "argiope-signature";
/// The longest time that a post takes.
const POST_TIME_MAX: Duration = Duration::from_secs(30);
/// The longest wait between two posts of a body.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// A URL that bodies are posted to. It may be secret itself: no error shows more of it than its host.
#[derive(Clone, Debug)]
pub struct Webhook {
    url: Url,
    secret: Option<Secret>,
    client: Client,
}

/// A post that was not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The receiver answered with another status than 2xx.
    #[error("{host} answered with status {status}")]
    Status {
        /// The receiver.
        host: String,
        /// The status.
        status: u16,
    },
    /// There was no answer.
    #[error("{host}: {why}")]
    NoAnswer {
        /// The receiver.
        host: String,
        /// What failed.
        why: String,
    },
}

impl Webhook {
    /// A webhook at an http or https URL. With a secret, posts are signed.
    ///
    /// # Errors
    /// It is no such URL, or there is no TLS.
    pub fn new(url: &str, secret: Option<Secret>) -> Result<Self, WebhookError> {
        let url = Url::parse(url).map_err(|error| WebhookError::Url(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebhookError::Url(format!("its scheme is {}, not http or https", url.scheme())));
        }
        // TLS by ring, as everywhere; who has set another for this process keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A redirect would send the body to somebody who was not named.
        let client = Client::builder().redirect(redirect::Policy::none()).timeout(POST_TIME_MAX);
        Ok(Webhook { url, secret, client: client.build().map_err(WebhookError::Client)? })
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Posts a body of JSON once.
    ///
    /// # Errors
    /// The receiver does not answer with a status of 2xx.
    pub async fn post(&self, body: Vec<u8>) -> Result<(), Refused> {
        let host = || self.url.host_str().unwrap_or_default().to_owned();
        let request = self.client.post(self.url.clone());
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.header(USER_AGENT, concat!("argiope/", env!("CARGO_PKG_VERSION")));
        let signature = self.secret.as_ref().map(|secret| secret.sign(&body));
        let request = signature.into_iter().fold(request, |request, signature| request.header(SIGNATURE, signature));
        match request.body(body).send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(Refused::Status { host: host(), status: answer.status().as_u16() }),
            Err(error) => Err(Refused::NoAnswer { host: host(), why: causes(&error.without_url()) }),
        }
    }
}

/// An error with its causes, in a line.
fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    causes.collect::<Vec<_>>().join(": ")
}

/// The wait before the next post of a body that was refused so many times: 1, 2, 4 … 300 s.
#[must_use]
pub fn wait_after(refusals: u32) -> Duration {
    Duration::from_secs(1 << refusals.saturating_sub(1).min(16)).min(WAIT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow() {
        assert_eq!([1, 2, 3, 9, 10, 1_000].map(|refusals| wait_after(refusals).as_secs()), [1, 2, 4, 256, 300, 300]);
    }

    #[test]
    fn only_http_is_posted_to() {
        for (url, expect) in [("nowhere", "relative URL without a base"), ("file:///tmp/x", "its scheme is file")] {
            let error = Webhook::new(url, None).map(drop).expect_err("no webhook").to_string();
            assert!(error.contains(expect), "{error}");
        }
    }
}
