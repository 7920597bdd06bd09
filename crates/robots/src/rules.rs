//! The rules that can match, each once, in order of precedence.

use std::cmp::Reverse;

use foldhash::{HashSet, HashSetExt};

use crate::line_frames::FrameCollector;
use crate::normal_form::NormalPath;
use crate::packed_rule::{PackedRule, RuleId};
use crate::pattern::{self, Shape};
use crate::steps::{Steps, StepsExceeded};

/// A rule as it stands in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenRule<'b> {
    pub(crate) allow: bool,
    pub(crate) pattern: &'b [u8],
    pub(crate) line: &'b [u8],
    pub(crate) line_number: u32,
}

/// Rules in the order in which they win by longest match: most octets of the pattern, then Allow, then the order of the file
/// (RFC 9309 §2.2.2). Only those that can match, and the first of several that are the same.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Box<[PackedRule]>,
    patterns: Box<[u8]>,
}

impl Rules {
    pub(crate) fn new<'b>(written: &[WrittenRule<'b>], frames: &mut FrameCollector<'b>) -> Self {
        let mut text = Vec::new();
        let mut compiled = Vec::with_capacity(written.len());
        for rule in written {
            let start = text.len();
            pattern::compile(rule.pattern, &mut text);
            if pattern::shape(&text[start..]) == Shape::Never {
                text.truncate(start);
            } else {
                compiled.push((start..text.len(), rule));
            }
        }
        let mut known = HashSet::with_capacity(compiled.len());
        compiled.retain(|(range, rule)| known.insert((&text[range.clone()], rule.allow)));
        compiled.sort_unstable_by_key(|(range, rule)| (Reverse(range.len()), !rule.allow, rule.line_number));

        let mut patterns = Vec::with_capacity(compiled.iter().map(|(range, _)| range.len()).sum());
        let rules = compiled.into_iter().map(|(range, rule)| {
            let pattern = &text[range];
            let start = patterns.len();
            patterns.extend_from_slice(pattern);
            let frame = frames.frame(rule.line, rule.pattern, pattern);
            PackedRule::new(start, rule.line_number, frame, rule.allow)
        });
        Self { rules: rules.collect(), patterns: patterns.into() }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.rules) + self.patterns.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        0..self.rules.len() as RuleId
    }

    pub(crate) fn rule(&self, id: RuleId) -> PackedRule {
        self.rules[usize::from(id)]
    }

    pub(crate) fn pattern(&self, id: RuleId) -> &[u8] {
        let start = self.rule(id).pattern_start();
        let end = self.rules.get(usize::from(id) + 1).map_or(self.patterns.len(), |next| next.pattern_start());
        &self.patterns[start..end]
    }

    pub(crate) fn shape(&self, id: RuleId) -> Shape {
        pattern::shape(self.pattern(id))
    }

    /// The first of `ids`, which are in ascending order, that matches.
    pub(crate) fn longest_match(
        &self,
        ids: impl Iterator<Item = RuleId>,
        path: &NormalPath<'_>,
        steps: &mut Steps,
    ) -> Result<Option<RuleId>, StepsExceeded> {
        for id in ids {
            for spelling in path.spellings() {
                if pattern::matches(self.pattern(id), spelling, steps)? {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
    }

    pub(crate) fn first_match(&self, path: &NormalPath<'_>) -> Option<RuleId> {
        let matches = |id: &RuleId| path.spellings().any(|path| pattern::is_prefix(self.pattern(*id), path));
        self.ids().filter(matches).min_by_key(|id| self.rule(*id).line_number())
    }
}
