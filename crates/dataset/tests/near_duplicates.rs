//! How well fingerprints find edited copies: a labelled set of real documents with edits. Prints its table, which is in
//! `docs/near-duplicates.md`: `cargo nextest run -p argiope-dataset --test near_duplicates --no-capture`.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};

use dataset::near::{RESEMBLANCE_MIN, candidates};
use extract::Sketch;
use extract::simhash::of_text;
use testkit::documents::html_files;

/// Every so many documents one is taken, so that the test of an unoptimised build takes seconds.
const EVERY: usize = 5;
/// By how much a recall may differ from the documented one: by three of the documents, where their packages are of another version.
const DIFFERENCE_MAX: f64 = 0.01;
/// Shorter texts are no documents but lists of links.
const WORDS_MIN: usize = 100;

/// The texts of real documents, as words.
fn documents() -> Vec<Vec<String>> {
    let packages = ["/usr/share/doc/postgresql-doc-15/html", "/usr/share/doc/python3-doc/html"];
    let files: Vec<PathBuf> = packages.iter().flat_map(|dir| html_files(Path::new(dir))).collect();
    let texts = files.iter().step_by(EVERY).map(|file| {
        let page = extract::html::extract(&std::fs::read(file).expect("a file"), None, &extract::Limits::default());
        page.text.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    });
    texts.filter(|words| words.len() >= WORDS_MIN).collect()
}

/// The pairs of near duplicates among texts.
fn near(texts: &[String]) -> Vec<(usize, usize)> {
    let prints: Vec<u64> = texts.iter().map(|text| of_text(text)).collect();
    let mut pairs = Vec::new();
    candidates(&prints, |a, b| pairs.push((a, b)));
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|(a, b)| Sketch::of_text(&texts[*a]).resembles(&Sketch::of_text(&texts[*b]), RESEMBLANCE_MIN));
    pairs
}

/// Numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let hash = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((hash ^ (hash >> 27)) % end as u64).expect("below the end")
    }
}

fn with_words_changed(words: &[String], count: usize, random: &mut Random) -> Vec<String> {
    let mut changed = words.to_vec();
    for _ in 0..count {
        let at = random.below(changed.len());
        changed[at] = format!("changed{}", random.below(1_000_000));
    }
    changed
}

#[test]
fn edited_copies_are_found_and_different_documents_are_not() {
    let documents = documents();
    assert!(documents.len() > 250, "{} documents", documents.len());
    let texts: Vec<String> = documents.iter().map(|words| words.join(" ")).collect();
    let mut random = Random(1);
    let mut recall = |edit: &dyn Fn(&[String], &mut Random) -> Vec<String>| {
        let is_found = |(words, text): &(&Vec<String>, &String)| {
            !near(&[(*text).clone(), edit(words, &mut random).join(" ")]).is_empty()
        };
        documents.iter().zip(&texts).filter(is_found).count() as f64 / documents.len() as f64
    };
    let share = |per_mille: usize| {
        move |words: &[String], random: &mut Random| {
            with_words_changed(words, (words.len() * per_mille / 1000).max(1), random)
        }
    };
    let footer = |words: &[String], _: &mut Random| {
        let footer = ["Last", "updated", "on", "Nov", "21", "2026"].map(str::to_owned);
        [words, &footer].concat()
    };
    let moved = |words: &[String], random: &mut Random| {
        let mut words = words.to_vec();
        words.rotate_left(random.below(WORDS_MIN));
        words
    };
    let rows = [
        ("a date of six words added in the footer", recall(&footer)),
        ("parts in another order", recall(&moved)),
        ("one word changed", recall(&share(0))),
        ("0.2 % of the words changed", recall(&share(2))),
        ("0.5 % of the words changed", recall(&share(5))),
        ("1 % of the words changed", recall(&share(10))),
        ("2 % of the words changed", recall(&share(20))),
        ("5 % of the words changed", recall(&share(50))),
        ("half of the words changed", recall(&share(500))),
    ];
    let mistaken = near(&texts).len();
    for (edit, recall) in rows {
        println!("{edit}: recall {recall:.3}");
    }
    // Of what is reported, with one edited copy (0.5 %) of every document among the documents.
    let found = rows[4].1 * documents.len() as f64;
    let precision = found / (found + mistaken as f64);
    println!("{} documents, {mistaken} mistaken for copies; precision {precision:.4}", documents.len());
    assert!(precision >= 0.99, "precision {precision}");
    for (edit, recall) in rows {
        let documented = documented_recall(edit);
        assert!((recall - documented).abs() <= DIFFERENCE_MAX, "{edit}: recall {recall}, documented {documented}");
    }
}

/// The recall of an edit that the documentation tells.
fn documented_recall(edit: &str) -> f64 {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/near-duplicates.md");
    let page = std::fs::read_to_string(page).expect("the documentation");
    let row = page.lines().find_map(|line| line.strip_prefix(&format!("| {edit} | ")));
    row.and_then(|row| row.trim_end_matches(" |").parse().ok()).unwrap_or_else(|| panic!("no row for {edit}"))
}

/// Words in the longest common subsequence of two texts, twice, among all words of both: what `diff` leaves alone.
fn unchanged(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split_whitespace().collect(), b.split_whitespace().collect());
    let mut lengths = vec![0usize; b.len() + 1];
    for word in &a {
        let mut diagonal = 0;
        for (at, other) in b.iter().enumerate() {
            let above = lengths[at + 1];
            lengths[at + 1] = if word == other { diagonal + 1 } else { above.max(lengths[at]) };
            diagonal = above;
        }
    }
    2.0 * lengths[b.len()] as f64 / (a.len() + b.len()).max(1) as f64
}

/// Short pages of one template have fingerprints as near as edited copies have. Java's API has thousands of them.
#[test]
fn pages_of_one_template_are_no_near_duplicates() {
    let files = html_files(Path::new("/usr/share/doc/openjdk-17-doc/api/java.desktop"));
    let mut texts: Vec<String> = files
        .iter()
        .step_by(4)
        .map(|file| {
            let page = extract::html::extract(&std::fs::read(file).expect("a file"), None, &extract::Limits::default());
            page.text
        })
        .collect();
    assert!(texts.len() > 500, "{} documents", texts.len());
    let prints: Vec<u64> = texts.iter().map(|text| of_text(text)).collect();
    let mut by_prints = 0;
    candidates(&prints, |_, _| by_prints += 1);
    let pairs = near(&texts);
    let is_right = |(a, b): &&(usize, usize)| unchanged(&texts[*a], &texts[*b]) >= 0.9;
    let right = pairs.iter().filter(is_right).count();
    println!(
        "{} pages, {by_prints} pairs by their prints, {} near duplicates, {right} of them right",
        texts.len(),
        pairs.len()
    );
    assert!(right as f64 >= 0.98 * pairs.len() as f64, "{right} of {}", pairs.len());
    // In any order they are the same.
    let count = pairs.len();
    texts.reverse();
    assert_eq!(near(&texts).len(), count);
}
