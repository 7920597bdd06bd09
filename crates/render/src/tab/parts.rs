//! Parts of a page that only a click shows, and that are gone again in the page as it was taken: the panels of tabs, menus, dialogs.

use serde::Deserialize;

/// Characters of all parts of a page.
const PARTS_CHARS_MAX: usize = 1 << 20;

/// A part, as `behaviours.js` has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Part {
    /// Its texts, as hashes.
    pieces: Vec<u32>,
    /// The elements that it stands in, and what it shows.
    html: String,
}

impl Part {
    fn chars(&self) -> usize {
        self.html.chars().count()
    }
}

/// The parts of a page that clicks have shown, each once.
#[derive(Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    chars: usize,
}

impl Parts {
    /// Characters that there is room for.
    pub(super) fn room(&self) -> usize {
        PARTS_CHARS_MAX.saturating_sub(self.chars)
    }

    /// No room is left.
    pub(super) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Takes further ones.
    pub(super) fn take(&mut self, parts: Vec<Part>) {
        self.chars += parts.iter().map(Part::chars).sum::<usize>();
        self.parts.extend(parts);
    }

    /// Forgets those whose texts are all among these, which are in order: the page shows them as it is taken now.
    pub(super) fn forget(&mut self, shown: &[u32]) {
        self.parts.retain(|part| part.pieces.iter().any(|piece| shown.binary_search(piece).is_err()));
        self.chars = self.parts.iter().map(Part::chars).sum();
    }

    /// Puts them behind what the body of a document has, as far as it has room: so many bytes in all.
    pub(super) fn add_to(&self, html: &mut String, bytes_max: usize) {
        let end = html.rfind("</body>").unwrap_or(html.len());
        let mut room = bytes_max.saturating_sub(html.len());
        let mut added = String::new();
        for Part { html, .. } in &self.parts {
            let Some(left) = room.checked_sub(html.len()) else { break };
            room = left;
            added.push_str(html);
        }
        html.insert_str(end, &added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(pieces: &[u32], html: &str) -> Part {
        Part { pieces: pieces.to_vec(), html: html.to_owned() }
    }

    #[test]
    fn parts_that_are_gone_again_stand_at_the_end_of_the_body() {
        let mut parts = Parts::default();
        parts.take(vec![part(&[1, 5], "<p>one</p>"), part(&[2], "<p>two</p>")]);
        parts.take(vec![part(&[3], "<p>three</p>")]);
        parts.forget(&[2, 5, 7]);
        for (bytes_max, expect) in [
            (1_000, "<body>x<p>one</p><p>three</p></body>"),
            ("<body>x<p>one</p></body>".len(), "<body>x<p>one</p></body>"),
            (0, "<body>x</body>"),
        ] {
            let mut html = "<body>x</body>".to_owned();
            parts.add_to(&mut html, bytes_max);
            assert_eq!(html, expect);
        }
        let mut html = "no body".to_owned();
        parts.add_to(&mut html, 1_000);
        assert_eq!(html, "no body<p>one</p><p>three</p>");
    }
}
