//! What holds for every page and what it says for machines, and for every text that may be JSON.

use extract::html::dom::{DEPTH_MAX, Document, NODES_MAX};
use structured::{Limits, Metadata, metadata, read, repair};
use url::Url;

/// Looks at a character, at most.
const STEPS_PER_BYTE: usize = 12;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    json_is_mended_in_linear_time(&text);
    the_tree_is_one(&text);
    items_are_json_within_the_limits(&text);
}

fn json_is_mended_in_linear_time(text: &str) {
    let repaired = repair::read(text);
    assert!(repaired.steps <= STEPS_PER_BYTE * text.len() + 100, "{} steps", repaired.steps);
    for value in &repaired.values {
        let written = value.to_string();
        let again = repair::read(&written);
        assert!(again.flaws.is_empty() && again.values.len() == 1, "what is mended needs no mending");
    }
}

fn the_tree_is_one(text: &str) {
    let document = Document::parse(text);
    assert!(document.len() <= NODES_MAX);
    for node in document.root().descendants() {
        let parent = node.parent().expect("a node of the page is in another");
        assert!(parent.id() < node.id() && node.end() <= parent.end(), "children are inside of their parent");
        assert!(
            node.next_sibling().is_none_or(|next| next.previous_sibling().is_some_and(|back| back.id() == node.id()))
        );
    }
    let deepest = document.root().descendants().map(|node| node.ancestors().count()).max();
    assert!(deepest.unwrap_or(0) <= DEPTH_MAX + 1);
}

fn items_are_json_within_the_limits(text: &str) {
    let document = Document::parse(text);
    let url = Url::parse("https://example.com/dir/page").expect("a URL");
    let all = read(&document, Some(&url), &Limits::default());
    for item in &all.items {
        let json: serde_json::Value = serde_json::from_str(&item.json).expect("JSON");
        assert!(json.is_object() || json.is_array());
    }
    assert_eq!(Metadata { schema_types: None, ..all.metadata.clone() }, metadata(&document, Some(&url)));
    values_are_short(&all.metadata);
    let few = read(&document, Some(&url), &Limits { items_max: 1, ..Limits::default() });
    assert!(few.items.len() <= 1 && few.is_cut >= (all.items.len() > 1));
}

/// Names and dates are one line each.
fn values_are_short(metadata: &Metadata) {
    const VALUE_BYTES_MAX: usize = 512;
    let Metadata { title, author, published, modified, site_name, language, .. } = metadata;
    for value in [title, author, published, modified, site_name, language].into_iter().flatten() {
        assert!(!value.is_empty() && value.len() <= VALUE_BYTES_MAX && !value.contains('\n'), "{value}");
    }
}
