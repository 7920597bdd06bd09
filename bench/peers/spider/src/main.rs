//! Crawls whole sites with `spider` as fast as it goes, for `cargo xtask bench`: `spider-peer BODIES SEED…`.
//!
//! Its default features, pages handed over in memory, their bodies appended to one file a site in the directory BODIES. Sites are crawled
//! side by side, robots.txt is obeyed, no delay. The last line of the output is the number of pages: answers with status 200 that are not binary.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use spider::page::Page;
use spider::tokio::sync::broadcast::{Receiver, error::RecvError};
use spider::website::Website;

/// Requests at a time of a crawl of one site; 8 to 128 made no difference.
const CONNECTIONS_OF_ONE: usize = 32;
/// Requests at a time of each of many sites.
const CONNECTIONS_OF_MANY: usize = 4;
/// Pages that wait to be written, of each site: with fewer some are lost, with more it takes more memory.
const PAGES_WAITING: usize = 512;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let bodies = arguments.next().ok_or("no directory for the bodies")?;
    let seeds: Vec<String> = arguments.collect();
    let connections = if seeds.len() == 1 { CONNECTIONS_OF_ONE } else { CONNECTIONS_OF_MANY };
    let mut written = Vec::new();
    for (number, seed) in seeds.iter().enumerate() {
        let mut website = Website::new(seed);
        website.with_respect_robots_txt(true).with_delay(0).with_concurrency_limit(Some(connections));
        let pages = website.subscribe(PAGES_WAITING);
        let file = File::create(Path::new(&bodies).join(number.to_string()))?;
        written.push(tokio::spawn(write(pages, file)));
        tokio::spawn(async move {
            website.crawl().await;
            website.unsubscribe();
        });
    }
    let mut pages = 0;
    for site in written {
        pages += site.await??;
    }
    println!("{pages}");
    Ok(())
}

/// Appends the bodies of pages to a file until the crawl ends; gives their number.
async fn write(mut pages: Receiver<Page>, mut file: File) -> std::io::Result<u64> {
    let mut written = 0;
    loop {
        match pages.recv().await {
            Ok(page) if page.status_code == 200 && !page.binary_file => {
                written += 1;
                file.write_all(page.get_html_bytes_u8())?;
            }
            Ok(_) => {}
            Err(RecvError::Lagged(lost)) => eprintln!("{lost} pages were overwritten before they were written"),
            Err(RecvError::Closed) => return Ok(written),
        }
    }
}
