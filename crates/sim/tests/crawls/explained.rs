//! What the crawler says of its sites is what it does next, in a thousand crawls.

use std::ops::Range;

use sim::{Scenario, simulate};

fn check(seeds: Range<u64>) {
    for seed in seeds {
        let report = simulate(Scenario::from_seed(seed).explained(), false).expect("a simulation");
        assert!(report.violations.is_empty(), "{report}");
    }
}

macro_rules! parts {
    ($($name:ident: $seeds:expr;)*) => {
        $(#[test]
        fn $name() {
            check($seeds);
        })*
    };
}

parts! {
    explained_1: 0..125;
    explained_2: 125..250;
    explained_3: 250..375;
    explained_4: 375..500;
    explained_5: 500..625;
    explained_6: 625..750;
    explained_7: 750..875;
    explained_8: 875..1000;
}
