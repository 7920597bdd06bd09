//! Large bodies: what many of them take in memory beyond what they may take.

use anyhow::ensure;
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured;
use super::run_file::{RunFile, said};
use super::synthetic::Web;

/// Documents of 10 MB, each on a host of its own.
const DOCUMENTS: usize = 512;

/// The default of `--max-in-flight-bytes`, and a small one, in MB.
const BUDGETS_MB: [u32; 2] = [256, 30];

/// What a crawl may take beyond that, in millions of bytes.
const BEYOND_MAX: f64 = 100.0;

/// How the documents are sent: the path, and in words.
const SENT: [(&str, &str); 2] = [("", "with their length"), ("chunked", "in chunks")];

/// Crawls the documents with each budget. A number among the options is that of the documents.
///
/// # Errors
/// A crawl fails, or does not fetch all documents.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let documents = options.rest.first().map_or(Ok(DOCUMENTS), |number| number.parse())?;
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("bodies", "Large bodies", &[said(&binary, &["--version"])?])?;
    file.say(&format!("{documents} documents of 10 MB, each on a host of its own, without delays; aim: at most {BEYOND_MAX} MB beyond the budget.\n"));
    file.say("| sent | --max-in-flight-bytes | peak MB | beyond | CPU s | seconds |\n|---|---|---|---|---|---|");
    // Only the computed web that is not crawled is small.
    let web = Web::serve(&binary, "1,1,1,1")?;
    for (path, words) in SENT {
        for budget in BUDGETS_MB {
            let dir = TempDir::with_prefix("argiope-bench-")?;
            let seeds =
                (0..documents).map(|number| format!("http://s{number}.large.test/{path}\n")).collect::<String>();
            let list = dir.path().join("seeds");
            std::fs::write(&list, seeds)?;
            let mut command = argiope::crawl(&binary, &dir.path().join("crawl"));
            command.arg("--seeds").arg(&list).args(["--no-sitemaps", "--max-in-flight-bytes", &format!("{budget}MB")]);
            command.args(["--connect-to", &format!("::{}", web.address)]);
            let measured = measured::run(&mut command, dir.path())?;
            let fetched = Summary::read(&measured.output)?.fetched();
            ensure!(fetched == documents as u64, "{fetched} of {documents} documents were fetched");
            let beyond = measured.peak_mb - f64::from(budget);
            file.say(&format!(
                "| {words} | {budget}MB | {:.0} | {beyond:.0} | {:.1} | {:.1} |",
                measured.peak_mb, measured.cpu_seconds, measured.wall_seconds
            ));
        }
    }
    file.keep()
}
