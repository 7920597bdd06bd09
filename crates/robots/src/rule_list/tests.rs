//! The tables find what trying every rule finds, and no file makes a decision long or large.

use proptest::prelude::*;
use testkit::robots_files::{Case, cases};

use super::*;
use crate::steps::DECISION_STEPS_MAX;
use crate::{ROBOTS_BYTES_MAX, RobotsTxt};

const BOTH: [Matching; 2] = [Matching::LongestMatch, Matching::FirstMatch];

/// Steps that an ordinary file may take for an ordinary URL.
const EVERYDAY_STEPS_MAX: usize = DECISION_STEPS_MAX / 50;

/// What a file may hold, in bytes a byte of the file, and where it is of letters that are matched as their escapes.
const HEAP_PER_BYTE: usize = 2;
const HEAP_PER_BYTE_ESCAPED: usize = 4;

/// The rules of a file, all groups for us.
fn written(file: &str) -> Vec<WrittenRule<'_>> {
    let lines = (1..).zip(file.lines()).filter_map(|(line_number, line)| {
        let (field, pattern) = line.split_once(':')?;
        let allow = field == "Allow";
        let is_rule = allow || field == "Disallow";
        let (pattern, line) = (pattern.trim().as_bytes(), line.as_bytes());
        is_rule.then_some(WrittenRule { allow, pattern, line, line_number })
    });
    lines.collect()
}

/// The line that decides, after every rule was tried: the list has no tables.
fn by_trying_all(without_index: &RuleList, path: &str, matching: Matching) -> Option<u32> {
    let decided = without_index.decide(&NormalPath::new(path), matching, &mut Steps::without_limit());
    decided.expect("there is no limit").map(|(_, line)| line.line_number)
}

#[test]
fn every_file_is_decided_or_refused_within_the_steps() {
    for Case { name, file, paths, is_decided } in cases() {
        let rules = written(&file);
        let list = RuleList::new(&rules);
        let without_index = RuleList::with_index_above(usize::MAX, &rules);
        let mut refused = false;
        for path in &paths {
            for matching in BOTH {
                let steps = &mut Steps::new();
                let decided = list.decide(&NormalPath::new(path), matching, steps);
                println!("{name}: {matching:?} takes {} steps, refused: {}", steps.taken(), decided.is_err());
                refused |= decided.is_err();
                let Ok(decided) = decided else {
                    assert_eq!(matching, Matching::LongestMatch, "{name}: {path}");
                    continue;
                };
                if name == "an everyday file" {
                    assert!(steps.taken() <= EVERYDAY_STEPS_MAX, "{name}: {} steps for {path}", steps.taken());
                }
                let line = decided.map(|(_, line)| line.line_number);
                assert_eq!(line, by_trying_all(&without_index, path, matching), "{name}: {path}, {matching:?}");
            }
        }
        assert_eq!(refused, !is_decided, "{name}");
    }
}

#[test]
fn a_refusal_says_why() {
    for Case { name, file, paths, .. } in cases().into_iter().filter(|case| !case.is_decided) {
        let decision = RobotsTxt::parse(file.as_bytes(), "argiope").decide(&paths[0], Matching::LongestMatch);
        assert!(!decision.allowed && decision.rule.is_none(), "{name}");
        assert_eq!(decision.reason.to_string(), "robots.txt has more rules to try than are tried", "{name}");
    }
}

#[test]
fn every_file_holds_bounded_memory() {
    for Case { name, file, .. } in cases().into_iter().filter(|case| case.file.len() > ROBOTS_BYTES_MAX / 2) {
        let held = RobotsTxt::parse(file.as_bytes(), "argiope").heap_bytes();
        let per_byte = if file.is_ascii() { HEAP_PER_BYTE } else { HEAP_PER_BYTE_ESCAPED };
        assert!(held <= per_byte * file.len(), "{name}: {held} bytes for {}", file.len());
    }
}

fn files_of_few_letters() -> impl Strategy<Value = String> {
    let part =
        prop::sample::select(vec!["/", "a", "b", "ab", "ba", "*", "*", "$", "%61", "%2F", "%2a", "%24", "?", "&", "ü"]);
    let pattern = prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat());
    let rule = (any::<bool>(), prop::sample::select(vec!["", "/", "*"]), pattern)
        .prop_map(|(allow, first, rest)| format!("{}: {first}{rest}\n", if allow { "Allow" } else { "Disallow" }));
    prop::collection::vec(rule, 0..60).prop_map(|rules| rules.concat())
}

proptest! {
    #[test]
    fn tables_find_what_trying_all_finds(file in files_of_few_letters(), path in "/([/ab*$?&ü]|%2F|%2A|%24|%61|%C3%BC){0,12}") {
        let rules = written(&file);
        let list = RuleList::with_index_above(0, &rules);
        let without_index = RuleList::with_index_above(usize::MAX, &rules);
        for matching in BOTH {
            let steps = &mut Steps::new();
            let decided = list.decide(&NormalPath::new(&path), matching, steps);
            let line = decided.expect("few rules take few steps").map(|(_, line)| line);
            prop_assert_eq!(line.as_ref().map(|line| line.line_number), by_trying_all(&without_index, &path, matching), "{:?}", matching);
            if let Some(line) = line {
                prop_assert_eq!(Some(&*line.text), file.lines().nth(line.line_number as usize - 1), "the line as it is written");
            }
        }
    }
}
