//! The settings of the fetcher.

use std::net::SocketAddr;

use engine::Settings;
use fetch::{FetchConfig, Field, FieldError, Keyring};
use weburl::UrlPattern;

use super::parsed;
use crate::files;
use crate::of_file::{Certificates, OfFile};
use crate::options::Options;
use crate::secret::HeaderText;
use crate::usage;

/// The default port of name servers.
const DNS_PORT: u16 = 53;

/// The settings of the fetcher: what `config` has, and what the options and the logins say.
///
/// # Errors
/// An option cannot be used; the error names it.
pub(super) fn fetch_config(
    options: &Options,
    settings: &Settings,
    config: FetchConfig,
    of_logins: Vec<(UrlPattern, Field)>,
) -> anyhow::Result<FetchConfig> {
    let (fetches, fetches_max) = (settings.concurrency, files::fetches_max());
    if fetches > fetches_max {
        let advice = "allow more open files (`ulimit -n`) or set less";
        return Err(usage(format!(
            "--concurrency {fetches}: the system allows files for {fetches_max} fetches: {advice}"
        )));
    }
    let options = options.without_secrets();
    let mut config = FetchConfig {
        limits: settings.limits.clone(),
        idle_connections_max: config.idle_connections_max.min(files::idle_connections_max()),
        ..config
    };
    if settings.robots_once {
        config.robots_redirects_max = 0;
    }
    let mut for_seeds = Vec::new();
    for text in &options.header.0 {
        let field = field("header", text)?;
        match text.given().split_once(':') {
            Some((name, value)) if !field.is_secret() => {
                config.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ => for_seeds.push(field),
        }
    }
    let mut for_patterns = Vec::new();
    for (pattern, text) in &options.header_for.0 {
        for_patterns.push((parsed("header-for", pattern, UrlPattern::new)?, field("header-for", text)?));
    }
    for_patterns.extend(of_logins);
    config.keyring = Keyring::new(for_seeds, for_patterns);
    if let Some(proxy) = &options.proxy {
        let unusable = |error| usage(format!("--proxy `{proxy}`: {error}"));
        config.proxy = Some(proxy.given().parse().map_err(unusable)?);
    }
    for text in &options.resolve {
        config.resolve.push(parsed("resolve", text, str::parse)?);
    }
    for text in &options.connect_to {
        config.connect_to.push(parsed("connect-to", text, str::parse)?);
    }
    for text in &options.dns_servers {
        config.name_servers.push(parsed("dns-servers", text, name_server)?);
    }
    for of_file in &options.ca_cert {
        let OfFile::Kept(Certificates { name, pem }) = of_file else { continue };
        fetch::check_ca_cert(pem.as_bytes()).map_err(|reason| usage(format!("ca-cert {name}: {reason}")))?;
        config.ca_certs.push(pem.as_bytes().to_vec());
    }
    Ok(config)
}

/// A request field. The argument is not shown: it may contain a secret.
fn field(flag: &str, text: &HeaderText) -> anyhow::Result<Field> {
    text.given().parse().map_err(|error| match error {
        FieldError::Form => {
            usage(format!("--{flag}: one is not `Name: value` (it is not shown, since it may be secret)"))
        }
        error => usage(format!("--{flag} {error}")),
    })
}

fn name_server(text: &str) -> Result<SocketAddr, String> {
    let with_port = |address| SocketAddr::new(address, DNS_PORT);
    text.parse()
        .or_else(|_| text.parse().map(with_port))
        .map_err(|_| format!("`{text}` is not of the form ADDR[:PORT]"))
}
