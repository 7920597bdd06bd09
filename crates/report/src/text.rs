//! The report as text for a terminal: tables of at most 25 rows.

use std::fmt::Write as _;

use printable::Printable;
use serde_json::Value;

use crate::tables::{Column, Kind, Table, tables};
use crate::{Speed, Statistics};

/// Rows shown of a table.
const ROWS_SHOWN: usize = 25;
/// Seeds named.
const SEEDS_SHOWN: usize = 5;
/// The longest value shown whole, in characters.
const CELL_CHARS_MAX: usize = 72;
/// The marks of the line that shows speed, from nothing to most.
const MARKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The report as text.
#[must_use]
pub fn text(statistics: &Statistics) -> String {
    let mut out = String::new();
    let seeds = statistics.seeds.iter().take(SEEDS_SHOWN).map(|seed| Printable(seed).to_string()).collect::<Vec<_>>();
    let more = if statistics.seeds.len() > SEEDS_SHOWN { " …" } else { "" };
    // Writing to a string cannot fail.
    let _ = match seeds.is_empty() {
        true => writeln!(out, "No seeds: nothing was crawled."),
        false => writeln!(out, "Seeds: {}{more}", seeds.join(" ")),
    };
    if let Some(missing) = &statistics.missing {
        let _ = writeln!(out, "Note: {}", Printable(missing));
    }
    for table in tables(statistics) {
        write_table(&mut out, &table);
    }
    write_speed(&mut out, &statistics.speed);
    out
}

fn write_table(out: &mut String, table: &Table) {
    let note = if table.note.is_empty() { String::new() } else { format!(" ({})", table.note) };
    let _ = writeln!(out, "\n{}{note}", table.title);
    let shown = table.rows.len().min(ROWS_SHOWN);
    let mut lines = vec![table.columns.iter().map(|column| column.label.to_owned()).collect::<Vec<_>>()];
    for row in &table.rows[..shown] {
        let cells = row.iter().zip(&table.columns);
        lines.push(cells.map(|(value, column)| cell(value, column.kind)).collect());
    }
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    for line in lines {
        let cells =
            line.iter().zip(&table.columns).zip(&widths).map(|((cell, column), width)| padded(cell, column, *width));
        let _ = writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    let more = table.total - shown as u64;
    if more > 0 {
        let _ = writeln!(out, "  and {} more", grouped(more));
    }
}

fn padded(cell: &str, column: &Column, width: usize) -> String {
    match column.kind {
        Kind::Text | Kind::Url => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    }
}

fn cell(value: &Value, kind: Kind) -> String {
    value.as_str().map_or_else(|| shown(value, kind), shortened)
}

/// A value of a table for people.
#[must_use]
pub fn shown(value: &Value, kind: Kind) -> String {
    let number = value.as_f64();
    match (kind, number) {
        (Kind::Bytes, Some(number)) => bytes(number),
        (Kind::Milliseconds, Some(number)) => format!("{number} ms"),
        (Kind::Share, Some(number)) => format!("{:.1} %", number * 100.0),
        (_, Some(number)) => value.as_u64().map_or_else(|| format!("{number:.3}"), grouped),
        (_, None) => value.as_str().map_or_else(|| "-".to_owned(), |text| Printable(text).to_string()),
    }
}

/// What is too long loses its middle: both ends of a URL tell more.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= CELL_CHARS_MAX {
        return Printable(text).to_string();
    }
    let half = (CELL_CHARS_MAX - 1) / 2;
    let (head, tail): (String, String) = (text.chars().take(half).collect(), text.chars().skip(count - half).collect());
    Printable(&format!("{head}…{tail}")).to_string()
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn bytes(number: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match UNITS.iter().find(|(size, _)| number >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", number / size),
        None => format!("{number} B"),
    }
}

fn write_speed(out: &mut String, speed: &Speed) {
    let (Some(began_at), Some(ended_at)) = (&speed.began_at, &speed.ended_at) else { return };
    let pages: u64 = speed.buckets.iter().map(|bucket| bucket.pages).sum();
    let most = speed.buckets.iter().map(|bucket| bucket.pages).max().unwrap_or(0).max(1);
    let mark = |pages: u64| MARKS[usize::try_from((pages * 8).div_ceil(most)).unwrap_or(0).min(8)];
    let line: String = speed.buckets.iter().map(|bucket| mark(bucket.pages)).collect();
    let mean = speed.pages_per_second.map_or_else(String::new, |rate| format!(", {rate:.1} pages a second"));
    let _ = writeln!(out, "\nSpeed");
    let _ = writeln!(out, "  {} pages from {began_at} to {ended_at}{mean}", grouped(pages));
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown")]
    let peak = most as f64 / speed.bucket_seconds;
    let _ = writeln!(out, "  {line}|  a mark is {} s, the highest {peak:.1} pages a second", speed.bucket_seconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (number, expect) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expect);
        }
        assert_eq!((bytes(12.0), bytes(1234.0), bytes(5e9)), ("12 B".into(), "1.2 kB".into(), "5.0 GB".into()));
    }

    #[test]
    fn what_is_too_long_loses_its_middle() {
        let text = "é".repeat(100) + "end";
        let short = shortened(&text);
        assert!(short.chars().count() <= CELL_CHARS_MAX && short.contains('…') && short.ends_with("end"), "{short}");
    }
}
