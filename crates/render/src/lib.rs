//! Pages in headless Chromium. The browser has no network of its own: whatever a page asks for is asked of a [`Source`], which
//! fetches it, or refuses.
//!
//! ```text
//!  Page ──▶ Renderer ──▶ Browser (a process, spoken to through pipes) ──▶ Tab (one page, once) ──▶ Rendered
//!                                                                        ▲  │
//!                                                              Served    │  ▼  Wanted
//!                                                                       Source
//! ```
//!
//! A page that hangs, crashes or takes all memory costs its own deadline and one retry; a browser that ends is started again.
//! The pipes are what keeps the browser alive: when this process ends, however it does, the browser ends too.

mod browser;
mod connection;
mod credentials;
mod explorer;
mod failure;
mod paused;
mod rendered;
mod renderer;
mod settings;
mod source;
mod surrogates;
mod tab;
mod viewport;
mod window;

pub use failure::{BrowserError, RenderFailure};
pub use rendered::{FoundBy, Page, Rendered, ScriptLink};
pub use renderer::Renderer;
pub use settings::{BROWSERS, Behaviour, PAGE_CLOCK, Settings, Wait};
pub use source::{Kind, Served, Source, Wanted};
pub use viewport::Viewport;
pub use window::Window;
