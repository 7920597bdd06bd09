//! TLS by rustls: whom to trust, and which protocols to offer.

use std::sync::Arc;

use data_encoding::BASE64;
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};

use crate::ConfigError;

/// Sites whose TLS session is remembered for resumption.
const SESSIONS_MAX: usize = 4096;
/// Bytes of a line of PEM (RFC 7468 §2).
const PEM_LINE_BYTES: usize = 64;

/// Trusts the system's roots (Mozilla's where the system has none) and those in `ca_certs`, each a PEM file; offers
/// HTTP/2 and HTTP/1.1 by ALPN.
pub(crate) fn client_config(ca_certs: &[Vec<u8>]) -> Result<Arc<ClientConfig>, ConfigError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for (index, pem) in ca_certs.iter().enumerate() {
        add_pem(&mut roots, pem).map_err(|reason| ConfigError::CaCert { index, reason })?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ConfigError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.resumption = Resumption::in_memory_sessions(SESSIONS_MAX);
    Ok(Arc::new(config))
}

/// Makes sure that a PEM file has certificates that can be trusted ([`crate::FetchConfig::ca_certs`]).
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_ca_cert(pem: &[u8]) -> Result<(), String> {
    add_pem(&mut RootCertStore::empty(), pem)
}

/// The certificates of a PEM file as PEM, without its other parts.
///
/// # Errors
/// It is no PEM, or has none.
pub fn certificates_in(pem: &[u8]) -> Result<String, String> {
    let mut all = String::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("not PEM: {}", kind_of(&error)))?;
        all.push_str("-----BEGIN CERTIFICATE-----\n");
        let encoded = BASE64.encode(&certificate);
        for line in encoded.as_bytes().chunks(PEM_LINE_BYTES) {
            all.push_str(&String::from_utf8_lossy(line));
            all.push('\n');
        }
        all.push_str("-----END CERTIFICATE-----\n");
    }
    if all.is_empty() { Err("no certificate in it".to_owned()) } else { Ok(all) }
}

/// What is wrong with a text that is no PEM. The text itself is not shown: it may be another file than the user thinks.
fn kind_of(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "the end of a section is missing",
        pem::Error::IllegalSectionStart { .. } => "a section begins with a malformed line",
        pem::Error::Base64Decode(_) => "a section is not base64",
        _ => "it cannot be read",
    }
}

fn add_pem(roots: &mut RootCertStore, pem: &[u8]) -> Result<(), String> {
    let mut found = false;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| format!("not PEM: {}", kind_of(&error)))?;
        roots.add(certificate).map_err(|error| error.to_string())?;
        found = true;
    }
    if found { Ok(()) } else { Err("no certificate in it".to_owned()) }
}
