//! The way to a PostgreSQL database: its address, its password, TLS, its errors in words.

mod password;
mod tls;

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};

use crate::tls::Tls;

/// How long the server may take to let us in, unless the address says otherwise.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a connection is silent before it is asked whether it still stands.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(30);
/// How long what was sent may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED_TIME_MAX: Duration = Duration::from_secs(60);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The text is no address of a database.
    #[error(
        "is no PostgreSQL database such as postgres://user@host/name or \"host=/run/postgresql dbname=name\": {reason}"
    )]
    Address {
        /// What is wrong with it.
        reason: String,
    },
    /// TLS cannot be set up on this machine.
    #[error("{database}: TLS: {reason}")]
    Tls {
        /// The database.
        database: String,
        /// What is missing.
        reason: String,
    },
    /// The server does not answer, or does not let us in.
    #[error("{database}: {}", in_words(source))]
    Refused {
        /// The database.
        database: String,
        /// What the server or the system says.
        source: postgres::Error,
    },
}

/// Where a database is and who asks. What it shows of itself never has the password in it.
#[derive(Clone)]
pub struct Address {
    config: Config,
    /// As given, without the password.
    text: String,
}

impl Address {
    /// Reads a URL `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE` or `key=value` pairs, as libpq does.
    ///
    /// # Errors
    /// It is neither.
    pub fn parse(text: &str) -> Result<Self, DatabaseError> {
        let config = text.parse().map_err(|error| DatabaseError::Address { reason: in_words(&error) })?;
        let text = password::removed(text).ok_or_else(|| DatabaseError::Address {
            reason: "give the password as postgres://user:PASSWORD@host, or better in PGPASSWORD or ~/.pgpass"
                .to_owned(),
        })?;
        Ok(Address { config, text })
    }

    /// Connects, with this setting of the session (`-c name=value …`) if one is given. To another machine it is by TLS, unless
    /// the address says `sslmode=disable`. The password is that of the address, else `PGPASSWORD`, else what `~/.pgpass`
    /// (`PGPASSFILE`) says.
    ///
    /// # Errors
    /// The database does not answer or does not let us in.
    pub fn connect(&self, session: Option<&str>) -> Result<Client, DatabaseError> {
        let mut config = self.config.clone();
        if config.get_password().is_none()
            && let Some(password) = password::looked_up(&config)
        {
            config.password(password);
        }
        if let Some(session) = session {
            let given = config.get_options().map(|given| format!("{given} ")).unwrap_or_default();
            config.options(&format!("{given}{session}"));
        }
        if config.get_application_name().is_none() {
            config.application_name("argiope");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIME_MAX);
        }
        config.keepalives_idle(KEEPALIVE_AFTER);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED_TIME_MAX);
        }
        let is_local = config.get_hosts().iter().all(is_local);
        let connected = match config.get_ssl_mode() {
            SslMode::Disable => config.connect(NoTls),
            SslMode::Prefer if is_local => config.connect(NoTls),
            _ => {
                let tls = Tls::new();
                let tls =
                    tls.map_err(|error| DatabaseError::Tls { database: self.name(), reason: error.to_string() })?;
                config.ssl_mode(SslMode::Require).connect(tls)
            }
        };
        connected.map_err(|source| DatabaseError::Refused { database: self.name(), source })
    }

    /// The database in words.
    #[must_use]
    pub fn name(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(host) => host.clone(),
            #[cfg(unix)]
            Host::Unix(dir) => dir.display().to_string(),
        });
        let hosts: Vec<String> = hosts.collect();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("database {database} at {}", if hosts.is_empty() { "localhost".to_owned() } else { hosts.join(", ") })
    }
}

/// Of the same database and user, whatever the password.
impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

/// What the database or the connection says of an error: the message, the detail, the hint.
#[must_use]
pub fn in_words(error: &postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let more = [error.detail(), error.hint()].into_iter().flatten();
        return more.fold(error.message().to_owned(), |words, more| format!("{words}; {more}"));
    }
    let words = match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    if words.ends_with("password missing") {
        return "the server wants a password: give it in PGPASSWORD or ~/.pgpass".to_owned();
    }
    words
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_used_and_never_shown() {
        let check = |given: &str, shown: &str, password: Option<&str>| {
            let address = Address::parse(given).expect(given);
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?} {}", address.name()).contains("s3cret"));
            assert_eq!(address.config.get_password(), password.map(str::as_bytes));
        };
        check("postgres://me:s3cret@h:5/db", "postgres://me@h:5/db", Some("s3cret"));
        check(
            "postgresql://me:s3cret%40@h/db?sslmode=disable",
            "postgresql://me@h/db?sslmode=disable",
            Some("s3cret@"),
        );
        check("postgres://me@h/db", "postgres://me@h/db", None);
        check("postgres://h", "postgres://h", None);
        check("postgres:///db?host=%2Frun", "postgres:///db?host=%2Frun", None);
        check("host=h user=me", "host=h user=me", None);
        check("host=h user=me password=s3cret", "host=h user=me", Some("s3cret"));
        check("host=h password='s3 cret' user=me", "host=h user=me", Some("s3 cret"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["mysql://h/db", "postgres://me@h/db?password=s3cret", "host=h password = 's3cret'", "host"] {
            let error = Address::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("is no PostgreSQL database"), "{text}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
