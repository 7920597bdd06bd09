//! Takes the moments that a server records.

use std::time::{Duration, Instant};

use crawl::history::{EVERY, Moment};
use engine::clock::Clock;
use store::CrawlView;
use tokio::time::sleep;
use tonic::Status;

use super::service::Service;

/// A moment is taken at most a tenth of the time: the totals of a large crawl take seconds.
const PAUSE_TIMES: u32 = 10;

impl Service {
    /// Records from now on how the crawl goes; to be called within the runtime.
    pub fn record_history(&self) {
        tokio::spawn(record(self.clone()));
    }
}

/// Records how the crawl goes, for ever. While the database does not answer, there is nothing to record.
async fn record(service: Service) {
    loop {
        #[expect(clippy::disallowed_methods, reason = "how long the database takes is no part of the crawl")]
        let began = Instant::now();
        if let Ok(moment) = moment(&service).await {
            let recording = service.clone();
            let note = move |_: &_| {
                note(&recording, moment);
                Ok(())
            };
            let _ = service.ask(note).await;
        }
        sleep(pause(began.elapsed())).await;
    }
}

/// The pause after a moment that took so long.
fn pause(took: Duration) -> Duration {
    EVERY.max(took * PAUSE_TIMES)
}

fn note(service: &Service, moment: Moment) {
    let mut recorded = service.recorded();
    recorded.add(moment);
    if recorded.is_due() {
        // It is tried again with the next moment. Nothing depends on the file.
        let _ = recorded.write(&service.archive());
    }
}

/// The crawl now.
async fn moment(service: &Service) -> Result<Moment, Status> {
    let paused = service.plan().await?.settings.paused;
    let read = service.ask(move |control| Ok((control.totals()?, control.counts()?, control.members()?)));
    let (totals, counts, members) = read.await?;
    Ok(Moment {
        at: Clock::start().date().0 / 1_000_000,
        pages: totals.fetched(),
        bytes: totals.bytes,
        in_flight: None,
        sites_waiting: None,
        sites_aside: usize::try_from(counts.sites_aside).unwrap_or(usize::MAX),
        workers: Some(members.len()),
        paused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_database_is_asked_less_often() {
        assert_eq!(pause(Duration::ZERO), EVERY);
        assert_eq!(pause(2 * EVERY), 20 * EVERY);
    }
}
