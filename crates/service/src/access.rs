//! Access to a server: a token, or certificates on both sides. Without either a server listens to its
//! own machine only.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use subtle::ConstantTimeEq;

use settings::usage;

/// Bytes of a token: less could be guessed, more is no token.
const TOKEN_BYTES_MIN: usize = 16;
const TOKEN_BYTES_MAX: usize = 4_096;
/// Bytes of a file of certificates or of a key, at most.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Protocols on the port of clients.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// How a server knows who may ask, as given.
#[derive(Args, Clone, Debug, Default)]
pub struct ServerAccess {
    /// Let only those ask who know the token in this file; the same for clients and workers
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub token_file: Option<PathBuf>,
    /// Serve by TLS with this certificate (PEM), and let only those ask whose certificate --tls-client-ca has signed
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_client_ca"], help_heading = "Access")]
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Access")]
    pub tls_key: Option<PathBuf>,
    /// Who signs the certificates of clients and workers (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Access")]
    pub tls_client_ca: Option<PathBuf>,
}

/// How clients and workers prove that they may ask, as given.
#[derive(Args, Clone, Debug, Default)]
pub struct ClientAccess {
    /// The file with the server's token
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub token_file: Option<PathBuf>,
    /// Talk by TLS to a server whose certificate this authority (PEM) has signed
    #[arg(long, value_name = "FILE", requires_all = ["tls_cert", "tls_key"], help_heading = "Access")]
    pub tls_ca: Option<PathBuf>,
    /// Our certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_ca", help_heading = "Access")]
    pub tls_cert: Option<PathBuf>,
    /// The key of our certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_ca", help_heading = "Access")]
    pub tls_key: Option<PathBuf>,
}

/// Whom an interface in the browser lets in, as given.
#[derive(Args, Clone, Debug, Default)]
pub struct InterfaceAccess {
    /// Let only those use the interface who know the token in this file. Then its address may be one that other machines reach
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub ui_token_file: Option<PathBuf>,
}

impl InterfaceAccess {
    /// Reads the file: the guard whose token opens the interface, if one is given.
    ///
    /// # Errors
    /// The file cannot be read or used; it is named.
    pub fn guard(&self) -> anyhow::Result<Option<Guard>> {
        let token = self.ui_token_file.as_deref().map(|path| token("--ui-token-file", path)).transpose()?;
        Ok(token.map(|token| Guard::by_token(Some(&token))))
    }
}

/// Whom a server lets in.
#[derive(Clone)]
pub struct Guard {
    token: Option<Arc<str>>,
    /// Encrypts, and asks for a certificate.
    pub tls: Option<Arc<ServerConfig>>,
    /// Host names that requests without a token or certificate may have.
    names: Vec<String>,
    /// What is behind asks for a token itself.
    is_asked_behind: bool,
}

/// What proves that we may ask.
#[derive(Clone, Default)]
pub struct Proof {
    /// The token.
    pub token: Option<String>,
    /// The files of TLS.
    pub tls: Option<Pems>,
}

/// An authority, a certificate and its key, as PEM.
#[derive(Clone)]
pub struct Pems {
    /// Who signed the other side's certificate.
    pub authority: Vec<u8>,
    /// Our certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
}

impl ServerAccess {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used; it is named.
    pub fn guard(&self) -> anyhow::Result<Guard> {
        let token = self.token_file.as_deref().map(|path| token("--token-file", path)).transpose()?.map(Into::into);
        let tls = match (&self.tls_client_ca, &self.tls_cert, &self.tls_key) {
            (Some(authority), Some(certificate), Some(key)) => {
                Some(Arc::new(server_config(&pems("--tls-client-ca", authority, certificate, key)?)?))
            }
            _ => None,
        };
        Ok(Guard { token, tls, ..Guard::open() })
    }
}

impl ClientAccess {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or used; it is named.
    pub fn proof(&self) -> anyhow::Result<Proof> {
        let token = self.token_file.as_deref().map(|path| token("--token-file", path)).transpose()?;
        let tls = match (&self.tls_ca, &self.tls_cert, &self.tls_key) {
            (Some(authority), Some(certificate), Some(key)) => Some(pems("--tls-ca", authority, certificate, key)?),
            _ => None,
        };
        Ok(Proof { token, tls })
    }
}

impl Guard {
    /// Lets everybody in.
    #[must_use]
    pub const fn open() -> Self {
        Guard { token: None, tls: None, names: Vec::new(), is_asked_behind: false }
    }

    /// Lets those in who know the token; everybody, if there is none.
    #[must_use]
    pub fn by_token(token: Option<&str>) -> Self {
        Guard { token: token.map(Into::into), ..Guard::open() }
    }

    /// Lets everybody in, since what is behind asks for a token: browsers bring it in ways of their own ([`crate::entry`]).
    #[must_use]
    pub(crate) fn asked_behind() -> Self {
        Guard { is_asked_behind: true, ..Guard::open() }
    }

    /// Whether anybody has to prove something, here or behind it.
    const fn is_asked(&self) -> bool {
        self.token.is_some() || self.tls.is_some() || self.is_asked_behind
    }

    /// Where everybody is let in, lets itself be asked by the host of this `HOST:PORT` too: the user called this machine so.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        self.names.push(host_of(name).to_owned());
        self
    }

    /// Refuses an address at which other machines can ask, if anybody could.
    ///
    /// # Errors
    /// The flag by which it was given is named.
    pub fn check(&self, flag: &str, address: SocketAddr) -> anyhow::Result<()> {
        if address.ip().is_loopback() || self.is_asked() {
            return Ok(());
        }
        Err(usage(format!(
            "{flag} {address} is open to other machines: choose who may use it, with --token-file, or with --tls-cert, --tls-key and --tls-client-ca"
        )))
    }

    /// The token, for those whom the server asks in turn.
    #[must_use]
    pub fn token(&self) -> Option<String> {
        self.token.as_deref().map(str::to_owned)
    }

    /// Whether a request that names this host may be meant for us. Where nobody proves who he is, the host must be an address,
    /// `localhost`, or a name that the user gave: a page of the web whose name was made to lead to this machine names another.
    #[must_use]
    pub fn is_meant(&self, host: &str) -> bool {
        if self.is_asked() {
            return true;
        }
        let name = host_of(host);
        let is_ours = |ours: &str| name.eq_ignore_ascii_case(ours);
        is_ours("localhost")
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || self.names.iter().any(|ours| is_ours(ours))
    }

    /// Whether who sent this `Authorization` may ask.
    #[must_use]
    pub fn admits(&self, authorization: Option<&[u8]>) -> bool {
        let Some(token) = &self.token else { return true };
        let given = authorization.and_then(|value| value.strip_prefix(b"Bearer ")).unwrap_or_default();
        given.ct_eq(token.as_bytes()).into()
    }
}

impl Pems {
    /// What a client of a server needs to talk to it by TLS.
    ///
    /// # Errors
    /// The files hold something else.
    pub fn client_config(&self) -> anyhow::Result<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(self.roots("--tls-ca")?);
        let (chain, key) = self.identity()?;
        builder.with_client_auth_cert(chain, key).map_err(|error| usage(format!("--tls-cert and --tls-key: {error}")))
    }

    fn roots(&self, flag: &str) -> anyhow::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(flag, &self.authority)? {
            roots.add(certificate).map_err(|error| usage(format!("{flag}: {error}")))?;
        }
        Ok(roots)
    }

    fn identity(&self) -> anyhow::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let key = PrivateKeyDer::from_pem_slice(&self.key);
        let key = key.map_err(|error| usage(format!("--tls-key: no PEM key: {error}")))?;
        Ok((certificates("--tls-cert", &self.certificate)?, key))
    }
}

/// `HOST:PORT` without the port, if it has one.
fn host_of(authority: &str) -> &str {
    authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(authority, |(host, _)| host)
}

fn server_config(pems: &Pems) -> anyhow::Result<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = Arc::new(pems.roots("--tls-client-ca")?);
    let clients = WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build()?;
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(clients);
    let (chain, key) = pems.identity()?;
    let config = builder.with_single_cert(chain, key);
    let mut config = config.map_err(|error| usage(format!("--tls-cert and --tls-key: {error}")))?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(config)
}

fn certificates(flag: &str, pem: &[u8]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| usage(format!("{flag}: no PEM certificates: {error}")))?;
    if all.is_empty() { Err(usage(format!("{flag}: no certificate in it"))) } else { Ok(all) }
}

fn token(flag: &str, path: &Path) -> anyhow::Result<String> {
    let bytes = read(flag, path, TOKEN_BYTES_MAX as u64)?;
    let wrong = |what: &str| usage(format!("{flag} {}: {what}", path.display()));
    let text = String::from_utf8(bytes).map_err(|_| wrong("is no text"))?;
    let token = text.trim();
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("a token is one word of ASCII letters, digits and signs"));
    }
    if token.len() < TOKEN_BYTES_MIN {
        return Err(wrong(&format!("a token has {TOKEN_BYTES_MIN} characters at least")));
    }
    Ok(token.to_owned())
}

fn pems(authority_flag: &str, authority: &Path, certificate: &Path, key: &Path) -> anyhow::Result<Pems> {
    Ok(Pems {
        authority: read(authority_flag, authority, PEM_BYTES_MAX)?,
        certificate: read("--tls-cert", certificate, PEM_BYTES_MAX)?,
        key: read("--tls-key", key, PEM_BYTES_MAX)?,
    })
}

fn read(flag: &str, path: &Path, bytes_max: u64) -> anyhow::Result<Vec<u8>> {
    let wrong = |what: String| usage(format!("{flag} {}: {what}", path.display()));
    let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > bytes_max {
        return Err(wrong(format!("is longer than {bytes_max} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_token_or_another_is_not_let_in() {
        let guard = Guard::by_token(Some("0123456789abcdef"));
        for (authorization, expect) in [
            (None, false),
            (Some("0123456789abcdef"), false),
            (Some("Bearer 0123456789abcde"), false),
            (Some("Bearer 0123456789abcdeF"), false),
            (Some("Bearer 0123456789abcdef"), true),
        ] {
            assert_eq!(guard.admits(authorization.map(str::as_bytes)), expect, "{authorization:?}");
        }
        assert!(Guard::open().admits(None));
    }

    #[test]
    fn a_page_of_the_web_does_not_reach_a_server_without_guard() {
        let open = Guard::open();
        for (host, expect) in [
            ("127.0.0.1:7871", true),
            ("[::1]:7871", true),
            ("[::1]", true),
            ("localhost:7871", true),
            ("rebound.test:7871", false),
            ("127.0.0.1.rebound.test", false),
            ("crawler.test:7871", false),
            ("", false),
        ] {
            assert_eq!(open.is_meant(host), expect, "{host:?}");
        }
        assert!(Guard::by_token(Some("0123456789abcdef")).is_meant("crawler.test"));
        let called = Guard::open().called("Crawler.test:9464");
        assert!(called.is_meant("crawler.test:9464") && !called.is_meant("rebound.test:9464"));
    }

    #[test]
    fn nobody_listens_to_other_machines_unguarded() {
        let open = Guard::open();
        let guarded = Guard::by_token(Some("0123456789abcdef"));
        for (address, expect) in
            [("127.0.0.1:1", true), ("[::1]:1", true), ("0.0.0.0:1", false), ("[::]:1", false), ("10.0.0.1:1", false)]
        {
            let address = address.parse().expect("an address");
            assert_eq!(open.check("--clients", address).is_ok(), expect, "{address}");
            assert!(guarded.check("--clients", address).is_ok());
        }
    }
}
