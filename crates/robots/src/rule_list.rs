//! The Allow and Disallow rules of one group, in the order of the file, packed into two allocations.

use crate::decision::{DecidingLine, Matching};
use crate::normal_form::NormalPath;
use crate::pattern;

/// How much of a deciding line is kept, in bytes; a longer line is cut and ends in `…`.
pub const LINE_TEXT_BYTES_MAX: usize = 256;

/// Rules with all their text in one string: patterns and lines, one behind the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleList {
    rules: Vec<Rule>,
    text: String,
}

/// One rule. `text[pattern_start..line_start]` is its pattern, `text[line_start..line_end]` its line.
#[derive(Debug, Clone, Copy)]
struct Rule {
    pattern_start: u32,
    line_start: u32,
    line_end: u32,
    line_number: u32,
    allow: bool,
}

impl RuleList {
    /// Adds a rule. One without a pattern matches nothing and is left out: `Disallow:` forbids nothing.
    pub(crate) fn push(&mut self, allow: bool, written: &[u8], line_number: u32, line: &[u8]) {
        if written.is_empty() {
            return;
        }
        let pattern_start = self.position();
        self.text.push_str(&pattern::compile(written));
        let line_start = self.position();
        push_line(&mut self.text, line);
        let line_end = self.position();
        self.rules.push(Rule { pattern_start, line_start, line_end, line_number, allow });
    }

    /// How many rules there are.
    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Gives back what was allocated ahead.
    pub(crate) fn shrink(&mut self) {
        self.rules.shrink_to_fit();
        self.text.shrink_to_fit();
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rules.capacity() * size_of::<Rule>() + self.text.capacity()
    }

    /// The rule that decides about `path`: whether it allows, and its line.
    pub(crate) fn decide(&self, path: &NormalPath<'_>, matching: Matching) -> Option<(bool, DecidingLine)> {
        let rule = match matching {
            Matching::LongestMatch => self.longest_match(path),
            Matching::FirstMatch => {
                self.rules.iter().find(|rule| path.any(|p| pattern::is_prefix(self.pattern(rule), p)))
            }
        }?;
        let text = self.text[rule.line_start as usize..rule.line_end as usize].to_owned();
        Some((rule.allow, DecidingLine { line_number: rule.line_number, text }))
    }

    /// Most octets of the pattern, then Allow, then the order of the file (RFC 9309 §2.2.2).
    fn longest_match(&self, path: &NormalPath<'_>) -> Option<&Rule> {
        let mut best: Option<&Rule> = None;
        for rule in &self.rules {
            let rank = |rule: &Rule| (rule.line_start - rule.pattern_start, rule.allow);
            let better = best.is_none_or(|best| rank(rule) > rank(best));
            if better && path.any(|p| pattern::matches(self.pattern(rule), p)) {
                best = Some(rule);
            }
        }
        best
    }

    fn pattern(&self, rule: &Rule) -> &[u8] {
        &self.text.as_bytes()[rule.pattern_start as usize..rule.line_start as usize]
    }

    /// Where the next text goes. The file's limit keeps the whole far below 4 GiB.
    fn position(&self) -> u32 {
        u32::try_from(self.text.len()).unwrap_or(u32::MAX)
    }
}

/// The line as people may read it: trimmed, valid UTF-8, no control characters, of bounded length.
fn push_line(text: &mut String, line: &[u8]) {
    let start = text.len();
    let line = line.trim_ascii();
    let head = &line[..line.len().min(LINE_TEXT_BYTES_MAX)];
    for c in String::from_utf8_lossy(head).chars() {
        let c = if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        if text.len() - start + c.len_utf8() > LINE_TEXT_BYTES_MAX {
            break;
        }
        text.push(c);
    }
    if head.len() < line.len() {
        text.push('…');
    }
}
