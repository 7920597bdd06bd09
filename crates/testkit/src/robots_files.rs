//! robots.txt files that are large, or made to be slow, and URLs to ask about. For the benchmark and for the test of the steps.

use std::collections::HashSet;
use std::fmt::Write;

use robots::ROBOTS_BYTES_MAX;

/// The longest path with query that a URL of the crawler has, in bytes.
const PATH_BYTES_MAX: usize = 2_030;

/// A file and what is asked of it.
pub struct Case {
    /// What it is, in a few words.
    pub name: &'static str,
    /// The file.
    pub file: String,
    /// The paths.
    pub paths: Vec<String>,
    /// Whether every decision by longest match is made; else some are refused for their number of steps.
    pub is_decided: bool,
}

/// All of them.
pub fn cases() -> Vec<Case> {
    let random = &mut Random(1);
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['-', '_']).collect();
    let some =
        |random: &mut Random, len| -> String { (0..len).map(|_| letters[random.below(letters.len())]).collect() };
    let bits = |random: &mut Random, len| -> String { (0..len).map(|_| ['a', 'b'][random.below(2)]).collect() };
    let any_path = format!("/{}", some(random, PATH_BYTES_MAX));
    let only_a = format!("/{}", "a".repeat(PATH_BYTES_MAX));
    let only_stars = format!("/{}", "*".repeat(PATH_BYTES_MAX));
    let stray_percents = format!("/{}?%2F{}", "%".repeat(10), "%".repeat(PATH_BYTES_MAX - 20));
    // Each letter once: of two letters in a rule, half the rules have them in the other order.
    let each_letter_once = format!("/{}", letters.iter().collect::<String>());
    let all_bits = format!(
        "/{}",
        (0..PATH_BYTES_MAX / 12).map(|n| format!("{n:012b}")).collect::<String>().replace('0', "a").replace('1', "b")
    );
    let case = |name, file, paths: &[&String]| Case {
        name,
        file,
        paths: paths.iter().map(|path| (*path).clone()).collect(),
        is_decided: true,
    };
    let refused = |name, file, paths: &[&String]| Case { is_decided: false, ..case(name, file, paths) };
    vec![
        everyday(),
        shop(),
        case("one rule 36,570 times", of_rules(|_| "*abb".to_owned()), &[&any_path, &only_a, &stray_percents]),
        case(
            "36,570 pieces",
            of_rules(|random| format!("*{}", some(random, 3))),
            &[&any_path, &only_a, &stray_percents],
        ),
        case(
            "31,999 pieces behind a slash",
            of_rules(|random| format!("/*{}", some(random, 4))),
            &[&any_path, &stray_percents],
        ),
        case("31,999 pieces at the end", of_rules(|random| format!("/*{}$", some(random, 3))), &[&any_path]),
        case("nested pieces, all in the URL", nested("*a"), &[&only_a, &any_path]),
        refused(
            "nested pieces, half of them in the URL",
            nested("*a"),
            &[&format!("/{}", format!("{}b", "a".repeat(500)).repeat(4))],
        ),
        case("28,443 prefixes", of_rules(|random| format!("/{}", some(random, 7))), &[&any_path, &only_a]),
        case("nested prefixes", nested("/a"), &[&only_a, &format!("/{}", "a".repeat(500))]),
        case("prefixes of stars", nested_stars(), &[&only_stars, &only_a]),
        case(
            "prefixes of two kilobytes",
            of_rules(|random| format!("/{}{}", "a".repeat(1_990), bits(random, 12))),
            &[&only_a],
        ),
        refused(
            "two long beginnings",
            of_rules(|random| format!("/{}{}*{}", bits(random, 1), "a".repeat(60), bits(random, 16))),
            &[&only_a],
        ),
        refused("long pieces of two letters", of_rules(|random| format!("*{}", bits(random, 20))), &[&all_bits]),
        refused(
            "pieces in the wrong order",
            of_rules(|random| format!("*{}", wrong_order(random, &letters))),
            &[&each_letter_once],
        ),
        case(
            "one rule of 500 kB",
            format!("User-agent: *\nDisallow:{}\n", "*a".repeat(250_000)),
            &[&only_a, &any_path],
        ),
        case(
            "one rule of stars",
            format!("User-agent: *\nDisallow:/{}b\n", "*".repeat(500_000)),
            &[&only_a, &any_path],
        ),
        refused(
            "500 rules of 500 stars",
            of_rules(|random| format!("{}*{}*b", "*a".repeat(500), some(random, 2))),
            &[&format!("/{}{}", &any_path[..1_000], "a".repeat(900))],
        ),
        case("words outside ASCII", of_rules(|random| format!("/{}", greek(random, 100))), &[&any_path]),
        case("letters outside ASCII", of_rules(|random| format!("/{}", greek(random, 3))), &[&any_path]),
        case("escapes in small letters", of_rules(|random| format!("/%ce%b1{}", some(random, 3))), &[&any_path]),
    ]
}

fn greek(random: &mut Random, len: usize) -> String {
    (0..len).filter_map(|_| char::from_u32(0x391 + random.below(60) as u32)).collect()
}

fn wrong_order(random: &mut Random, letters: &[char]) -> String {
    let mut places = [random.below(letters.len()), random.below(letters.len()), random.below(letters.len())];
    places.sort_unstable();
    places.iter().rev().map(|place| letters[*place].to_string()).collect::<Vec<_>>().join("*")
}

/// As files in use are: groups for others, some wildcards, some comments.
fn everyday() -> Case {
    let mut file = "User-agent: BadBot\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 1\n# Accounts\n".to_owned();
    for name in ["account", "admin", "api", "basket", "cgi-bin", "checkout", "download", "internal", "login", "search"]
    {
        for part in ["", "edit/", "list/", "new/"] {
            _ = writeln!(file, "Disallow: /{name}/{part}");
        }
    }
    file += "Allow: /api/docs/\n# Printed pages and sessions\n";
    for parameter in ["print", "session_id", "sort", "order", "page_size", "utm_source", "replytocom", "share"] {
        _ = writeln!(file, "Disallow: /*?{parameter}=\nDisallow: /*&{parameter}=");
    }
    file += "Disallow: /*.cgi$\nDisallow: /*/feed/$\nAllow: /*.css$\nSitemap: https://www.example.com/sitemap.xml\n";
    let paths =
        ["/articles/2024/05/the-title-of-an-article.html", "/shop/list?page=3&sort=price&size=42", "/api/docs/start"];
    Case { name: "an everyday file", file, paths: paths.map(str::to_owned).into(), is_decided: true }
}

/// A large shop with a rule for each parameter of its filters, about as long as such files come.
fn shop() -> Case {
    let mut file = "User-agent: *\n".to_owned();
    for filter in 0..3_000 {
        _ = writeln!(file, "Disallow: /*?*filter[attribute_{filter}]=");
        _ = writeln!(file, "Disallow: /category-{filter}/*/sort/");
        _ = writeln!(file, "Disallow: /product/{filter}/reviews/");
    }
    let paths = [
        "/category-17/shoes/red?page=3&filter[attribute_42]=7&sort=price",
        "/product/1234/red-shoes-of-leather.html",
        "/category-2999/a/b/c/sort/price",
    ];
    Case { name: "a shop with 9,000 rules", file, paths: paths.map(str::to_owned).into(), is_decided: true }
}

/// A file full of different rules (or the same ones, if `pattern` runs out of them).
fn of_rules(mut pattern: impl FnMut(&mut Random) -> String) -> String {
    let (mut file, random, mut known) = ("User-agent: *\n".to_owned(), &mut Random(2), HashSet::new());
    loop {
        let line = (0..10).map(|_| pattern(random)).find(|pattern| known.insert(pattern.clone()));
        let line = format!("Disallow:{}\n", line.unwrap_or_else(|| pattern(random)));
        if file.len() + line.len() > ROBOTS_BYTES_MAX {
            return file;
        }
        file += &line;
    }
}

/// Each rule one `a` longer than the one before, as many as there is room for.
fn nested(first: &str) -> String {
    let mut pattern = first.to_owned();
    of_rules(|_| {
        pattern.push('a');
        pattern.clone()
    })
}

/// The same with stars, some of them written as themselves.
fn nested_stars() -> String {
    let mut pattern = "/".to_owned();
    of_rules(|random| {
        pattern += ["*", "%2A"][random.below(2)];
        pattern.clone()
    })
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}
