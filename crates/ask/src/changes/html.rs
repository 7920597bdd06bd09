//! Changes as one page that needs nothing from anywhere: no script, no connection, light and dark.
//!
//! Titles, URLs and texts come from the web. They are escaped, and the page's policy forbids everything except its own style.

use std::io::{self, Write};

use model::Change;
use printable::Printable;
use quick_xml::escape::escape;

use super::difference::{Block, Difference};
use super::{Changed, Counts, NO_PLACE, sentence};

const STYLE: &str = include_str!("page.css");
/// Characters of a block that the page shows.
const BLOCK_CHARS_MAX: usize = 20_000;

/// A page that is written while the changes come.
#[derive(Debug)]
pub struct HtmlPage<W> {
    to: W,
}

impl<W: Write> HtmlPage<W> {
    /// Begins a page with this title.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(mut to: W, title: &str) -> io::Result<Self> {
        let title = shown(title);
        write!(
            to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<main>\n"
        )?;
        Ok(HtmlPage { to })
    }

    /// Adds a change.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, changed: &Changed) -> io::Result<()> {
        let title = changed.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&changed.url);
        let to = &mut self.to;
        write!(to, "<article>\n<h2>{}: {}</h2>\n<p>{}", changed.change, shown(title), link(&changed.url))?;
        match (changed.change, &changed.target) {
            (Change::Moved, Some(target)) => {
                let why = if changed.probable { " (the same content, no redirect)" } else { "" };
                write!(to, " → {}{why}", link(target))?;
            }
            (Change::Moved, None) => write!(to, " ({NO_PLACE})")?,
            _ => {}
        }
        let before = changed.before_at.map(|before| format!(", before {}", before.to_rfc3339()));
        let (at, before) = (changed.at.to_rfc3339(), before.unwrap_or_default());
        writeln!(to, "</p>\n<p class=\"quiet\">visited {at}{before}</p>")?;
        if let Some(title) = &changed.title_before {
            writeln!(to, "<p class=\"quiet\">title before: {}</p>", shown(title))?;
        }
        if let Some(difference) = &changed.difference {
            write_difference(to, difference)?;
        }
        to.write_all(b"</article>\n")
    }

    /// Ends the page with the number of changes.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn end(mut self, counts: &Counts) -> io::Result<()> {
        write!(self.to, "</main>\n<p>{}</p>\n</body>\n</html>\n", sentence(counts))
    }
}

fn write_difference(to: &mut impl Write, difference: &Difference) -> io::Result<()> {
    for block in &difference.text {
        let (element, block) = match block {
            Block::Removed(block) => ("del", block),
            Block::Added(block) => ("ins", block),
        };
        let text: String = block.chars().take(BLOCK_CHARS_MAX).collect();
        let more = if text.len() < block.len() { "…" } else { "" };
        let lines: Vec<String> = text.lines().map(shown).collect();
        writeln!(to, "<{element}>{}{more}</{element}>", lines.join("\n"))?;
    }
    for (element, links) in [("del", &difference.links_removed), ("ins", &difference.links_added)] {
        for to_page in links {
            writeln!(to, "<{element}>link {}</{element}>", link(to_page))?;
        }
    }
    Ok(())
}

/// A text as the page shows it.
fn shown(text: &str) -> String {
    escape(Printable(text).to_string()).into_owned()
}

/// A link to a URL of http or https; of any other the text alone.
fn link(url: &str) -> String {
    let text = shown(url);
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    if is_web { format!("<a href=\"{text}\">{text}</a>") } else { text }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::super::tests::change_of;
    use super::*;

    #[test]
    fn nothing_from_the_web_becomes_part_of_the_page() {
        let evil = "<script>alert(\"1\")</script>\u{1b}[31m&amp;";
        let changed = Changed {
            title: Some(evil.to_owned()),
            title_before: Some(evil.to_owned()),
            difference: Some(Difference {
                text: vec![Block::Added(format!("{evil}\nsecond")), Block::Removed("old".repeat(10_000))],
                links_added: vec!["javascript:alert(1)".to_owned(), "https://a.test/\"onclick=\"x".to_owned()],
                links_removed: vec!["http://a.test/gone".to_owned()],
            }),
            ..change_of(Change::Changed, "http://a.test/?a&b", Timestamp(1))
        };
        let moved = Changed {
            target: Some("http://a.test/new".to_owned()),
            probable: true,
            ..change_of(Change::Moved, "http://a.test/old", Timestamp(2))
        };
        let mut page = Vec::new();
        let mut html = HtmlPage::begin(&mut page, "Changes in <dir>").expect("written");
        html.add(&changed).expect("written");
        html.add(&moved).expect("written");
        html.add(&change_of(Change::Moved, "http://a.test/lost", Timestamp(3))).expect("written");
        html.end(&Counts::from([(Change::Changed, 1), (Change::Moved, 2)])).expect("written");
        let page = String::from_utf8(page).expect("UTF-8");
        for expect in [
            "<title>Changes in &lt;dir&gt;</title>",
            "<h2>changed: &lt;script&gt;alert(&quot;1&quot;)",
            "<ins>&lt;script&gt;",
            "&amp;amp;\nsecond</ins>",
            "<ins>link javascript:alert(1)</ins>",
            "<ins>link <a href=\"https://a.test/&quot;onclick=&quot;x\">",
            "<del>link <a href=\"http://a.test/gone\">",
            "<a href=\"http://a.test/?a&amp;b\">",
            "→ <a href=\"http://a.test/new\">http://a.test/new</a> (the same content, no redirect)",
            "http://a.test/lost</a> (its redirect leads to no URL that can be requested)",
            "3 URLs visited: 1 changed, 2 moved",
            "prefers-color-scheme: dark",
        ] {
            assert!(page.contains(expect), "{expect} in\n{page}");
        }
        assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("…</del>") && page.len() < 60_000, "{}", page.len());
    }
}
