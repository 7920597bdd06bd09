//! What holds for what a document needs to be shown.
//!
//! Input: a byte that chooses the kind of the document, and the document.

use extract::href::clean;
use extract::requisites::{
    Limits, Requisites, of_link_field, of_manifest, of_page, of_script, of_style_sheet, of_xslt,
};
use std::collections::BTreeSet;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let Some((kind, document)) = input.split_first() else { return };
    let document = String::from_utf8_lossy(document);
    let kinds = [of_page, of_style_sheet, of_script, of_manifest, of_link_field, of_xslt];
    let read = kinds[usize::from(*kind) % kinds.len()];
    let find = |references_max, href_bytes_max| {
        let limits = Limits { references_max, href_bytes_max };
        let mut found = Requisites::new(limits);
        read(&document, &mut found);
        limits_are_obeyed(&found, limits);
        found
    };
    let (all, few, short) = (find(usize::MAX, usize::MAX), find(2, usize::MAX), find(usize::MAX, 8));
    assert_eq!(few.references, all.references[..all.references.len().min(2)], "a limit only leaves out");
    assert!(few.is_cut || few.references.len() == all.references.len());
    let shorter: Vec<_> = all.references.iter().filter(|reference| reference.href.len() <= 8).collect();
    assert_eq!(short.references.iter().collect::<Vec<_>>(), shorter);
    assert!(short.is_cut || shorter.len() == all.references.len());
}

fn limits_are_obeyed(found: &Requisites, limits: Limits) {
    let Requisites { references, .. } = found;
    assert!(references.len() <= limits.references_max);
    for reference in references {
        let href = &reference.href;
        assert!((1..=limits.href_bytes_max).contains(&href.len()), "{href}");
        assert_eq!(&clean(href), href);
    }
    let targets: BTreeSet<_> = references.iter().map(|reference| reference.href.split('#').next()).collect();
    assert_eq!(targets.len(), references.len(), "each once");
}
