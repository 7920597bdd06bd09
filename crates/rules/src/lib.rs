//! Rules that take typed items out of pages, without code.
//!
//! ```text
//!  [extract.product]                  RuleSet ──▶ items_of(page) ──▶ Items { table, rows: JSON objects }
//!  url = "http*://shop.test/p/*"
//!  fields.name = "h1"
//! ```
//!
//! CSS selectors and XPath become the same expressions ([`query`]), which are evaluated on the page's tree with a budget of steps
//! ([`query::Budget`]), so the time on a page is linear in it. JSONPath selects in JSON-LD and in JSON responses.
//!
//! Pure functions: no I/O, no clock. A page on which nothing matches is no error.

mod alone;
mod css;
mod evaluate;
mod function;
mod items;
mod jsonpath;
mod kinds;
mod query;
mod ruleset;
mod selector;
mod suggest;
mod xpath;

pub use alone::Query;
pub use items::{Body, Items, Page};
pub use kinds::{Kind, micros_of, rfc3339, rfc3339_exact};
pub use query::Budget;
pub use ruleset::{Field, Rule, RuleError, RuleSet};
pub use suggest::{Suggestion, suggest};
