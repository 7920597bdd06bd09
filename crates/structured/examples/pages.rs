//! What HTML files say for machines, as lines of JSON; or how much processor time it takes to read them.
//!
//! ```text
//! cargo run --release -p argiope-structured --example pages -- FILE...
//! cargo run --release -p argiope-structured --example pages -- --rounds 20 FILE...
//! ```

use std::hint::black_box;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use extract::charset;
use extract::html::{self, dom::Document};
use serde_json::{Value, json};
use structured::{Limits, Structured};
use url::Url;

/// The URL that pages count as.
const URL: &str = "https://example.com/dir/page";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let rounds = match arguments.next_if(|argument| argument == "--rounds") {
        Some(_) => arguments.next().unwrap_or_default().parse()?,
        None => 0,
    };
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let pages: Vec<Vec<u8>> = files.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    // A crawl knows it already.
    let encodings: Vec<&str> = pages.iter().map(|page| charset::decide(page, None).encoding.name()).collect();
    let pages: Vec<(&Vec<u8>, &str)> = pages.iter().zip(encodings).collect();
    let url = Url::parse(URL)?;
    if rounds > 0 {
        #[expect(clippy::disallowed_methods, reason = "a measurement for `cargo xtask bench structured`")]
        let began = Instant::now();
        for page in (0..rounds).flat_map(|_: u32| &pages) {
            black_box(read(black_box(page.0), page.1, &url));
        }
        let micros = began.elapsed().as_micros() as f64 / f64::from(rounds) / pages.len() as f64;
        println!("{micros:.1}");
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    for (file, page) in files.iter().zip(&pages) {
        let Structured { items, is_cut, .. } = read(page.0, page.1, &url);
        let items: Vec<Value> = items
            .iter()
            .map(|item| {
                let json: Value = serde_json::from_str(&item.json).unwrap_or_default();
                json!({ "format": item.format.as_str(), "type": item.kind, "path": item.path, "json": json, "repaired": item.repaired })
            })
            .collect();
        writeln!(out, "{}", json!({ "file": file, "items": items, "cut": is_cut }))?;
    }
    Ok(())
}

fn read(page: &[u8], encoding: &str, url: &Url) -> Structured {
    let text = html::decode(page, encoding);
    structured::read(&Document::parse(&text), Some(url), &Limits::default())
}
