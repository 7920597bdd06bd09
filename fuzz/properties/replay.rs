//! Runs the stored inputs of a fuzz target through its properties, without a fuzzer.

use std::fs;
use std::path::Path;

/// Calls `properties` with every file of `seeds/<target>` and `regressions/<target>`. The name of each is printed first,
/// so that the last one printed is the one that failed.
pub fn replay(target: &str, properties: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut replayed = 0;
    for directory in ["seeds", "regressions"] {
        let Ok(entries) = fs::read_dir(fuzz.join(directory).join(target)) else { continue };
        for entry in entries {
            let path = entry.unwrap_or_else(|error| panic!("{target}: {error}")).path();
            println!("{}", path.display());
            properties(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            replayed += 1;
        }
    }
    assert!(replayed > 0, "{target} has no stored inputs");
}
