//! What holds for every sitemap and feed.
//!
//! Input: the bytes as a server sends them, compressed or not.

use extract::href::clean;
use extract::sitemap::{Entry, Kind, Limits, Sitemap, parse};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The longest date that an entry keeps, as [`Entry::lastmod`] says.
const LASTMOD_BYTES_MAX: usize = 64;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let whole = parse(input, &Limits::default());
    limits_are_obeyed(&whole, &Limits::default());
    let few = Limits { entries_max: 2, url_bytes_max: 64, ..Limits::default() };
    let part = parse(input, &few);
    limits_are_obeyed(&part, &few);
    a_limit_only_leaves_out(&whole, &part, &few);
    let short = Limits { decoded_bytes_max: input.len() / 2, ..Limits::default() };
    let beginning = parse(input, &short);
    limits_are_obeyed(&beginning, &short);
    if !is_gzip(input) {
        assert_eq!(beginning.truncated.bytes, input.len() > short.decoded_bytes_max);
        assert_eq!(
            beginning,
            Sitemap { truncated: beginning.truncated, ..parse(&input[..input.len() / 2], &few_of(&short)) }
        );
        compression_changes_nothing(&whole, input);
    }
}

/// The default limits on all but what `limits` restricts besides the bytes.
fn few_of(limits: &Limits) -> Limits {
    Limits { decoded_bytes_max: Limits::default().decoded_bytes_max, ..limits.clone() }
}

fn is_gzip(input: &[u8]) -> bool {
    input.starts_with(&[0x1f, 0x8b])
}

fn limits_are_obeyed(sitemap: &Sitemap, limits: &Limits) {
    assert!(sitemap.entries.len() <= limits.entries_max);
    for entry in &sitemap.entries {
        let Entry { loc, lastmod } = entry;
        assert!((1..=limits.url_bytes_max).contains(&loc.len()), "{entry:?}");
        assert_eq!(&clean(loc), loc);
        if let Some(date) = lastmod {
            assert!((1..=LASTMOD_BYTES_MAX).contains(&date.len()) && date.trim() == date, "{entry:?}");
        }
        let lower = loc.to_ascii_lowercase();
        assert!(
            sitemap.kind != Kind::Text || lower.starts_with("http://") || lower.starts_with("https://"),
            "a line of text that is no URL: {entry:?}"
        );
    }
    assert!(sitemap.kind != Kind::Unknown || sitemap.entries.is_empty(), "{sitemap:?}");
}

fn a_limit_only_leaves_out(whole: &Sitemap, part: &Sitemap, limits: &Limits) {
    let short = whole.entries.iter().filter(|entry| entry.loc.len() <= limits.url_bytes_max);
    let expect: Vec<&Entry> = short.clone().take(limits.entries_max).collect();
    assert_eq!(part.entries.iter().collect::<Vec<_>>(), expect);
    assert_eq!(part.truncated.entries, short.count() > limits.entries_max);
}

fn compression_changes_nothing(plain: &Sitemap, input: &[u8]) {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let Ok(compressed) = gzip.write_all(input).and_then(|()| gzip.finish()) else { panic!("a Vec takes all bytes") };
    assert_eq!(&parse(&compressed, &Limits::default()), plain);
    // Without its trailer it is flawed, and reads the same.
    let cut = parse(&compressed[..compressed.len() - 4], &Limits::default());
    assert!(cut.flaws.broken_gzip);
    assert_eq!(cut.entries, plain.entries);
}
