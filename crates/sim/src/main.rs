//! Runs simulations by hand: one seed, with a trace if wanted, or a range of seeds.

use std::process::ExitCode;

use sim::{Scenario, StorageKind, simulate};

const USAGE: &str = "usage: sim (--seed N | --seeds FROM..TO) [--embedded] [--explained] [--trace]";

/// What is asked for.
struct Arguments {
    seeds: std::ops::Range<u64>,
    storage: StorageKind,
    /// The crawler is asked what it does next.
    is_explained: bool,
    trace: bool,
}

fn main() -> ExitCode {
    let Some(asked) = read(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut code = ExitCode::SUCCESS;
    for seed in asked.seeds {
        let scenario = Scenario { explains: asked.is_explained, ..Scenario::from_seed(seed).on(asked.storage) };
        match simulate(scenario, asked.trace) {
            Ok(report) => {
                print!("{report}");
                if !report.violations.is_empty() {
                    code = ExitCode::FAILURE;
                }
            }
            Err(error) => {
                eprintln!("seed {seed}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn read(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
    let mut asked = Arguments { seeds: 0..0, storage: StorageKind::Memory, is_explained: false, trace: false };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => {
                let seed = words.next()?.parse().ok()?;
                asked.seeds = seed..seed + 1;
            }
            "--seeds" => {
                let range = words.next()?;
                let (from, to) = range.split_once("..")?;
                asked.seeds = from.parse().ok()?..to.parse().ok()?;
            }
            "--embedded" => asked.storage = StorageKind::Embedded,
            "--explained" => asked.is_explained = true,
            "--trace" => asked.trace = true,
            _ => return None,
        }
    }
    (!asked.seeds.is_empty()).then_some(asked)
}
