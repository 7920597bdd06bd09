//! TLS: whom we trust, what we say when we do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fetch::{FetchConfig, Fetcher};
use model::{FailureKind, FetchTask};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use crate::client::{assert_failed, fetcher, page, plain, response, text};
use crate::server::{Server, serve};

const OK: &str = "HTTP/1.1 200 OK\r\nX-MiXed: 1\r\nContent-Length: 2\r\n\r\nok";

/// An authority of our own.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "test authority");
        let key = KeyPair::generate().expect("a key");
        Authority { issuer: CertifiedIssuer::self_signed(params, key).expect("a certificate") }
    }

    pub fn pem(&self) -> Vec<u8> {
        self.issuer.pem().into_bytes()
    }

    /// Who has a certificate for `names`.
    pub fn acceptor(&self, names: &[&str], alpn: &[&str]) -> TlsAcceptor {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.acceptor_with(CertificateParams::new(names).expect("names"), alpn)
    }

    fn acceptor_with(&self, params: CertificateParams, alpn: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .expect("a certificate");
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Answers with `answer` over TLS, `times` times a connection.
async fn tls_server(acceptor: TlsAcceptor, answer: &'static str, times: usize) -> Server {
    serve(move |peer| {
        let acceptor = acceptor.clone();
        async move {
            let Some(mut peer) = peer.secured(&acceptor).await else { return };
            for _ in 0..times {
                if peer.request().await.is_none() || !peer.send(answer).await {
                    return;
                }
            }
        }
    })
    .await
}

pub fn trusting(authority: &Authority) -> Fetcher {
    fetcher(FetchConfig { ca_certs: vec![authority.pem()], ..FetchConfig::default() })
}

fn https(host: &str, server: &Server) -> FetchTask {
    page(&format!("https://{host}:{}/", server.address.port()))
}

#[tokio::test]
async fn a_given_authority_is_trusted_for_names_and_addresses() {
    let authority = Authority::new();
    let server = tls_server(authority.acceptor(&["a.test", "127.0.0.1"], &["http/1.1"]), OK, 9).await;
    let fetcher = trusting(&authority);
    for host in ["a.test", "127.0.0.1", "a.test"] {
        let outcome = fetcher.fetch(https(host, &server)).await;
        assert_eq!(text(&response(&outcome).body), "ok");
        assert_eq!(text(&outcome.exchanges[0].response_head), &OK[..OK.len() - 2]);
        assert!(text(&outcome.exchanges[0].request_head).contains(&format!("Host: {host}:{}", server.address.port())));
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_unknown_authority_is_a_tls_failure() {
    let server = tls_server(Authority::new().acceptor(&["a.test"], &[]), OK, 1).await;
    let outcome = plain().fetch(https("a.test", &server)).await;
    assert_failed(&outcome, FailureKind::Tls, "certificate of a.test was issued by an authority that is not trusted");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_a_tls_failure() {
    let authority = Authority::new();
    let server = tls_server(authority.acceptor(&["a.test"], &[]), OK, 1).await;
    let outcome = trusting(&authority).fetch(https("b.test", &server)).await;
    assert_failed(&outcome, FailureKind::Tls, "TLS: certificate not valid for name b.test");
}

#[tokio::test]
async fn an_old_certificate_is_a_tls_failure() {
    let authority = Authority::new();
    let mut params = CertificateParams::new(vec!["a.test".to_owned()]).expect("names");
    (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let server = tls_server(authority.acceptor_with(params, &[]), OK, 1).await;
    let outcome = trusting(&authority).fetch(https("a.test", &server)).await;
    assert_failed(&outcome, FailureKind::Tls, "certificate of a.test has expired");
}

#[tokio::test]
async fn a_server_without_tls_is_a_tls_failure() {
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
        let server = serve(move |mut peer| async move {
            let mut hello = [0; 16];
            let _ = tokio::io::AsyncReadExt::read_exact(&mut peer.stream, &mut hello).await;
            peer.send(answer).await;
        })
        .await;
        let outcome = plain().fetch(https("a.test", &server)).await;
        assert_failed(&outcome, FailureKind::Tls, "TLS: ");
        if !answer.is_empty() {
            let told = "the answer of a.test is not TLS: perhaps this port is for http, not for https";
            assert_failed(&outcome, FailureKind::Tls, told);
        }
    }
}

/// As `openssl req -x509` makes it.
#[tokio::test]
async fn the_certificate_of_an_authority_is_said_to_be_one() {
    let authority = Authority::new();
    let mut params = CertificateParams::new(vec!["a.test".to_owned()]).expect("names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let server = tls_server(authority.acceptor_with(params, &[]), OK, 1).await;
    let outcome = trusting(&authority).fetch(https("a.test", &server)).await;
    assert_failed(&outcome, FailureKind::Tls, "certificate of a.test is that of an authority (CA:TRUE)");
}

#[tokio::test]
async fn a_body_that_ends_without_a_goodbye_of_tls_is_whole() {
    let authority = Authority::new();
    let server = tls_server(authority.acceptor(&["a.test"], &[]), "HTTP/1.1 200 OK\r\n\r\nto the end", 1).await;
    let outcome = trusting(&authority).fetch(https("a.test", &server)).await;
    assert_eq!((text(&response(&outcome).body), response(&outcome).truncated), ("to the end", None));
}

#[tokio::test]
async fn a_second_connection_resumes_the_session() {
    let authority = Authority::new();
    let (acceptor, resumed) = (authority.acceptor(&["a.test"], &[]), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&resumed);
    let server = serve(move |peer| {
        let (acceptor, resumed) = (acceptor.clone(), Arc::clone(&counter));
        async move {
            let Some(mut peer) = peer.secured(&acceptor).await else { return };
            if peer.stream.get_ref().1.handshake_kind() == Some(rustls::HandshakeKind::Resumed) {
                resumed.fetch_add(1, Ordering::SeqCst);
            }
            peer.request().await;
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        }
    })
    .await;
    let fetcher = trusting(&authority);
    for _ in 0..3 {
        response(&fetcher.fetch(https("a.test", &server)).await);
    }
    assert_eq!((server.connections(), resumed.load(Ordering::SeqCst)), (3, 2));
}
