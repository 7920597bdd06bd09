//! Formulas: MathML with its TeX source or without, and the scripts of TeX that MathJax reads.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};

use crate::steps;

/// Bytes of the longest source that is taken.
const SOURCE_BYTES_MAX: usize = 4096;

/// The TeX of a `math` element or of a script: its text, an `annotation`, `alttext`, or what the elements say.
pub(crate) fn source(tree: &Document<'_>, id: Id) -> Option<String> {
    let is_tex = |id: &Id| {
        tree.tag(*id) == Some(Tag::Annotation)
            && tree
                .attribute(*id, "encoding")
                .is_some_and(|encoding| encoding.eq_ignore_ascii_case("application/x-tex"))
    };
    let text = match tree.tag(id) {
        Some(Tag::Script) => script(&tree.whole_text(id)).to_owned(),
        _ => {
            let annotation = tree.subtree(id).find(is_tex).map(|id| tree.whole_text(id));
            annotation
                .or_else(|| tree.attribute(id, "alttext").map(Cow::into_owned))
                .or_else(|| Writer { tree, tex: String::new() }.written(id))?
        }
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("{\\displaystyle").and_then(|text| text.strip_suffix('}')).unwrap_or(&text).trim();
    Some(text.to_owned()).filter(|text| !text.is_empty() && text.len() <= SOURCE_BYTES_MAX && !text.contains('$'))
}

/// The TeX of a script, without the comments that keep XML from reading it.
fn script(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("% <![CDATA[").unwrap_or(text);
    text.strip_suffix("%]]>").unwrap_or(text)
}

/// Whether a script holds TeX.
pub(crate) fn is_script(tree: &Document<'_>, id: Id) -> bool {
    tree.tag(id) == Some(Tag::Script) && tree.attribute(id, "type").is_some_and(|kind| is_type(&kind))
}

fn is_type(kind: &str) -> bool {
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("math/tex")
}

/// Whether a formula stands by itself.
pub(super) fn is_display(tree: &Document<'_>, id: Id) -> bool {
    let is_block = || tree.attribute(id, "display").is_some_and(|display| display.eq_ignore_ascii_case("block"));
    let is_mode = || tree.attribute(id, "type").is_some_and(|kind| kind.replace(' ', "").ends_with("mode=display"));
    if tree.tag(id) == Some(Tag::Script) { is_mode() } else { is_block() }
}

/// What shows the same formula as a `math` element once more: hidden from readers that can hear the first, it stands beside it.
pub(crate) fn repeated<'t>(tree: &'t Document<'_>, math: Id) -> impl Iterator<Item = Id> + 't {
    /// Elements around a formula beside which the other one is looked for, itself among them.
    const AROUND: usize = 2;
    /// Elements beside each that are looked at.
    const BESIDE_MAX: usize = 4;
    let is_hidden =
        |id: &Id| tree.tag(*id).is_some() && tree.attribute(*id, "aria-hidden").is_some_and(|is| is == "true");
    // One that is hidden itself is not what is heard.
    let around = std::iter::successors(Some(math), move |id| Some(tree.parent(*id)).filter(|id| !is_hidden(id)));
    around.take(AROUND).flat_map(move |id| {
        let is_other = move |other: &Id| *other != id;
        tree.children(tree.parent(id)).take(BESIDE_MAX).filter(is_other).filter(is_hidden)
    })
}

/// Writes MathML as TeX.
struct Writer<'t, 'd> {
    tree: &'t Document<'d>,
    tex: String,
}

impl Writer<'_, '_> {
    /// All of a formula; `None` if it has parts that cannot be written.
    fn written(mut self, math: Id) -> Option<String> {
        self.children(math)?;
        Some(self.tex)
    }

    fn children(&mut self, id: Id) -> Option<()> {
        let tree = self.tree;
        tree.children(id).try_for_each(|child| self.node(child))
    }

    fn node(&mut self, id: Id) -> Option<()> {
        steps::count(1);
        if self.tex.len() > SOURCE_BYTES_MAX {
            return None;
        }
        let tree = self.tree;
        if tree.tag(id).is_none() {
            self.text(&tree.text(id));
            return Some(());
        }
        let parts: Vec<Id> = tree.children(id).filter(|child| tree.tag(*child).is_some()).take(4).collect();
        match (tree.node(id as u32).name().to_ascii_lowercase().as_str(), parts.as_slice()) {
            ("annotation" | "annotation-xml" | "mphantom", _) => Some(()),
            // Rows and columns, and marks on all sides.
            ("mtable" | "mmultiscripts" | "mlongdiv" | "mstack", _) => None,
            ("mfrac", [above, below]) if tree.attribute(id, "linethickness").is_none() => {
                self.groups(&[(r"\frac", *above), ("", *below)])
            }
            ("mfrac", _) => None,
            ("msqrt", _) => {
                self.tex.push_str(r"\sqrt{");
                self.children(id)?;
                self.tex.push('}');
                Some(())
            }
            ("mroot", [base, root]) => {
                self.tex.push_str(r"\sqrt[");
                self.node(*root)?;
                self.tex.push(']');
                self.groups(&[("", *base)])
            }
            ("msup", [base, up]) => self.groups(&[("", *base), ("^", *up)]),
            ("msub", [base, down]) => self.groups(&[("", *base), ("_", *down)]),
            ("msubsup" | "munderover", [base, down, up]) => self.groups(&[("", *base), ("_", *down), ("^", *up)]),
            ("mover", [base, over]) => self.groups(&[(r"\overset", *over), ("", *base)]),
            ("munder", [base, under]) => self.groups(&[(r"\underset", *under), ("", *base)]),
            ("mtext" | "ms", _) => self.groups(&[(r"\text", id)]),
            ("mi", _) if tree.end(id) == id + 2 && tree.text(id + 1).trim().chars().nth(1).is_some() => {
                self.groups(&[(r"\text", id)])
            }
            _ => self.children(id),
        }
    }

    /// Parts in braces, each behind a mark.
    fn groups(&mut self, parts: &[(&str, Id)]) -> Option<()> {
        for (mark, id) in parts {
            self.tex.push_str(mark);
            self.tex.push('{');
            self.children(*id)?;
            self.tex.push('}');
        }
        Some(())
    }

    fn text(&mut self, text: &str) {
        // What only a computer sees stands between U+2061 and U+2064.
        for character in text.trim().chars().filter(|character| !('\u{2061}'..='\u{2064}').contains(character)) {
            if "{}%#&_$".contains(character) {
                self.tex.push('\\');
            }
            match character {
                '\\' => self.tex.push_str(r"\backslash "),
                '^' => self.tex.push_str(r"\hat{}"),
                '~' => self.tex.push_str(r"\sim "),
                _ => self.tex.push(character),
            }
        }
    }
}
