//! What holds for every file of rules and every page.
//!
//! Input: rules up to a line `---`, the rest is the page.

use extract::html::dom::Document;
use rules::{Body, Page, RuleSet, suggest};

/// The longest text for which selectors are suggested, in bytes.
const FOUND_BYTES: usize = 16;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (rules, html) = text.split_once("\n---\n").unwrap_or((&text, ""));
    let url = "https://example.com/dir/page";
    let document = Document::parse(html);
    match RuleSet::parse(rules) {
        Ok((rules, table)) => {
            let again = RuleSet::of(&table).expect("what is read reads back");
            for body in [Body::Html(&document), Body::Json(html.as_bytes())] {
                let page = Page { url, body };
                let items = rules.items_of(&page);
                assert_eq!(items, again.items_of(&page), "the same rules give the same rows");
                rows_have_their_fields(&rules, &items);
            }
        }
        Err(error) => assert!(!error.in_text(rules).is_empty()),
    }
    let wanted: String = html.chars().filter(|char| char.is_alphanumeric()).take(FOUND_BYTES).collect();
    for body in [Body::Html(&document), Body::Json(html.as_bytes())] {
        assert!(suggest(body, &wanted).iter().all(|found| found.matches > 0));
    }
}

fn rows_have_their_fields(rules: &RuleSet, items: &[rules::Items]) {
    for items in items {
        let rule = rules.rules.iter().find(|rule| rule.name == items.table).expect("a rule");
        for row in &items.rows {
            assert!(row.keys().all(|key| rule.fields.iter().any(|field| field.name == *key)));
            for field in rule.fields.iter().filter(|field| field.is_required) {
                assert!(row.contains_key(&field.name), "a required field has a value");
            }
        }
    }
}
