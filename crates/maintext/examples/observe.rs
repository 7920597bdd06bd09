//! Prints what the models look at, for training: a line of JSON for each page that is named on standard input as `FILE<tab>URL[<tab>KINDS]`.
use extract::html::{self, dom::Document};
use std::io::{BufRead, Write};
use url::Url;
fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut parts = line.split('\t');
        let (file, url) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let kinds = parts.next().map(|kinds| {
            let mut shares = [0.0; 7];
            for (share, text) in shares.iter_mut().zip(kinds.split(' ')) {
                *share = text.parse().unwrap_or_default();
            }
            shares
        });
        let bytes = std::fs::read(file)?;
        let text = html::decode_as(&bytes, None);
        let observed = maintext::observe(&Document::parse(&text), Url::parse(url).ok().as_ref(), kinds);
        let hex = |row: &[u8]| row.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let blocks: Vec<_> =
            observed.blocks.iter().map(|(row, text, around)| serde_json::json!([hex(row), text, around])).collect();
        serde_json::to_writer(
            &mut out,
            &serde_json::json!({"file": file, "page": hex(&observed.page), "blocks": blocks}),
        )?;
        writeln!(out)?;
    }
    Ok(())
}
