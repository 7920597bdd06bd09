//! `argiope explain`.

use serde_json::{Value, json};

use testkit::crawled::{Crawled, small_site};
use testkit::ran::Ran;
use testweb::{Pages, Reply, Web, from_fn};

/// The value of a label; what follows without a label belongs to it too.
fn values<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
    let mut lines = text.lines().skip_while(|line| line.split("  ").next() != Some(label));
    let first = lines.next().map(|line| line[label.len()..].trim());
    first.into_iter().chain(lines.take_while(|line| line.starts_with("              ")).map(str::trim)).collect()
}

fn rule(story: &Value, name: &str) -> (Value, String) {
    let rules = story["rules"].as_array().expect("rules");
    let rule = rules.iter().find(|rule| rule["rule"] == name).expect(name);
    (rule["allows"].clone(), rule["by"].as_str().expect("words").to_owned())
}

fn text(crawled: &Crawled, what: &str) -> String {
    let Ran { code, stdout, stderr } = crawled.run("explain", &[what]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{what}");
    stdout
}

#[test]
fn a_page_is_told_from_the_seed_to_its_record() {
    let crawled = Crawled::small();
    let told = text(&crawled, "HTTP://small.test:80/./copy#part");
    assert_eq!(values(&told, "url"), ["http://small.test/copy"]);
    assert_eq!(values(&told, "given as"), ["HTTP://small.test:80/./copy#part"]);
    assert_eq!(values(&told, "outcome"), ["duplicate"]);
    assert_eq!(values(&told, "duplicate of"), ["http://small.test/a"]);
    assert_eq!(values(&told, "status"), ["200"]);
    assert_eq!(values(&told, "size"), ["42 bytes"]);
    assert_eq!(values(&told, "title"), ["Twice"]);
    let segment = crawled.segments()[0].display().to_string();
    assert!(values(&told, "stored")[0].starts_with(&format!("{segment} at ")), "{told}");
    let found = "\nFound\n  depth 0   seed        http://small.test/\n  depth 1   link        http://small.test/a\n  \
                 depth 2   link        http://small.test/copy\n";
    assert!(told.contains(found), "{told}");
    let rules = "\nRules now\n  scope   allows   scope host\n  trap    allows   not of a kind that is counted\n  \
                 robots  allows   no rule of robots.txt matches\n";
    assert!(told.ends_with(rules), "{told}");
}

#[test]
fn the_record_is_where_explain_says() {
    let crawled = Crawled::small();
    let (path, offset, length) = crawled.record("/b");
    let record = warc::read_at(path, offset, 1 << 20).expect("a record");
    assert_eq!(record.header.target_uri(), Some("http://small.test/b"));
    assert_eq!(record.location.length, length);
}

#[test]
fn json_has_every_key_always() {
    let crawled = Crawled::small();
    let keys = [
        "given",
        "url",
        "not_crawlable",
        "known",
        "row",
        "found",
        "linked_as",
        "limits",
        "attempts",
        "visits",
        "at",
        "target",
        "record",
        "record_is_missing",
        "content_is_missing",
        "rules",
        "why",
        "changes",
        "changes_earlier",
    ];
    for what in ["http://small.test/", "http://small.test/never-heard-of", "mailto:me@small.test"] {
        let story = crawled.run("explain", &[what, "--json"]).json();
        assert_eq!(story.as_object().expect("an object").keys().collect::<Vec<_>>(), keys, "{what}");
        assert_eq!(story["given"], what);
    }
}

#[test]
fn redirects_and_refusals_name_what_decided() {
    let crawled = Crawled::small();
    let target = json!({"url": "http://small.test/target", "outcome": "html"});
    assert_eq!(crawled.explain("/b")["target"], target);
    let private = crawled.explain("/private/x");
    assert_eq!(rule(&private, "robots"), (json!(false), "line 2: Disallow: /private/".to_owned()));
    assert_eq!(private["record"], Value::Null);
    let trap = crawled.explain("/x/x/x/x/x");
    assert_eq!(rule(&trap, "trap"), (json!(false), "segments of the path repeat more than 3 times".to_owned()));
    let other = crawled.run("explain", &["http://other.test/", "--json"]).json();
    assert_eq!(other["row"]["outcome"], "excluded");
    assert_eq!(rule(&other, "scope"), (json!(false), "out of scope host".to_owned()));
    assert_eq!(rule(&crawled.explain("/"), "scope"), (json!(true), "a seed, or the redirect target of one".to_owned()));
}

#[test]
fn an_unknown_url_is_told_what_would_become_of_it() {
    let crawled = Crawled::with(&["--depth", "3", "--exclude", "*.pdf"]);
    let never = crawled.explain("/never");
    assert_eq!(never["known"], false);
    let why = [
        json!({"kind": "unfound"}),
        json!({"kind": "depth_limit", "max": 3}),
        json!({"kind": "if_found", "refused_by": []}),
    ];
    assert_eq!(never["why"], json!(why));
    let told = text(&crawled, "http://small.test/never");
    let words = [
        "no page, redirect or sitemap that was read leads to it",
        "links of pages at depth 3 are not followed (--depth 3)",
        "if it were found, it would be fetched",
    ];
    assert_eq!(values(&told, "because"), words);
    let refused = crawled.explain("/private/never.pdf");
    assert_eq!(refused["why"][2], json!({"kind": "if_found", "refused_by": ["scope", "robots"]}));
    assert_eq!(rule(&refused, "scope").1, "exclude *.pdf");
    assert_eq!(
        crawled.run("explain", &["https://www.small.test/a/", "--json"]).json()["why"][1],
        json!({"kind": "similar", "url": "http://small.test/a"})
    );
    let mail = text(&crawled, "mailto:me@small.test");
    assert_eq!(values(&mail, "not crawled"), ["the scheme is mailto, not http or https"]);
}

#[test]
fn a_url_in_the_frontier_says_what_it_waits_for() {
    let crawled = Crawled::with(&["--max-pages", "1", "--no-sitemaps"]);
    let story = crawled.explain("/a");
    assert_eq!(story["row"]["outcome"], "frontier");
    let why = story["why"].as_array().expect("reasons");
    assert!(why[0]["kind"] == "queued" || why[0]["kind"] == "next", "{why:?}");
    assert!(why.contains(&json!({"kind": "held", "reason": "crawl_budget", "until": null, "wait_s": null})), "{why:?}");
    assert_eq!(why.last(), Some(&json!({"kind": "not_running"})));
    let told = text(&crawled, "http://small.test/a");
    let goes_on = format!("no crawl is running now: `argiope crawl -o {}` goes on", crawled.dir());
    assert_eq!(values(&told, "waits").last(), Some(&&*goes_on));
    let next = crawled.run("explain", &["small.test", "--json"]).json()["sites"][0]["next"][0].clone();
    let next = crawled.run("explain", &[next.as_str().expect("a URL"), "--json"]).json();
    assert_eq!(next["why"][0], json!({"kind": "next"}));
}

#[test]
fn text_from_the_web_cannot_command_the_terminal() {
    let crawled = Crawled::small();
    for arguments in [&["http://small.test/"][..], &["http://small.test/", "--json"], &["http://x/\u{1b}[31m"]] {
        let told = crawled.run("explain", arguments).stdout;
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told:?}");
    }
    assert_eq!(values(&text(&crawled, "small.test/"), "title"), [r"\u{1b}[31mred\u{202e} title"]);
}

#[test]
fn a_host_is_told_site_by_site() {
    let crawled = Crawled::small();
    let told = text(&crawled, "small.test");
    assert_eq!(values(&told, "site"), ["http://small.test"]);
    assert_eq!(values(&told, "now"), ["nothing is left to do here"]);
    assert_eq!(values(&told, "address"), ["127.0.0.1"]);
    let robots = values(&told, "robots.txt");
    assert!(robots[0].starts_with("status 200, 20"), "{told}");
    assert_eq!(robots[1], "1 rule for us, Crawl-delay 7s");
    assert_eq!(values(&told, "delay"), ["0s (--delay)"], "--max-crawl-delay 0 is in force");
    assert_eq!(values(&told, "fetched"), ["6 pages", "1 sitemap"]);
    let expect = "binary 1, disallowed 1, duplicate 1, html 4, http_error 1, redirect 1, trap 1";
    assert_eq!(values(&told, "URLs"), [expect]);

    let other = crawled.run("explain", &["other.test", "--json"]).json();
    assert_eq!(other["sites"][0]["outcomes"], json!({"excluded": 1}));
    assert_eq!(other["sites"][0]["robots"]["answer"], Value::Null);
    let nowhere = crawled.run("explain", &["https://nowhere.test", "--json"]).json();
    assert_eq!(nowhere["sites"], json!([]));
    let root = json!({"kind": "root", "url": "https://nowhere.test/", "excluded_by": "out of scope host"});
    assert_eq!(nowhere["why"], json!([{"kind": "unknown_host"}, root]));
}

#[test]
fn a_crawl_delay_and_a_spent_budget_hold_a_site_up() {
    let crawled = Crawled::with(&["--max-pages-per-site", "2", "--max-crawl-delay", "20ms"]);
    let site = crawled.run("explain", &["http://small.test", "--json"]).json()["sites"][0].clone();
    let spent = json!({"kind": "held", "reason": "site_budget", "until": null, "wait_s": null});
    assert_eq!(site["why"], json!([spent]));
    assert_eq!(site["delay_s"], 0.02);
    assert_eq!(site["delay_rule"], json!({"rule": "crawl_delay_max", "asked_s": 7.0}));
    let told = text(&crawled, "http://small.test");
    assert_eq!(values(&told, "delay")[0], "20ms (Crawl-delay 7s in robots.txt, cut to --max-crawl-delay)");
    assert_eq!((&site["pages_fetched"], &site["pages_max"]), (&json!(2), &json!(2)));
}

#[test]
fn lines_of_robots_txt_that_cannot_be_read_are_told() {
    let file = "User-agent: *\nCrawl-delay: 1_0 \u{1b}[31m\nDisallow: private\nDisallow: /private\n";
    let web = Web::new().site("small.test", Pages::new().text("/robots.txt", file).html("/", "<p>home"));
    let crawled = Crawled::of(web, "http://small.test/", &[]);
    let told = text(&crawled, "small.test");
    let robots = values(&told, "robots.txt");
    let expect = [
        "2 rules for us",
        "not read: line 2: Crawl-delay: 1_0 \u{fffd}[31m (no number of seconds, and no unit that is known)",
        "not read: line 3: Disallow: private (begins with neither / nor *, so it matches no path)",
    ];
    assert_eq!(robots[1..4], expect, "{told}");
    let robots = crawled.run("explain", &["small.test", "--json"]).json()["sites"][0]["robots"].clone();
    assert_eq!((&robots["crawl_delay_s"], &robots["unread_more"]), (&Value::Null, &json!(0)));
    let reason = "begins with neither / nor *, so it matches no path";
    assert_eq!(robots["unread"][1], json!({"line_number": 3, "line": "Disallow: private", "reason": reason}));
}

#[test]
fn a_site_without_robots_txt_to_be_had_says_so() {
    let web = Web::new().site("small.test", from_fn(|_| Reply::error(503, "/robots.txt")));
    let crawled = Crawled::of(web, "http://small.test/", &[]);
    let told = text(&crawled, "small.test");
    let robots = values(&told, "robots.txt");
    assert!(robots[0].starts_with("status 503, 20"), "{told}");
    assert!(told.contains("the site is in trouble (robots.txt: status 503): this is wait 1 of 12"), "{told}");
    let url = crawled.explain("/");
    assert_eq!(url["row"]["outcome"], "frontier");
    assert_eq!(rule(&url, "robots"), (Value::Null, "robots.txt: status 503".to_owned()));
}

#[test]
fn trap_rules_near_their_limits_are_shown() {
    let site = small_site().html("/", (0..9).map(|n| format!("<a href=/list?page={n}>{n}</a>")).collect::<String>());
    let list = |n: u32| (format!("/list?page={n}"), "<p>The same list".to_owned());
    let site = (0..9).map(list).fold(site, |site, (target, body)| site.html(target, body));
    let crawled =
        Crawled::of(Web::new().site("small.test", site), "http://small.test/", &["--max-simple-queries-per-path", "8"]);
    let site = crawled.run("explain", &["small.test", "--json"]).json()["sites"][0].clone();
    let near = &site["near_limits"][0];
    assert_eq!(
        (&near["fetched"], &near["max"], &near["rule"]),
        (&json!(8), &json!(8), &json!("more than 8 queries on one path that bring nothing new"))
    );
    let refused = crawled.explain("/list?page=77");
    assert_eq!(
        rule(&refused, "trap"),
        (json!(false), "more than 8 queries on one path that bring nothing new".to_owned())
    );
}

/// Four numbers that are counted up without end, a page for each. All say the same.
fn endless() -> Web {
    let same: String =
        (b'a'..=b'z').map(|letter| format!("<p>{} ", char::from(letter).to_string().repeat(7))).collect();
    let page = move |request: &testweb::Request| {
        let own: Option<u32> = request.path().trim_start_matches("/endless/").parse().ok();
        let next = own.map_or_else(|| vec![1_000, 2_000, 3_000, 4_000], |own| vec![own + 1]);
        let links: String = next.iter().map(|next| format!("<a href=/endless/{next}>more</a>")).collect();
        Reply::html(format!("<title>{own:?}</title>{same}{links}"))
    };
    Web::new().site("small.test", from_fn(page))
}

#[test]
fn a_part_of_a_site_that_brings_only_more_of_itself_says_so_before_and_after_it_ends() {
    const SEED: &str = "http://small.test/endless/";
    let flags = ["--low-yield-window", "16", "--max-low-yield-pages", "100"];
    let crawled = Crawled::of(endless(), SEED, &[&flags[..], &["--max-pages", "90"]].concat());
    let waiting = crawled.run("export", &["jsonl", "--outcome", "frontier"]).stdout;
    let waiting: Value = serde_json::from_str(waiting.lines().last().expect("one waits")).expect("JSON");
    let story = crawled.run("explain", &[waiting["url"].as_str().expect("a URL"), "--json"]).json();
    let (allows, by) = rule(&story, "trap");
    let so_far = by.strip_prefix("/endless/ seems to bring only more of itself: ").expect(&by);
    let fetched: u32 = so_far.strip_suffix(" of at most 100 pages so far").expect(&by).parse().expect("a number");
    assert!(allows == json!(true) && (16..=90).contains(&fetched), "{by}");
    let waits = json!({"kind": "low_yield", "group": "/endless/"});
    assert!(story["why"].as_array().expect("reasons").contains(&waits), "{story}");

    // It goes on, and fetches what is left of the share, not another one.
    assert_eq!(crawled.crawl(&["--max-pages", "100000"]).code, 0);
    let status = crawled.run("status", &["--json"]).json();
    let (pages, left_out) = (status["fetched"].as_u64(), status["limits"]["low_yield"].as_u64());
    assert!(pages < Some(90 + 100) && left_out == Some(4) && status["frontier"] == 0, "{status}");
    let reason = "/endless/ brings only more of itself: more than 100 pages";
    assert_eq!(rule(&crawled.explain("/endless/new"), "trap"), (json!(false), reason.to_owned()));
    let site = crawled.run("explain", &["small.test", "--json"]).json()["sites"][0].clone();
    assert_eq!((&site["near_limits"][0]["rule"], &site["near_limits"][0]["max"]), (&json!(reason), &json!(100)));
    let report = crawled.run("report", &[]).stdout;
    assert!(report.contains("URLs not fetched by --max-low-yield-pages, nor what lies behind"), "{report}");
}
