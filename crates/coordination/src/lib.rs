//! What several workers on one crawl agree on: leases, politeness groups, and who owns them. [`Worker`] is the trait that a shared state
//! implements; `store-postgres` does.

mod values;
mod worker;

pub use values::{
    Bid, Bids, Epoch, GroupName, Hint, InForce, Member, News, Owned, Placed, Renewed, SeedSite, Spending, WorkerError,
    WorkerId, WrittenSegment,
};
pub use worker::Worker;
