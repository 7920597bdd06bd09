//! A certificate authority of the server's own: it makes a certificate for any name a client asks for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Certificates kept; beyond, they are made again each time.
const CERTIFICATES_MAX: usize = 10_000;
/// The names in the certificate of a client that asks for no name (it connects to an address).
const NAMELESS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A host whose certificate expired in 2001.
pub const EXPIRED_HOST: &str = "expired.tls.test";
/// A host that shows the certificate of another name.
pub const WRONG_NAME_HOST: &str = "wrong-name.tls.test";
/// A host whose certificate no authority signed.
pub const UNTRUSTED_HOST: &str = "untrusted.tls.test";
/// A host that breaks off the TLS handshake.
pub const BROKEN_HOST: &str = "broken.tls.test";

/// The authority and the certificates it has made.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    made: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    /// A new authority with a key of its own.
    pub fn new() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "testweb CA");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Authority { issuer, made: Mutex::default() })
    }

    /// The authority's certificate in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The TLS settings of a server that offers HTTP/2 and HTTP/1.1.
    pub fn server_config(self) -> Result<ServerConfig, rustls::Error> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    fn certificate(&self, name: Option<&str>) -> Result<CertifiedKey, Box<dyn std::error::Error>> {
        let shown = match name {
            Some(WRONG_NAME_HOST) => vec!["right-name.tls.test".to_owned()],
            Some(name) => vec![name.to_owned()],
            None => NAMELESS.map(str::to_owned).to_vec(),
        };
        let mut params = CertificateParams::new(shown)?;
        params.distinguished_name.push(DnType::CommonName, "testweb");
        if name == Some(EXPIRED_HOST) {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        let key = KeyPair::generate()?;
        let certificate: CertificateDer<'static> = if name == Some(UNTRUSTED_HOST) {
            params.self_signed(&key)?.into()
        } else {
            params.signed_by(&key, &self.issuer)?.into()
        };
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Ok(CertifiedKey::new(vec![certificate], ring::sign::any_supported_type(&key)?))
    }
}

impl ResolvesServerCert for Authority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name();
        if name == Some(BROKEN_HOST) {
            return None;
        }
        let kept = name.unwrap_or_default();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(certificate) = made.get(kept) {
            return Some(Arc::clone(certificate));
        }
        // A name that no certificate can carry ends the handshake, as any other name we do not have.
        let certificate = Arc::new(self.certificate(name).ok()?);
        if made.len() < CERTIFICATES_MAX {
            made.insert(kept.to_owned(), Arc::clone(&certificate));
        }
        Some(certificate)
    }
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authority")
    }
}
