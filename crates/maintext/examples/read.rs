//! Prints what pages say: a line of JSON for each page that is named on standard input as `FILE<tab>URL`. The last line of standard error
//! has the microseconds of the processor that a page took, reading its links and visible text (`html`) and its main text (`main`).

use std::io::{BufRead, BufWriter, Write};
use std::time::Duration;

use maintext::Page;

/// All pages are read so often.
const TIMES: usize = 3;

/// File, URL, bytes, and the encoding as Content-Type.
type Bytes = (String, String, Vec<u8>, String);

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout());
    let mut pages: Vec<Bytes> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (file, url) = line.split_once('\t').unwrap_or((&line, ""));
        pages.push((file.to_owned(), url.to_owned(), std::fs::read(file)?, String::new()));
    }
    let html = fastest(&pages, |bytes, _, _| drop(extract::html::extract(bytes, None, &extract::Limits::default())));
    // The crawl knows the encoding from reading the links.
    for (_, _, bytes, encoding) in &mut pages {
        let page = extract::html::extract(bytes, None, &extract::Limits::default());
        *encoding = format!("text/html; charset={}", page.encoding);
    }
    let main = fastest(&pages, |bytes, url, encoding| drop(maintext::extract(bytes, Some(encoding), url)));
    for (file, url, bytes, _) in &pages {
        let (document, _) = maintext::decode(bytes, None);
        let page = Page::read(&document, url);
        let (kind, kind_confidence) = page.kind();
        let metadata = page.metadata();
        let said = serde_json::json!({
            "file": file,
            "text": page.text(),
            "markdown": page.markdown(),
            "confidence": page.confidence(),
            "kind": kind.as_str(),
            "kind_confidence": kind_confidence,
            "title": metadata.title,
            "author": metadata.author,
            "published": metadata.published,
            "modified": metadata.modified,
            "site_name": metadata.site_name,
        });
        serde_json::to_writer(&mut out, &said)?;
        writeln!(out)?;
    }
    let each = |time: Duration| time.as_micros() as u64 / pages.len().max(1) as u64;
    eprintln!("{} pages, html {} us, main {} us", pages.len(), each(html), each(main));
    out.flush()
}

/// Reads all pages several times; the fastest time counts.
fn fastest(pages: &[Bytes], read: impl Fn(&[u8], &str, &str)) -> Duration {
    let time = || {
        let begin = processor_time();
        pages.iter().for_each(|(_, url, bytes, encoding)| read(bytes, url, encoding));
        processor_time().saturating_sub(begin)
    };
    (0..TIMES).map(|_| time()).min().unwrap_or_default()
}

/// What this thread has taken of the processor, as Linux says.
fn processor_time() -> Duration {
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = said.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}
