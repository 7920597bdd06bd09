//! From an address to the storage that it names.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use crate::SharedArchiveError;

/// How often a request is tried again when the storage fails or cannot be reached, and for how long.
const RETRIES_MAX: usize = 8;
const RETRY_TIME_MAX: Duration = Duration::from_secs(60);
/// Between tries, at most.
const RETRY_EVERY_MAX: Duration = Duration::from_secs(10);

/// How long a request may take: a part of a file, over a slow line.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(300);

/// An address as it may be shown: without all that may be a user, a key or a signature. That is everything up to the last `@`, which
/// the path of a `file:` URL alone may have, and the query.
pub(crate) fn shown(address: &str) -> Cow<'_, str> {
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + "://".len()));
    let is_path = scheme.eq_ignore_ascii_case("file://") && rest.starts_with('/');
    let user = if is_path { None } else { rest.rsplit_once('@') };
    let (hidden, rest) = user.map_or(("", rest), |(_, rest)| ("***@", rest));
    let (place, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let query = if query.is_empty() { "" } else { "?***" };
    if hidden.is_empty() && query.is_empty() {
        return Cow::Borrowed(address);
    }
    Cow::Owned(format!("{scheme}{hidden}{place}{query}"))
}

/// The storage at an address.
pub(crate) fn store(
    address: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Arc<dyn ObjectStore>, SharedArchiveError> {
    let wrong =
        |detail: &dyn Display| SharedArchiveError::Address { url: shown(address).into(), detail: detail.to_string() };
    let opened = |error: object_store::Error| SharedArchiveError::open(&shown(address), &error);
    let url = Url::parse(address).map_err(|error| wrong(&error))?;
    if url.scheme() == "file" {
        let dir = url.to_file_path().map_err(|()| wrong(&"it names no directory of this machine"))?;
        let failed =
            |error: std::io::Error| SharedArchiveError::Open { url: shown(address).into(), detail: error.to_string() };
        std::fs::create_dir_all(&dir).map_err(failed)?;
        return Ok(Arc::new(LocalFileSystem::new_with_prefix(dir).map_err(opened)?.with_fsync(true)));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong(&"it names no bucket"));
    }
    // TLS by ring, as everywhere; who has set another for this process keeps it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = ClientOptions::new().with_timeout(REQUEST_TIME_MAX);
    let backoff = BackoffConfig { max_backoff: RETRY_EVERY_MAX, ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: RETRY_TIME_MAX };
    let bucket: Arc<dyn ObjectStore> = match url.scheme() {
        "s3" => {
            let builder = AmazonS3Builder::new().with_client_options(client).with_retry(retry).with_url(address);
            let builder =
                settings(variables, "AWS_").fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.build().map_err(opened)?)
        }
        "gs" => {
            let builder =
                GoogleCloudStorageBuilder::new().with_client_options(client).with_retry(retry).with_url(address);
            let builder =
                settings(variables, "GOOGLE_").fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.build().map_err(opened)?)
        }
        "az" => {
            let builder = MicrosoftAzureBuilder::new().with_client_options(client).with_retry(retry).with_url(address);
            let builder =
                settings(variables, "AZURE_").fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.build().map_err(opened)?)
        }
        other => return Err(wrong(&format_args!("{other}:// is not known"))),
    };
    let prefix = Key::from_url_path(url.path()).map_err(|error| wrong(&error))?;
    Ok(Arc::new(PrefixStore::new(bucket, prefix)))
}

/// The variables that a storage knows.
fn settings<K: FromStr>(
    variables: impl IntoIterator<Item = (String, String)>,
    beginning: &str,
) -> impl Iterator<Item = (K, String)> {
    let ours = move |(key, _): &(String, String)| key.starts_with(beginning);
    variables.into_iter().filter(ours).filter_map(|(key, value)| Some((key.to_ascii_lowercase().parse().ok()?, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_shown_with_what_may_be_secret() {
        for (address, expect) in [
            ("s3://KEY:PW@bucket/x", "s3://***@bucket/x"),
            ("s3://KEY/PW@bucket/x", "s3://***@bucket/x"),
            ("s3://KEY:P?W@bucket/x", "s3://***@bucket/x"),
            ("gs://KEY:PW@bucket/x", "gs://***@bucket/x"),
            ("http://u:PW@h/x", "http://***@h/x"),
            ("webdav://u:PW@h/x", "webdav://***@h/x"),
            ("file://u:PW@/x", "file://***@/x"),
            ("u:PW@h/x", "***@h/x"),
            ("s3://bucket/x?aws_secret_access_key=PW", "s3://bucket/x?***"),
            ("az://c/x?sig=PW", "az://c/x?***"),
            ("az://c/x#PW", "az://c/x?***"),
            ("file:///srv/x?sig=PW", "file:///srv/x?***"),
            ("file:///srv/a@b/x", "file:///srv/a@b/x"),
            ("s3://bucket/a%40b", "s3://bucket/a%40b"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(shown(address), expect);
            // A directory would be made.
            if expect != address && !address.starts_with("file:///") {
                let error = store(address, []).err().map(|error| error.to_string());
                assert!(!error.unwrap_or_default().contains("PW"), "{address}");
            }
        }
    }
}
