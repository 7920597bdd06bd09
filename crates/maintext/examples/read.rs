//! Prints what pages say: a line of JSON for each page that is named on standard input as `FILE<tab>URL`. The last line of standard error
//! has the microseconds of the processor that a page took, reading its links and visible text (`html`) and its main text (`main`).

use std::io::{BufRead, BufWriter, Write};
use std::time::Duration;

use maintext::Page;

/// Each page is read so often; the fastest time counts.
const TIMES: usize = 3;

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout());
    let (mut html, mut main, mut pages) = (Duration::ZERO, Duration::ZERO, 0);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (file, url) = line.split_once('\t').unwrap_or((&line, ""));
        let bytes = std::fs::read(file)?;
        html += fastest(|| drop(extract::html::extract(&bytes, None, &extract::Limits::default())));
        main += fastest(|| drop(maintext::extract(&bytes, None, url)));
        pages += 1;
        let (document, _) = maintext::decode(&bytes, None);
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
    let each = |time: Duration| time.as_micros() as u64 / pages.max(1);
    eprintln!("{pages} pages, html {} us, main {} us", each(html), each(main));
    out.flush()
}

fn fastest(run: impl Fn()) -> Duration {
    let time = || {
        let begin = processor_time();
        run();
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
