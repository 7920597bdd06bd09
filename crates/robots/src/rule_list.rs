//! The Allow and Disallow rules of one group, each once, the one that wins first.

use crate::decision::{DecidingLine, Matching};
use crate::gram_table::{GramTable, RuleSet};
use crate::line_frames::{FrameCollector, LineFrames};
use crate::normal_form::NormalPath;
use crate::packed_rule::RuleId;
use crate::pattern::{self, Shape};
use crate::prefix_table::{Key, PrefixTable};
use crate::rules::Rules;
pub(crate) use crate::rules::WrittenRule;
use crate::steps::{Steps, StepsExceeded};

#[cfg(test)]
mod tests;

/// So many rules are considered one by one, which needs no tables.
const RULES_WITHOUT_INDEX_MAX: usize = 16;

/// The rules of a group, ready to decide.
#[derive(Debug, Default)]
pub(crate) struct RuleList {
    rules: Rules,
    frames: LineFrames,
    index: Option<Box<Index>>,
    lines: u32,
}

/// What finds the rules that may match, where there are too many to try them all.
#[derive(Debug)]
struct Index {
    literals: PrefixTable,
    pieces: GramTable,
    /// All rules for [`Matching::FirstMatch`]. Without special characters anywhere this is the same table as `literals`.
    plain: Option<PrefixTable>,
}

impl RuleList {
    /// Compiles the rules of a group, in the order of the file. A rule without a pattern matches nothing and is left out:
    /// `Disallow:` forbids nothing. Takes time linear in the text, and n log n.
    pub(crate) fn new(written: &[WrittenRule<'_>]) -> Self {
        Self::with_index_above(RULES_WITHOUT_INDEX_MAX, written)
    }

    fn with_index_above(rules_without_index_max: usize, written: &[WrittenRule<'_>]) -> Self {
        let mut frames = FrameCollector::new();
        let rules = Rules::new(written, &mut frames);
        let index = (rules.len() > rules_without_index_max).then(|| Box::new(Index::new(&rules)));
        let lines = written.iter().filter(|rule| !rule.pattern.is_empty()).count();
        Self { rules, frames: frames.finish(), index, lines: u32::try_from(lines).unwrap_or(u32::MAX) }
    }

    /// How many lines with a pattern there are, all of them counted.
    pub(crate) fn lines(&self) -> usize {
        self.lines as usize
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rules.heap_bytes() + self.frames.heap_bytes() + self.index.as_ref().map_or(0, |index| index.heap_bytes())
    }

    /// The rule that decides about `path`: whether it allows, and its line.
    pub(crate) fn decide(
        &self,
        path: &NormalPath<'_>,
        matching: Matching,
        steps: &mut Steps,
    ) -> Result<Option<(bool, DecidingLine)>, StepsExceeded> {
        let id = match (matching, &self.index) {
            (Matching::LongestMatch, None) => self.rules.longest_match(self.rules.ids(), path, steps)?,
            (Matching::LongestMatch, Some(index)) => index.longest_match(&self.rules, path, steps)?,
            (Matching::FirstMatch, None) => self.rules.first_match(path),
            (Matching::FirstMatch, Some(index)) => index.first_match(&self.rules, path, steps)?,
        };
        Ok(id.map(|id| {
            let rule = self.rules.rule(id);
            let text = self.frames.line(rule.frame(), self.rules.pattern(id));
            (rule.allows(), DecidingLine { line_number: rule.line_number(), text })
        }))
    }
}

impl Index {
    fn new(rules: &Rules) -> Self {
        let of_shape = |shape| rules.ids().filter(move |id| rules.shape(*id) == shape);
        let pieces: Vec<RuleId> = of_shape(Shape::Pieces).collect();
        let has_special = |id| rules.pattern(id).iter().any(|octet| pattern::is_special(*octet));
        let in_plain_table = |id: &RuleId| rules.pattern(*id).first() == Some(&b'/');
        let plain = rules
            .ids()
            .any(has_special)
            .then(|| PrefixTable::new(rules.ids().filter(in_plain_table), rules, Key::Plain));
        Self {
            literals: PrefixTable::new(of_shape(Shape::Literal), rules, Key::Literal),
            pieces: GramTable::new(&pieces, rules),
            plain,
        }
    }

    fn longest_match(
        &self,
        rules: &Rules,
        path: &NormalPath<'_>,
        steps: &mut Steps,
    ) -> Result<Option<RuleId>, StepsExceeded> {
        let mut best: Option<RuleId> = None;
        for spelling in path.spellings() {
            self.literals.each_prefix(spelling, rules, steps, |id| {
                if best.is_none_or(|best| id < best) && pattern::literal_matches(rules.pattern(id), spelling) {
                    best = Some(id);
                }
            })?;
        }
        let mut better = RuleSet::below(best.map_or(rules.len(), usize::from));
        for spelling in path.spellings() {
            self.pieces.find(spelling, &mut better, steps)?;
        }
        Ok(rules.longest_match(better.iter(), path, steps)?.or(best))
    }

    fn first_match(
        &self,
        rules: &Rules,
        path: &NormalPath<'_>,
        steps: &mut Steps,
    ) -> Result<Option<RuleId>, StepsExceeded> {
        let mut first: Option<RuleId> = None;
        let line_number = |id| rules.rule(id).line_number();
        for spelling in path.spellings() {
            self.plain.as_ref().unwrap_or(&self.literals).each_prefix(spelling, rules, steps, |id| {
                if first.is_none_or(|first| line_number(id) < line_number(first)) {
                    first = Some(id);
                }
            })?;
        }
        Ok(first)
    }

    fn heap_bytes(&self) -> usize {
        let plain = self.plain.as_ref().map_or(0, PrefixTable::heap_bytes);
        size_of::<Self>() + self.literals.heap_bytes() + self.pieces.heap_bytes() + plain
    }
}
