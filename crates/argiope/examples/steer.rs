//! Steers a crawl while it runs: `steer URL DIR`. It excludes a part of the site at once, watches progress, and stops after five pages.

use argiope::{Change, CrawlDir, Options, Plan, Session};

/// Pages after which the crawl is stopped.
const PAGES: u64 = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, dir] = arguments.as_slice() else { anyhow::bail!("usage: steer URL DIR") };
    let plan = Plan::new(&Options { paused: Some(true), ..Options::default() })?;
    let seeds = plan.seeds(std::slice::from_ref(url))?;
    let session = Session::builder(CrawlDir::at(dir), plan).seeds(seeds).open()?;
    let handle = session.handle();
    let running = tokio::spawn(session.run());
    handle.steer(Change::Exclude(vec!["*/archive/*".to_owned()])).await?;
    handle.steer(Change::Resume).await?;
    let mut progress = handle.progress();
    // The channel closes when the crawl ends.
    while progress.changed().await.is_ok() {
        if progress.borrow_and_update().pages >= PAGES {
            handle.stop();
        }
    }
    let ended = running.await??;
    println!("{:?}: {} pages, {} URLs are left", ended.end, ended.totals.fetched(), ended.totals.pending);
    Ok(())
}
