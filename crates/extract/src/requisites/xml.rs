//! The style sheets that an XML document names before its first element (<https://www.w3.org/TR/xml-stylesheet/>).

use super::{Limits, Requisites, Role, of_page};
use crate::html;
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

/// What the names of elements of XSLT stand for.
const XSLT: &str = "http://www.w3.org/1999/XSL/Transform";

/// Adds what a style sheet in XSLT imports, and what the pages need that it makes, as far as it writes that out.
pub fn of_xslt(text: &str, found: &mut Requisites) {
    if !text[..text.floor_char_boundary(PROLOG_BYTES_MAX)].contains(XSLT) {
        return;
    }
    let html = html::of_xml(text);
    for node in Document::parse(&html).elements() {
        let name = node.name().rsplit(':').next().unwrap_or_default();
        if matches!(name, "import" | "include")
            && let Some(href) = node.attribute("href")
        {
            found.add(&href, Role::StyleSheet);
        }
    }
    // The limit counts what is left of these.
    let mut of_pages = Requisites::new(Limits { references_max: usize::MAX, ..found.limits });
    of_page(&html, &mut of_pages);
    found.is_cut |= of_pages.is_cut;
    // Values in braces are computed.
    for reference in of_pages.references.iter().filter(|reference| !reference.href.contains('{')) {
        found.add(&reference.href, reference.role);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::hrefs;

    #[test]
    fn style_sheets_of_style_sheets() {
        let text = r#"<?xml version="1.0"?><xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
            <xsl:import href="a.xsl"/><xsl:include href="b.xsl"/><xsl:template match="/"><html><head>
            <link rel="stylesheet" href="c.css"/></head><body><img src="d.png"/><img src="{@src}"/></body></html>
            </xsl:template></xsl:stylesheet>"#;
        let find = |text: &str| {
            let mut found = Requisites::new(Limits { references_max: 10, href_bytes_max: 100 });
            of_xslt(text, &mut found);
            hrefs(&found).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(find(text), ["a.xsl", "b.xsl", "c.css", "d.png"]);
        assert_eq!(find(&text.replace("XSL/Transform", "other")), [""; 0]);
    }

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
