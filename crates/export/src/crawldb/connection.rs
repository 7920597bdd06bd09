//! The way to the database.

use std::error::Error as _;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};

use super::tls::Tls;
use crate::ExportError;

/// An open connection.
pub(super) struct Connection {
    pub(super) client: Client,
    /// The database in words, without its password.
    pub(super) name: String,
}

impl Connection {
    /// Connects to a database given as a URL or as `key=value` pairs. To another machine it is by TLS, unless `sslmode=disable`
    /// is among them.
    ///
    /// # Errors
    /// It is no such text, or the database does not answer or does not let us in.
    pub(super) fn open(database: &str) -> Result<Self, ExportError> {
        let mut config: Config = database.parse().map_err(|error: postgres::Error| {
            ExportError::Other(format!(
                "-o: is no PostgreSQL database such as postgres://user@host/name or \"host=/run/postgresql dbname=name\": {}",
                in_words(&error)
            ))
        })?;
        let name = name_of(&config);
        let is_local = config.get_hosts().iter().all(is_local);
        let connected = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls),
            SslMode::Prefer if is_local => config.connect(NoTls),
            _ => {
                let tls = Tls::new().map_err(|error| ExportError::Other(format!("{name}: TLS: {error}")))?;
                config.ssl_mode(SslMode::Require).connect(tls)
            }
        };
        match connected {
            Ok(client) => Ok(Connection { client, name }),
            Err(error) => Err(ExportError::Other(format!("{name}: {}", in_words(&error)))),
        }
    }
}

/// What the database or the connection says of an error: the message, the detail, the hint.
pub(super) fn in_words(error: &postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let more = [error.detail(), error.hint()].into_iter().flatten();
        return more.fold(error.message().to_owned(), |words, more| format!("{words}; {more}"));
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Whether a host is this machine.
fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(host) => {
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

fn name_of(config: &Config) -> String {
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(dir) => dir.display().to_string(),
    });
    let hosts: Vec<String> = hosts.collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("database {database} at {}", if hosts.is_empty() { "localhost".to_owned() } else { hosts.join(", ") })
}
