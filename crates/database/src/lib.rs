//! The way to a PostgreSQL database: its address, its password, TLS, its errors in words.

mod in_time;
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
/// Attempts to connect at a time to servers that neither let us in nor refuse: each has a thread until such a server says something.
const SILENT_MAX: usize = 16;
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
    /// The server takes the connection, and then says nothing.
    #[error("{database}: no answer within {seconds} seconds")]
    Silent {
        /// The database.
        database: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The server wants a password, but the user did not name the host.
    #[error(
        "{database}: the server wants a password: give it in PGPASSWORD or ~/.pgpass, and name the host yourself, with --store or as \
         PGHOST={host}: only the crawl's directory names it, which may be somebody else's"
    )]
    Withheld {
        /// The database.
        database: String,
        /// Its host, or hosts.
        host: String,
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
    /// Whether the user named the host. Only then a password is used.
    is_users: bool,
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
        Ok(Address { config, text, is_users: true })
    }

    /// The same address named by a crawl's directory, which may be another person's, not by the user. It gets no password except its own,
    /// unless the environment names the host too, as `PGHOST` (and `PGPORT`).
    #[must_use]
    pub fn told_by_directory(self) -> Self {
        Address { is_users: false, ..self }
    }

    /// Connects, with this setting of the session (`-c name=value …`) if one is given. To another machine it is by TLS, unless
    /// the address says `sslmode=disable`. The password is that of the address, else `PGPASSWORD`, else what `~/.pgpass`
    /// (`PGPASSFILE`) says.
    ///
    /// # Errors
    /// The database does not answer or does not let us in.
    pub fn connect(&self, session: Option<&str>) -> Result<Client, DatabaseError> {
        let mut config = self.config.clone();
        let is_trusted = self.is_users || password::is_for(&config);
        if is_trusted
            && config.get_password().is_none()
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
        let time_max = *config.get_connect_timeout().unwrap_or(&CONNECT_TIME_MAX);
        config.connect_timeout(time_max);
        let in_all = time_max * u32::try_from(config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        config.keepalives_idle(KEEPALIVE_AFTER);
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED_TIME_MAX);
        }
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            SslMode::Prefer if is_local(&config) => None,
            _ => {
                let tls = Tls::new();
                Some(tls.map_err(|error| DatabaseError::Tls { database: self.name(), reason: error.to_string() })?)
            }
        };
        let connect = move || match tls {
            None => config.connect(NoTls),
            Some(tls) => config.ssl_mode(SslMode::Require).connect(tls),
        };
        let silent = || DatabaseError::Silent { database: self.name(), seconds: in_all.as_secs() };
        let connected = in_time::within(in_all, connect).ok_or_else(silent)?;
        connected.map_err(|source| match is_trusted || !is_password_missing(&source) {
            true => DatabaseError::Refused { database: self.name(), source },
            false => DatabaseError::Withheld { database: self.name(), host: self.host() },
        })
    }

    /// The database in words.
    #[must_use]
    pub fn name(&self) -> String {
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("database {database} at {}", self.host())
    }

    fn host(&self) -> String {
        let hosts: Vec<String> = self.config.get_hosts().iter().map(password::name_of).collect();
        if hosts.is_empty() { "localhost".to_owned() } else { hosts.join(", ") }
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
    if is_password_missing(error) {
        return "the server wants a password: give it in PGPASSWORD or ~/.pgpass".to_owned();
    }
    words
}

fn is_password_missing(error: &postgres::Error) -> bool {
    let is_missing = |words: String| words.ends_with("password missing");
    is_missing(error.to_string()) || error.source().is_some_and(|source| is_missing(source.to_string()))
}

/// Whether all hosts are this machine.
pub(crate) fn is_local(config: &Config) -> bool {
    config.get_hosts().iter().all(is_this_machine) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn is_this_machine(host: &Host) -> bool {
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
