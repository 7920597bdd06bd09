//! Changes as text.

use std::io::Write;

use ask::changes::{Block, Changed, Difference, NO_PLACE};
use model::Change;
use printable::Printable;

/// Characters of a block that are shown.
const BLOCK_CHARS_MAX: usize = 300;

/// Writes a change, with what is different.
pub(super) fn write_text(out: &mut impl Write, changed: &Changed) -> std::io::Result<()> {
    write!(out, "{:<8} {}", changed.change.as_str(), changed.url)?;
    match (&changed.target, changed.status) {
        (Some(target), _) => {
            let why = if changed.probable { " (the same content, no redirect)" } else { "" };
            writeln!(out, " to {}{why}", Printable(target))?;
        }
        (None, _) if changed.change == Change::Moved => writeln!(out, " ({NO_PLACE})")?,
        (None, Some(status)) if changed.change == Change::Gone => writeln!(out, " ({status})")?,
        _ => writeln!(out)?,
    }
    match (&changed.title_before, &changed.title) {
        (Some(before), Some(now)) => writeln!(out, "  title: {} -> {}", Printable(before), Printable(now))?,
        (Some(before), None) => writeln!(out, "  title before: {}", Printable(before))?,
        (None, _) => {}
    }
    let Some(Difference { text, links_added, links_removed }) = &changed.difference else { return Ok(()) };
    for block in text {
        let (sign, block) = match block {
            Block::Removed(block) => ('-', block),
            Block::Added(block) => ('+', block),
        };
        let shown: String = block.chars().take(BLOCK_CHARS_MAX).collect();
        let more = if shown.len() < block.len() { "…" } else { "" };
        writeln!(out, "  {sign} {}{more}", Printable(&shown.replace('\n', " ")))?;
    }
    links_removed.iter().try_for_each(|link| writeln!(out, "  - link {}", Printable(link)))?;
    links_added.iter().try_for_each(|link| writeln!(out, "  + link {}", Printable(link)))
}
