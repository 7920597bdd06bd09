//! A web to crawl: what our tests, and people who want to try the crawler, run it on.
//!
//! A [`Server`] listens on loopback and answers for any host name of its [`Web`]: a crawler
//! reaches it with `--connect-to ::127.0.0.1:PORT` (curl's meaning) or `--proxy http://127.0.0.1:PORT`.
//! One port speaks plain HTTP/1.1, TLS with HTTP/1.1 or HTTP/2 (by ALPN), and the proxy's
//! absolute-form requests and `CONNECT`. The log of requests has the times by which politeness is judged.
//!
//! A [`Site`] is a function from a [`Request`] to a [`Reply`]; the server carries the reply out, misbehaviour
//! included. The sites that come with the crate:
//!
//! | module | host | what |
//! |---|---|---|
//! | [`simple`] | `simple.test` | ten pages |
//! | [`advanced`] | `advanced.test` | robots, redirects, errors, duplicates, sitemaps, traps, with a table of what a crawl must find |
//! | [`scripted`] | `scripted.test` | pages whose links are made by scripts, each in another way |
//! | [`honest`] | `honest.test` | pages that all say something, behind URLs that look like those of traps |
//! | [`hostile`] | `hostile.test` and others | one path for each way of hurting a crawler |
//! | [`furnished`] | `furnished.test`, `furniture.test` | pages that need files of every kind to be shown |
//! | [`synthetic`] | `sNNNN.synthetic.test` | a web of any size, computed from the names of its pages |
//! | [`files`] | any | a directory |
//! | [`pages`] | any | what a test writes down |
//!
//! ```
//! use testweb::{Config, Pages, Server, Web};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let pages = Pages::new().html("/", "<a href=/a>a</a>").html("/a", "leaf");
//! let server = Server::start(Config::new(Web::new().site("small.test", pages))).await?;
//! println!("argiope crawl http://small.test/ --connect-to {}", server.connect_to());
//! server.shutdown().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod request;
pub use request::{Request, Scheme};
mod reply;
pub use reply::{Content, Pieces, Reply, Step, Steps};
mod sandboxes;
mod session;
mod site;
pub use site::{Site, Web, from_fn};
pub mod pages;
pub use pages::Pages;
pub mod faults;
mod heard;
pub use faults::Faults;
pub use heard::Heard;

pub mod advanced;
pub mod files;
pub mod furnished;
pub mod scripted;
pub mod simple;
pub use files::Files;
pub mod honest;
pub mod hostile;
pub mod synthetic;
pub use synthetic::Synthetic;

mod log;
pub use log::LogEntry;
mod names;
pub use names::{NameServer, Named};
mod server;
pub use server::{CONNECTIONS_MAX, Config, LOG_ENTRIES_MAX, Server, StartError};
mod authority;
mod connection;
mod head;
mod http1;
mod http2;
mod wire;
