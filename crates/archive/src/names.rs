//! Names of segments: `argiope-DATE-SERIAL.warc.gz`.

/// The beginning of the names.
pub(super) const BEGINNING: &str = "argiope-";
/// The ending of the names.
pub(super) const ENDING: &str = ".warc.gz";

/// The name without its ending.
pub(super) fn stem_of(name: &str) -> &str {
    name.trim_end_matches(ENDING)
}

/// The serial number in the name of a segment.
pub(super) fn serial_of(name: &str) -> Option<u32> {
    stem_of(name).rsplit('-').next()?.parse().ok()
}
