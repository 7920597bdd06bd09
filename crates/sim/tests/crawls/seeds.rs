//! A thousand seeds, in parts that run beside each other, and some of them on the embedded store.

use std::ops::Range;

use sim::{Scenario, StorageKind, simulate};

fn check(seeds: Range<u64>, storage: StorageKind) {
    for seed in seeds {
        let report = simulate(Scenario::from_seed(seed).on(storage), false).expect("a simulation");
        assert!(report.violations.is_empty(), "{report}");
    }
}

macro_rules! parts {
    ($($name:ident: $seeds:expr, $storage:ident;)*) => {
        $(#[test]
        fn $name() {
            check($seeds, StorageKind::$storage);
        })*
    };
}

parts! {
    in_memory_1: 0..125, Memory;
    in_memory_2: 125..250, Memory;
    in_memory_3: 250..375, Memory;
    in_memory_4: 375..500, Memory;
    in_memory_5: 500..625, Memory;
    in_memory_6: 625..750, Memory;
    in_memory_7: 750..875, Memory;
    in_memory_8: 875..1000, Memory;
    embedded_1: 1000..1020, Embedded;
    embedded_2: 1020..1040, Embedded;
}

/// Seeds beyond these that failed once, each with what was wrong.
const ONCE_FAILED: [u64; 6] = [
    3286, // Fair: which of the sites that needed their rules read had them next was a matter of chance.
    4085, // Complete: a site that was on hold no more was let go of when the robots.txt of another had come.
    8405, // Complete: the same.
    6780, // RobotsFirst: a robots.txt with a date ahead was new again each time its site came to front.
    5842, // Ends: a site that went to and fro between two addresses asked for the same URLs for ever.
    248,  // Revisited: a page whose body breaks off each time, and is gone once.
];

#[test]
fn what_failed_once() {
    ONCE_FAILED.into_iter().for_each(|seed| check(seed..seed + 1, StorageKind::Memory));
}
