//! What a page says of itself in its head and in JSON-LD, as far as it helps to find the same in its body.

use extract::html::dom::{Document, Tag};

use crate::blocks::Said;
use crate::page::is_json_ld;

/// Names of texts in JSON-LD that are about the page, or in it.
const TEXTS: [&str; 4] = ["\"description\"", "\"articleBody\"", "\"text\"", "\"reviewBody\""];
/// Bytes of one of them that are read.
const TEXT_BYTES_MAX: usize = 1 << 16;

pub(crate) fn read(tree: &Document<'_>) -> Said {
    let mut said = Said::default();
    let mut has_title = false;
    for id in 1..tree.len() {
        match tree.tag(id) {
            Some(Tag::Title) if !has_title => {
                has_title = true;
                said.title(&tree.whole_text(id));
            }
            Some(Tag::Meta) => {
                let name = tree.attribute(id, "name").or(tree.attribute(id, "property")).unwrap_or_default();
                let content = tree.attribute(id, "content").unwrap_or_default();
                match &*name {
                    "description" | "og:description" | "twitter:description" => said.description(&content),
                    "og:title" => said.title(&content),
                    _ => {}
                }
            }
            Some(Tag::Script) if tree.attribute(id, "type").is_some_and(|kind| is_json_ld(&kind)) => {
                tree.children(id).for_each(|child| json(&tree.text(child), &mut said));
            }
            _ => {}
        }
    }
    said
}

/// Takes the texts of a JSON-LD text, without reading it as JSON: it may be broken.
fn json(text: &str, said: &mut Said) {
    for name in TEXTS {
        for rest in text.split(name).skip(1) {
            let value =
                rest.trim_start().strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'));
            let Some(value) = value else { continue };
            let value = &value[..value.floor_char_boundary(TEXT_BYTES_MAX)];
            let mut is_escaped = false;
            let end = value.bytes().position(|byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            let value = &value[..end.unwrap_or(value.len())];
            said.description(&value.replace("\\n", " ").replace("\\r", " ").replace("\\t", " "));
        }
    }
}
