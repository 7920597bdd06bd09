//! Certificates that cannot be trusted, and names without an address.

use model::Outcome;
use testweb::hostile::{BROKEN_HOST, EXPIRED_HOST, UNTRUSTED_HOST, WRONG_NAME_HOST};

use super::{crawl, sandbox};
use crate::crawl::Crawl;

#[tokio::test(flavor = "multi_thread")]
async fn bad_certificates_are_tls_errors_that_say_what_is_bad() {
    let server = sandbox().await;
    let reasons = [
        (EXPIRED_HOST, "robots.txt: TLS: certificate of expired.tls.test has expired"),
        (WRONG_NAME_HOST, "robots.txt: TLS: certificate not valid for name wrong-name.tls.test"),
        (
            UNTRUSTED_HOST,
            "robots.txt: TLS: certificate of untrusted.tls.test was issued by an authority that is not trusted (--ca-cert adds one)",
        ),
        (BROKEN_HOST, "robots.txt: TLS: received fatal alert: AccessDenied"),
    ];
    let seeds = reasons.map(|(host, _)| format!("https://{host}/"));
    let begun = Crawl::of(&server, &seeds.each_ref().map(String::as_str));
    let certificate = begun.file("ca.pem", server.ca_pem());
    let found = crawl(begun.with(&["--ca-cert", &certificate])).await;
    for (seed, (_, reason)) in seeds.iter().zip(reasons) {
        let visit = found.visit(seed);
        assert_eq!((visit.outcome, visit.reason.as_str()), (Outcome::TlsError, reason));
    }
    assert!(server.log().is_empty(), "nothing is asked over a connection that is not trusted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_without_an_address_is_a_domain_error() {
    let begun = Crawl::routed(&["http://nobody.invalid/", "http://nobody.invalid/page"]);
    let found = crawl(begun.with(&["--dns-timeout", "2s"])).await;
    for url in ["http://nobody.invalid/", "http://nobody.invalid/page"] {
        let visit = found.visit(url);
        assert_eq!(visit.outcome, Outcome::DomainError);
        assert!(visit.reason.contains("name nobody.invalid"), "{}", visit.reason);
    }
}
