//! Crawls a site into a directory: `first URL DIR`.
use argiope::{CrawlDir, Options, Plan, Session};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, dir] = arguments.as_slice() else { anyhow::bail!("usage: first URL DIR") };
    let plan = Plan::new(&Options { depth: Some(2), ..Options::default() })?;
    let seeds = plan.seeds(std::slice::from_ref(url))?;
    let ended = Session::builder(CrawlDir::at(dir), plan).seeds(seeds).open()?.run().await?;
    println!("{:?}: {} pages", ended.end, ended.totals.fetched());
    Ok(())
}
