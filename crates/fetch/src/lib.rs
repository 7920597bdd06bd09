//! One [`FetchTask`](model::FetchTask) to one [`FetchOutcome`](model::FetchOutcome) over HTTP.
//!
//! A failed fetch is data, not an error. This crate knows limits, TLS, DNS, proxies and content coding; it knows no
//! politeness, no crawl and no store, and has no wall clock of its own.
//!
//! ```text
//!  Fetcher ──▶ Exchanger ──▶ Pool ─────────────▶ Connection ──▶ Collector ──▶ Exchange, Response
//!  (a task)    (a request)   Connector (new)     (HTTP/1, /2)   (limits, Decoder)
//! ```

mod address;
mod body;
mod budget;
mod coding;
mod config;
mod connect;
mod connection;
mod decode;
mod dns;
mod exchange;
mod failure;
mod fetcher;
mod field;
mod gate;
mod head;
mod head_first;
mod http1;
mod http2;
mod initiator;
mod keyring;
mod known_values;
mod lookups;
mod message;
mod pace;
mod pieces;
mod pool;
mod private;
mod proxy;
mod race;
mod replayed;
mod request;
mod room;
mod route;
mod set_cookies;
mod tls;
mod trust;
mod wanted;
mod written;

pub use address::is_globally_routable;
pub use budget::Division;
pub use config::{ConfigError, FetchConfig, ROBOTS_REDIRECTS_MAX};
pub use decode::{decode, is_coded};
pub use fetcher::{Fetcher, robots_elsewhere};
pub use field::{Field, FieldError, REDACTED, is_public};
pub use gate::Gate;
pub use head::{parse_fields, parse_status};
pub use initiator::Initiator;
pub use keyring::{CredentialsError, Keyring};
pub use private::{AskStanding, DenyPrivate, Grants, SeedStatus};
pub use proxy::{ProxyUrl, ProxyUrlError};
pub use replayed::{Replayed, read_http1};
pub use request::PageRequest;
pub use route::{ConnectTo, Resolve, RouteError};
pub use tls::{certificates_in, check_ca_cert};
