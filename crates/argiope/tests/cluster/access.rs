//! Who may ask a server: nobody else is let in, and each refusal is one clear line.

use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use service::access::{ClientAccess, Proof};
use service::joining::{Joining, Placement, ask};
use testdb::{GUARDED, Postgres};

use crate::served::{Served, one_line, post};
use testkit::ran::{Ran, argiope};

const TOKEN: &str = "a-token-of-the-tests";

fn joining(server: &str, proof: &Proof) -> anyhow::Result<Joining> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(ask(server, proof))
}

fn file(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn a_token_is_asked_for_on_both_ports() {
    let dir = tempfile::tempdir().expect("a directory");
    let (right, wrong) = (file(dir.path(), "right", TOKEN), file(dir.path(), "wrong", "a-token-of-nobody"));
    let database = Postgres::start();
    let server = Served::first(&database, &["--token-file", &right]);
    assert_eq!(server.asked(&["--token-file", &right, "workers"])["workers"], serde_json::json!([]));
    for arguments in [&["workers"][..], &["--token-file", &wrong, "workers"]] {
        let refused = server.refused(arguments);
        assert!(refused.ends_with("no token, or a wrong one: give the server's with --token-file"), "{refused}");
    }
    let (status, body) = post(&server.clients, "/v1/Stats", "Authorization: Bearer no\r\n", "{}");
    assert_eq!(status, 401);
    assert!(body.contains(r#""code":"UNAUTHENTICATED""#), "{body}");
    let (status, _) = post(&server.clients, "/v1/Stats", &format!("Authorization: Bearer {TOKEN}\r\n"), "{}");
    assert_eq!(status, 200);
    let refused = joining(&server.workers, &Proof::default()).expect_err("no token").to_string();
    assert!(refused.contains("no token, or a wrong one"), "{refused}");
    let proof = Proof { token: Some(TOKEN.to_owned()), tls: None };
    let told = joining(&server.workers, &proof).expect("joining");
    assert!(told.archive.starts_with("file:///"), "{}", told.archive);
    assert_eq!((told.placement, told.lease_seconds), (Placement::Latency, 15.0));
    assert_eq!(told.store, database.url());
    assert!(told.settings.contains("\ndeny-private = \"always\"\n") && told.settings.contains("\ndepth = 100\n"));
}

/// Certificates of an authority of the test's own.
struct Authority {
    dir: tempfile::TempDir,
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("signed");
        Authority { dir: tempfile::tempdir().expect("a directory"), certificate, issuer: Issuer::new(params, key) }
    }

    fn itself(&self) -> String {
        file(self.dir.path(), "authority.pem", &self.certificate.pem())
    }

    /// A certificate and its key.
    fn signed(&self, name: &str) -> [String; 2] {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("names");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        let pem = |kind: &str, text: &str| file(self.dir.path(), &format!("{name}.{kind}"), text);
        [pem("cert", &certificate.pem()), pem("key", &key.serialize_pem())]
    }
}

#[test]
fn certificates_are_asked_for_on_both_sides() {
    let (ours, others) = (Authority::new(), Authority::new());
    let (ca, [cert, key], [client_cert, client_key]) = (ours.itself(), ours.signed("server"), ours.signed("client"));
    let [other_cert, other_key] = others.signed("client");
    let database = Postgres::start();
    let server = Served::first(&database, &["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &ca]);
    let asks = |ca: &str, cert: &str, key: &str| -> Ran {
        server.client(&["--tls-ca", ca, "--tls-cert", cert, "--tls-key", key, "stats"])
    };
    assert_eq!(asks(&ca, &client_cert, &client_key).code, 0);
    for ran in [
        asks(&ca, &other_cert, &other_key),
        asks(&others.itself(), &client_cert, &client_key),
        server.client(&["stats"]),
    ] {
        assert!(one_line(&ran).starts_with("the server at 127.0.0.1:"), "{ran:?}");
    }
    // Who connects and says nothing is sent away.
    for port in [&server.clients, &server.workers] {
        let mut silent = TcpStream::connect(port).expect("it listens");
        silent.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        assert_eq!(silent.read(&mut [0]).expect("closed in time"), 0);
    }
    let path = |text: &str| Some(PathBuf::from(text));
    let (tls_ca, tls_cert, tls_key) = (path(&ca), path(&client_cert), path(&client_key));
    let proof = ClientAccess { token_file: None, tls_ca, tls_cert, tls_key }.proof().expect("files");
    assert_eq!(joining(&server.workers, &proof).expect("joining").crawl_id.len(), 36);
    assert!(joining(&server.workers, &Proof::default()).is_err());
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let database = Postgres::start();
    let url = database.url();
    let short = file(dir.path(), "short", "short");
    let guarded = database.url_of(&format!("{GUARDED}:wrong"));
    let nowhere = "postgres://me@127.0.0.1:1/none";
    let usual = ["server", "--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0"];
    let store = ["--store", &url, "--archive", "file:///a"];
    let check = |arguments: &[&[&str]], code: i32, expect: &str| {
        let ran = argiope(&arguments.concat());
        let line = one_line(&ran);
        assert!(ran.code == code && line.contains(expect), "{line} instead of {expect}");
        assert!(!line.contains("wrong@") && !line.contains(":wrong"), "the password is shown: {line}");
    };
    let open = "is open to other machines: choose who may use it, with --token-file, or with --tls-cert";
    for flag in ["--clients", "--workers"] {
        check(&[&["server", flag, "0.0.0.0:0"], &store], 2, &format!("{flag} 0.0.0.0:0 {open}"));
    }
    check(&[&["server", "--clients", "7871"], &store], 2, "--clients 7871: is not an address with a port");
    check(&[&usual, &store, &["--token-file", &short]], 2, "a token has 16 characters at least");
    check(&[&usual], 2, "--store is missing");
    check(&[&usual, &["--store", &url]], 2, "--archive is missing");
    check(&[&usual, &["--store", &url, "--archive", "a"]], 2, "--archive a: is not a URL such as");
    check(&[&usual, &store, &["--max-pages", "0"]], 2, "--max-pages must be more than 0");
    check(&[&usual, &store, &["--no-archive"]], 2, "--no-archive: a crawl by several workers needs both");
    check(&[&usual, &store, &["--no-dataset"]], 2, "--no-dataset: a crawl by several workers needs both");
    check(&[&usual, &store, &["--lease", "1ms"]], 2, "--lease 1ms: is not between 1s and 1h");
    check(&[&usual, &["--store", &guarded, "--archive", "file:///a"]], 1, "password authentication failed");
    check(&[&usual, &["--store", nowhere, "--archive", "file:///a"]], 1, "Connection refused");

    let server = Served::first(&database, &["--depth", "5"]);
    let other = ["--depth", "6", "--scope", "any"];
    check(
        &[&usual, &store[..2], &other],
        2,
        "holds a crawl with other settings of depth, scope: give the original ones",
    );
    check(&[&usual, &store], 2, "--archive file:///a: the archive of the crawl in");
    check(
        &[&["server", "--clients", &server.clients, "--workers", "127.0.0.1:0"], &store[..2]],
        1,
        "Address already in use",
    );
    check(&[&["client", "--server", "127.0.0.1:1", "stats"]], 1, "the server at 127.0.0.1:1 cannot be reached");
}
