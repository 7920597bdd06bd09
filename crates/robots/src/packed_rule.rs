//! A rule in eight bytes.

use std::fmt;

use crate::lines::ROBOTS_BYTES_MAX;

/// The shortest line that is a rule with a pattern, with its line end: `allow:/`.
const RULE_LINE_BYTES_MIN: usize = 8;

/// Number of a rule in its list. A file has room for so many: the last line needs no end.
pub(crate) type RuleId = u16;
const _: () = assert!(ROBOTS_BYTES_MAX / RULE_LINE_BYTES_MIN + 1 < RuleId::MAX as usize);

/// In normal form an octet is three at most.
const PATTERN_START_BITS: u32 = 21;
const _: () = assert!(3 * ROBOTS_BYTES_MAX < 1 << PATTERN_START_BITS);

/// A line has one byte at least, its end.
const LINE_NUMBER_BITS: u32 = 20;
const _: () = assert!(ROBOTS_BYTES_MAX + 1 < 1 << LINE_NUMBER_BITS);

const FRAME_BITS: u32 = 16;

/// One rule: where its pattern begins, the number and the frame of its line, and whether it allows.
#[derive(Clone, Copy)]
pub(crate) struct PackedRule(u64);

impl PackedRule {
    pub(crate) fn new(pattern_start: usize, line_number: u32, frame: u16, allow: bool) -> Self {
        let mut packed = pattern_start as u64;
        packed = packed << LINE_NUMBER_BITS | u64::from(line_number);
        packed = packed << FRAME_BITS | u64::from(frame);
        Self(packed << 1 | u64::from(allow))
    }

    pub(crate) fn allows(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn frame(self) -> usize {
        (self.0 >> 1) as usize & ((1 << FRAME_BITS) - 1)
    }

    pub(crate) fn line_number(self) -> u32 {
        (self.0 >> (1 + FRAME_BITS)) as u32 & ((1 << LINE_NUMBER_BITS) - 1)
    }

    pub(crate) fn pattern_start(self) -> usize {
        (self.0 >> (1 + FRAME_BITS + LINE_NUMBER_BITS)) as usize
    }
}

impl fmt::Debug for PackedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, line, frame) = (self.pattern_start(), self.line_number(), self.frame());
        write!(f, "pattern from {start}, line {line}, frame {frame}, allow: {}", self.allows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_unpacked_as_it_was_packed() {
        for (start, line, frame, allow) in
            [(0, 0, 0, false), (3 * ROBOTS_BYTES_MAX, 500_001, u16::MAX, true), (1, ROBOTS_BYTES_MAX as u32, 7, false)]
        {
            let rule = PackedRule::new(start, line, frame, allow);
            let got = (rule.pattern_start(), rule.line_number(), rule.frame(), rule.allows());
            assert_eq!(got, (start, line, usize::from(frame), allow), "{rule:?}");
        }
    }
}
