//! One seed is one run.

use sim::{Scenario, StorageKind, simulate};

fn check(seeds: std::ops::Range<u64>, storage: StorageKind) {
    for seed in seeds {
        let run = || simulate(Scenario::from_seed(seed).on(storage), false).expect("a simulation");
        assert_eq!(run(), run());
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    check(0..40, StorageKind::Memory);
}

#[test]
fn the_same_seed_is_the_same_run_on_the_embedded_store() {
    check(2000..2006, StorageKind::Embedded);
}

/// Nothing of the process is in what is written: with the length of a record would change where segments end.
#[test]
fn the_same_seed_is_the_same_run_in_another_process() {
    let run = || {
        let mut sim = std::process::Command::new(env!("CARGO_BIN_EXE_sim"));
        let output = sim.args(["--seeds", "250..300"]).output().expect("the simulator");
        String::from_utf8(output.stdout).expect("text")
    };
    let first = run();
    assert_eq!(first.lines().count(), 50, "{first}");
    assert_eq!(first, run());
}

#[test]
fn another_seed_is_another_run() {
    let hash = |seed| sim::run(seed).expect("a simulation").trace_hash;
    assert_ne!(hash(1), hash(2));
}
