//! The style sheets that an XML document names before its first element (<https://www.w3.org/TR/xml-stylesheet/>).

use super::{Requisites, Role};
use crate::html::dom::Document;

/// What begins such an instruction.
const INSTRUCTION: &str = "<?xml-stylesheet";
/// Bytes of a document that are searched for them.
const PROLOG_BYTES_MAX: usize = 64 << 10;
/// Instructions that are read of a document.
const INSTRUCTIONS_MAX: usize = 100;

/// Adds the style sheets that an XML document names.
pub fn of_prolog(text: &str, found: &mut Requisites) {
    let prolog = &text[..text.floor_char_boundary(PROLOG_BYTES_MAX)];
    for instruction in prolog.split(INSTRUCTION).skip(1).take(INSTRUCTIONS_MAX) {
        let Some((attributes, _)) = instruction.split_once("?>") else { return };
        // Its pseudo-attributes are written as those of an element are.
        let text = format!("<link {attributes}>");
        let document = Document::parse(&text);
        let href = document.elements().find_map(|node| node.attribute("href"));
        if let Some(href) = href {
            found.add(&href, Role::StyleSheet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, hrefs};

    #[test]
    fn style_sheets_before_the_first_element() {
        for (text, expect) in [
            ("<?xml version='1.0'?><?xml-stylesheet type='text/css' href='a.css'?><svg/>", &["a.css"][..]),
            (
                "<?xml-stylesheet href=\"a.xsl?b=1&amp;c=2\"?>\n<?xml-stylesheet alternate='yes' href='d.css'?><feed/>",
                &["a.xsl?b=1&c=2", "d.css"],
            ),
            ("<?xml-stylesheet href='#here'?><a/>", &[]),
            ("<?xml-stylesheet type='text/css'?><a/>", &[]),
            ("<?xml-stylesheet href='never-closed", &[]),
            ("<svg/>", &[]),
        ] {
            let mut found = Requisites::new(Limits { references_max: 10, href_bytes_max: 100 });
            of_prolog(text, &mut found);
            assert_eq!(hrefs(&found), expect, "{text}");
        }
    }
}
