//! What holds for every file and every path, checked on random ones.

use proptest::prelude::*;
use robots::{Matching, RobotsTxt};

const BOTH: [Matching; 2] = [Matching::LongestMatch, Matching::FirstMatch];

/// A rule of the naive reference: allow, pattern.
type Rule = (bool, String);

/// Whether `pattern` matches `path`, by trying everything. No percent-encoding.
fn reference_matches(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        [b'$'] => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|skip| reference_matches(rest, &path[skip..])),
        [octet, rest @ ..] => path.first() == Some(octet) && reference_matches(rest, &path[1..]),
    }
}

/// The verdict and the line of the rule that makes it, as RFC 9309 §2.2.2 words it.
fn reference_decides(rules: &[Rule], path: &str, matching: Matching) -> (bool, Option<usize>) {
    let mut candidates = rules.iter().enumerate().filter(|(_, (_, pattern))| !pattern.is_empty());
    let decides = match matching {
        Matching::FirstMatch => candidates.find(|(_, (_, pattern))| path.starts_with(pattern.as_str())),
        Matching::LongestMatch => candidates
            .filter(|(_, (_, pattern))| reference_matches(pattern.as_bytes(), path.as_bytes()))
            .max_by_key(|(index, (allow, pattern))| (pattern.len(), *allow, std::cmp::Reverse(*index))),
    };
    decides.map_or((true, None), |(index, (allow, _))| (*allow, Some(index + 2)))
}

/// The special characters of a pattern in normal form.
const ANY: u8 = 1;
const END: u8 = 2;

/// The normal form of a path or pattern, octet by octet, as its rules are worded. `special` is for patterns, `decode` for `/` and `?` of the query.
fn reference_form(written: &str, special: bool, decode: bool) -> Vec<u8> {
    let mut form = Vec::new();
    let mut in_query = false;
    let mut rest = written.as_bytes();
    while let Some((&octet, after)) = rest.split_first() {
        let escape = after.get(..2).and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        let escape = escape.filter(|_| octet == b'%' && after[..2].iter().all(u8::is_ascii_hexdigit));
        rest = if escape.is_some() { &after[2..] } else { after };
        let is_unreserved = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
        match escape {
            None if special && octet == b'*' => form.push(ANY),
            None if special && octet == b'$' && rest.is_empty() => form.push(END),
            None if is_unreserved(octet) || b":/?[]@!$&'()*+,;=".contains(&octet) => form.push(octet),
            Some(octet) if is_unreserved(octet) || b":@!'(),[]*$".contains(&octet) => form.push(octet),
            Some(octet @ (b'/' | b'?')) if in_query && decode => form.push(octet),
            _ => form.extend(format!("%{:02X}", escape.unwrap_or(octet)).bytes()),
        }
        in_query |= escape.is_none() && octet == b'?';
    }
    form
}

/// Whether a pattern in normal form matches a path in normal form, by trying everything.
fn reference_form_matches(pattern: &[u8], path: &[u8], matching: Matching) -> bool {
    match (pattern, matching) {
        ([], _) => true,
        ([END], Matching::LongestMatch) => path.is_empty(),
        ([ANY, rest @ ..], Matching::LongestMatch) => {
            (0..=path.len()).any(|skip| reference_form_matches(rest, &path[skip..], matching))
        }
        ([octet, rest @ ..], _) => {
            let octet = if *octet == ANY {
                b'*'
            } else if *octet == END {
                b'$'
            } else {
                *octet
            };
            path.first() == Some(&octet) && reference_form_matches(rest, &path[1..], matching)
        }
    }
}

/// The same verdict as [`reference_decides`], with percent-encoding: a rule may match either spelling of the query's delimiters.
fn reference_decides_encoded(rules: &[Rule], path: &str, matching: Matching) -> (bool, Option<usize>) {
    let spellings = [true, false].map(|decode| reference_form(path, false, decode));
    let candidates = rules.iter().enumerate().filter(|(_, (_, pattern))| !pattern.is_empty());
    let forms = candidates.map(|(index, (allow, pattern))| (index, *allow, reference_form(pattern, true, true)));
    let mut matching_rules =
        forms.filter(|(_, _, form)| spellings.iter().any(|path| reference_form_matches(form, path, matching)));
    let decides = match matching {
        Matching::FirstMatch => matching_rules.next(),
        Matching::LongestMatch => {
            matching_rules.max_by_key(|(index, allow, form)| (form.len(), *allow, std::cmp::Reverse(*index)))
        }
    };
    decides.map_or((true, None), |(index, allow, _)| (allow, Some(index + 2)))
}

/// Enough of them that some files are tried rule by rule, and some have tables.
fn encoded_rules() -> impl Strategy<Value = Vec<Rule>> {
    let parts = vec![
        "/", "a", "b", "*", "*", "$", "%61", "%2F", "%2f", "%3F", "%2A", "%24", "%26", "?", "&", "%", "ü", "%c3",
        "%C3%BC",
    ];
    let pattern = prop::collection::vec(prop::sample::select(parts), 0..6).prop_map(|parts| parts.concat());
    let pattern =
        (prop::sample::select(vec!["", "/", "/", "*"]), pattern).prop_map(|(first, rest)| first.to_owned() + &rest);
    prop::collection::vec((any::<bool>(), pattern), 0..40)
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec((any::<bool>(), "/?[/ab*$]{0,6}"), 0..40)
}

fn file_of(rules: &[Rule], line_end: &str) -> String {
    let mut file = format!("User-agent: *{line_end}");
    for (allow, pattern) in rules {
        let field = if *allow { "Allow" } else { "Disallow" };
        file += &format!("{field}: {pattern}{line_end}");
    }
    file
}

/// Lines that look like a robots.txt, so that random files reach beyond the first colon.
fn almost_robots_txt() -> impl Strategy<Value = Vec<u8>> {
    let field = prop::sample::select(vec![
        "User-agent:",
        "Disallow:",
        "Allow:",
        "Crawl-delay:",
        "Sitemap:",
        "disallow",
        "#",
        "",
    ]);
    let value = prop_oneof![
        Just(b"*".to_vec()),
        Just(b"argiope".to_vec()),
        "[/a-c*$%0-9?&#. ]{0,20}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    let end = prop::sample::select(vec!["\n", "\r", "\r\n"]);
    let line = (field, value, end).prop_map(|(field, value, end)| [field.as_bytes(), &value, end.as_bytes()].concat());
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn no_bytes_and_no_path_panic(body in prop::collection::vec(any::<u8>(), 0..2_000), token in ".{0,10}", path in ".{0,50}") {
        let robots = RobotsTxt::parse(&body, &token);
        for matching in BOTH {
            let _ = robots.decide(&path, matching);
        }
    }

    #[test]
    fn every_decision_names_a_line_of_the_file(body in almost_robots_txt(), path in "/[a-c*$%0-9?&/]{0,20}") {
        let robots = RobotsTxt::parse(&body, "argiope");
        prop_assert_eq!(robots::sitemaps(&body), robots.sitemaps());
        let text = String::from_utf8_lossy(&body).replace("\r\n", "\n").replace('\r', "\n");
        for matching in BOTH {
            let decision = robots.decide(&path, matching);
            match decision.rule {
                None => prop_assert!(decision.allowed),
                Some(line) => {
                    let in_file = text.split('\n').nth(line.line_number as usize - 1).unwrap_or_default();
                    prop_assert!(in_file.to_ascii_lowercase().contains(if decision.allowed { "allow" } else { "disallow" }), "{line}");
                    prop_assert_eq!(in_file.chars().count() >= line.text.chars().count(), true);
                }
            }
        }
        prop_assert!(robots.crawl_delay().is_none_or(|delay| delay <= robots::CRAWL_DELAY_MAX));
    }

    #[test]
    fn decisions_equal_those_of_the_naive_reference(rules in rules(), path in "/[/ab*$]{0,8}") {
        let robots = RobotsTxt::parse(file_of(&rules, "\n").as_bytes(), "argiope");
        for matching in BOTH {
            let decision = robots.decide(&path, matching);
            let got = (decision.allowed, decision.rule.map(|line| line.line_number as usize));
            prop_assert_eq!(got, reference_decides(&rules, &path, matching), "{:?}", matching);
        }
    }

    #[test]
    fn decisions_equal_those_of_the_naive_reference_with_escapes(
        rules in encoded_rules(),
        path in "/([/ab*$?&%ü]|%61|%2F|%3f|%2A|%24|%26|%C3%bc){0,8}",
    ) {
        let robots = RobotsTxt::parse(file_of(&rules, "\n").as_bytes(), "argiope");
        for matching in BOTH {
            let decision = robots.decide(&path, matching);
            let got = (decision.allowed, decision.rule.map(|line| line.line_number as usize));
            prop_assert_eq!(got, reference_decides_encoded(&rules, &path, matching), "{:?}", matching);
        }
    }

    #[test]
    fn line_ends_and_comments_change_nothing(rules in rules(), path in "/[/ab*$]{0,8}") {
        let plain = RobotsTxt::parse(file_of(&rules, "\n").as_bytes(), "argiope");
        for line_end in ["\r", "\r\n", " # comment\n", "\t\r\n"] {
            let varied = RobotsTxt::parse(file_of(&rules, line_end).as_bytes(), "argiope");
            for matching in BOTH {
                let (one, other) = (plain.decide(&path, matching), varied.decide(&path, matching));
                prop_assert_eq!(one.allowed, other.allowed);
                prop_assert_eq!(one.rule.map(|line| line.line_number), other.rule.map(|line| line.line_number));
            }
        }
    }

    #[test]
    fn escaping_any_octet_that_delimits_nothing_changes_nothing(rules in rules(), path in "/[/ab*$]{0,8}", mask in any::<u16>()) {
        let robots = RobotsTxt::parse(file_of(&rules, "\n").as_bytes(), "argiope");
        let escaped: String = path
            .bytes()
            .enumerate()
            .map(|(i, octet)| if octet != b'/' && mask >> i & 1 == 1 { format!("%{octet:02x}") } else { char::from(octet).to_string() })
            .collect();
        for matching in BOTH {
            prop_assert_eq!(robots.decide(&path, matching), robots.decide(&escaped, matching), "{}", escaped);
        }
    }
}
