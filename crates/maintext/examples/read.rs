//! Prints what pages say: a line of JSON for each page that is named on standard input as `FILE<tab>URL`. The last line of standard error
//! has the microseconds of the processor that a page took: reading its links and visible text (`html`), making it a tree (`tree`), and
//! finding its main text (`main`).

use std::borrow::Cow;
use std::io::{BufRead, BufWriter, Write};
use std::time::Duration;

use extract::html::{self, dom::Document};
use maintext::Page;
use url::Url;

/// All pages are read so often.
const TIMES: usize = 3;

/// File, URL, bytes.
type Bytes = (String, Option<Url>, Vec<u8>);

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout());
    let mut pages: Vec<Bytes> = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (file, url) = line.split_once('\t').unwrap_or((&line, ""));
        pages.push((file.to_owned(), Url::parse(url).ok(), std::fs::read(file)?));
    }
    let html = fastest(&pages, |(_, _, bytes)| drop(html::extract(bytes, None, &extract::Limits::default())));
    // The crawl knows the encoding from reading the links.
    let texts: Vec<Cow<'_, str>> = pages.iter().map(|(_, _, bytes)| html::decode_as(bytes, None)).collect();
    let tree = fastest(&texts, |text| drop(Document::parse(text)));
    let trees: Vec<(Document<'_>, Option<&Url>)> =
        texts.iter().zip(&pages).map(|(text, (_, url, _))| (Document::parse(text), url.as_ref())).collect();
    let main = fastest(&trees, |(tree, url)| drop(maintext::read(tree, *url)));
    for ((file, ..), (tree, url)) in pages.iter().zip(&trees) {
        let page = Page::read(tree, *url);
        let (kind, kind_confidence) = page.kind();
        let said = serde_json::json!({
            "file": file,
            "text": page.text(),
            "markdown": page.markdown(),
            "confidence": page.confidence(),
            "kind": kind.as_str(),
            "kind_confidence": kind_confidence,
        });
        serde_json::to_writer(&mut out, &said)?;
        writeln!(out)?;
    }
    let each = |time: Duration| time.as_micros() as u64 / pages.len().max(1) as u64;
    eprintln!("{} pages, html {} us, tree {} us, main {} us", pages.len(), each(html), each(tree), each(main));
    out.flush()
}

/// Reads all several times; the fastest time counts.
fn fastest<T>(all: &[T], read: impl Fn(&T)) -> Duration {
    let time = || {
        let begin = processor_time();
        all.iter().for_each(&read);
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
