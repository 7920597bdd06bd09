//! `cargo xtask prose`: how long the sentences of the documents are. Long sentences are hard to read, so the documents keep a limit.
//!
//! Counted is running text: paragraphs and list items. Code blocks, tables, headings and pictures are left out.

mod sentences;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::workspace::tracked_files;
use crate::workspace::workspace;
use sentences::{Sentence, sentences};

/// Words of a sentence, on average over a file.
const MEAN_WORDS_MAX: f64 = 16.0;

/// Nine of ten sentences of a file have no more words than this.
const PERCENTILE_90_WORDS_MAX: usize = 26;

/// The documents that are measured: these two, and each Markdown file below `docs`.
const DOCUMENTS: [&str; 2] = ["README.md", "ARCHITECTURE.md"];

/// A table of contents (mdBook's): names of pages, no sentences.
const CONTENTS: &str = "SUMMARY.md";

/// Prints the figures of each document, or with `files` their sentences of more than [`PERCENTILE_90_WORDS_MAX`] words.
///
/// # Errors
/// The documents beyond a limit, or a file that cannot be read.
pub fn run(files: &[&str]) -> anyhow::Result<()> {
    if !files.is_empty() {
        return files.iter().try_for_each(|file| print_long_sentences(file));
    }
    println!("sentences   mean  90th pct  longest  document");
    let mut all = Vec::new();
    for document in documents()? {
        let words = words_of(&document)?;
        println!("{}  {}", Figures::of(&words), document.display());
        all.extend(words);
    }
    println!("{}  in total", Figures::of(&all));
    let mut problems = Vec::new();
    check(&mut problems)?;
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n  ")) }
}

/// Adds to `problems` each document beyond a limit.
///
/// # Errors
/// A document that cannot be read.
pub fn check(problems: &mut Vec<String>) -> anyhow::Result<()> {
    for document in documents()? {
        let figures = Figures::of(&words_of(&document)?);
        if !figures.is_readable() {
            problems.push(format!(
                "{}: sentences have {:.1} words on average (limit {MEAN_WORDS_MAX}), 90th percentile {} (limit {PERCENTILE_90_WORDS_MAX}): cargo xtask prose {0}",
                document.display(),
                figures.mean,
                figures.percentile_90
            ));
        }
    }
    Ok(())
}

fn documents() -> anyhow::Result<Vec<PathBuf>> {
    let is_document = |file: &PathBuf| {
        let is_page = file.starts_with("docs") && file.extension().is_some_and(|extension| extension == "md");
        (is_page && !file.ends_with(CONTENTS)) || DOCUMENTS.iter().any(|document| Path::new(document) == file)
    };
    Ok(tracked_files()?.into_iter().filter(is_document).filter(|file| workspace().join(file).exists()).collect())
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(workspace().join(file)).with_context(|| file.display().to_string())
}

/// The numbers of words of a document's sentences.
fn words_of(file: &Path) -> anyhow::Result<Vec<usize>> {
    Ok(sentences(&read(file)?).iter().map(Sentence::words).collect())
}

fn print_long_sentences(file: &str) -> anyhow::Result<()> {
    for sentence in sentences(&read(Path::new(file))?) {
        if sentence.words() > PERCENTILE_90_WORDS_MAX {
            println!("{file}:{}: {} words: {}", sentence.line, sentence.words(), sentence.text);
        }
    }
    Ok(())
}

/// What is known of the lengths of some sentences, in words.
#[derive(Debug, PartialEq)]
struct Figures {
    sentences: usize,
    mean: f64,
    percentile_90: usize,
    longest: usize,
}

impl Figures {
    fn of(words: &[usize]) -> Figures {
        let mut sorted = words.to_vec();
        sorted.sort_unstable();
        let nearest_rank = (sorted.len() * 9).div_ceil(10).saturating_sub(1);
        #[expect(clippy::cast_precision_loss, reason = "words of a document are few")]
        let mean = sorted.iter().sum::<usize>() as f64 / sorted.len().max(1) as f64;
        Figures {
            sentences: sorted.len(),
            mean,
            percentile_90: sorted.get(nearest_rank).copied().unwrap_or(0),
            longest: sorted.last().copied().unwrap_or(0),
        }
    }

    fn is_readable(&self) -> bool {
        self.mean <= MEAN_WORDS_MAX && self.percentile_90 <= PERCENTILE_90_WORDS_MAX
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:9}  {:5.1}  {:8}  {:7}", self.sentences, self.mean, self.percentile_90, self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_sentences() {
        let figures = Figures::of(&[10, 1, 2, 3, 4, 5, 6, 7, 8, 54]);
        assert_eq!(figures, Figures { sentences: 10, mean: 10.0, percentile_90: 10, longest: 54 });
        assert!(figures.is_readable());
        assert_eq!(Figures::of(&[]), Figures { sentences: 0, mean: 0.0, percentile_90: 0, longest: 0 });
    }

    #[test]
    fn each_limit_holds_by_itself() {
        assert!(Figures::of(&[16, 16]).is_readable());
        assert!(!Figures::of(&[16, 17]).is_readable(), "the mean");
        assert!(!Figures::of(&[1, 1, 1, 1, 27]).is_readable(), "the 90th percentile");
    }
}
