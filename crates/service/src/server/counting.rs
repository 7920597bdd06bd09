//! Counts of the crawl for a monitoring system.
//!
//! To count the URLs of a large crawl takes long. So the server counts in the background, at most a tenth of the time, and shows the last counts with
//! their time.

use std::time::Duration;

use engine::clock::Clock;
use store::CrawlView;
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::Status;

use super::service::Service;
use crate::metrics::{Counted, Metric, of_cluster};

/// The pause after counting, at least, and as a multiple of the time that it took.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_SHARE: u32 = 9;

/// Counts until the runtime ends; to be called within it. Returns what measures: nothing before the first count.
pub fn count(service: Service) -> impl Fn() -> Vec<Metric> + Clone + Send + Sync + 'static {
    let (counts, last) = watch::channel(Vec::new());
    tokio::spawn(async move {
        let clock = Clock::start();
        loop {
            let began = Instant::now();
            // Where the database does not answer, the time of the last count says so.
            if let Ok(counted) = counted(&service, clock).await {
                counts.send_replace(of_cluster(&counted));
            }
            tokio::time::sleep((began.elapsed() * PAUSE_SHARE).max(PAUSE_MIN)).await;
        }
    });
    move || last.borrow().clone()
}

async fn counted(service: &Service, clock: Clock) -> Result<Counted, Status> {
    let is_paused = service.plan().await?.settings.paused;
    let (totals, counts, workers) =
        service.ask(|control| Ok((control.totals()?, control.counts()?, control.members()?.len() as u64))).await?;
    Ok(Counted { totals, counts, workers, is_paused, at: clock.date() })
}
