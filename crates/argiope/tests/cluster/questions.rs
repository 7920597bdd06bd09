//! What can be asked of a crawl by one process can be asked of one by several workers.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use testdb::until;
use testkit::ran::argiope;
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid};

/// The same in every table.
const HERE: &[(&str, &str)] = &[
    ("help", "each command has it"),
    ("json", "of `client` itself"),
    ("threads", "the workers compute"),
    ("visited", "the graph of a server has only visited pages"),
];

/// Options, each with a reason.
type Reasons = &'static [(&'static str, &'static str)];

/// Questions: the command, that of `client`, the method of the API, and the options that `client` has not, with the reason or with what to do
/// instead.
const QUESTIONS: &[(&str, &str, &str, Reasons)] = &[
    ("status", "stats", "Stats", &[]),
    ("explain", "explain", "Explain", &[]),
    ("explain", "explain", "ExplainHost", &[]),
    ("report", "report", "Report", &[]),
    (
        "changes",
        "changes",
        "Changes",
        &[
            ("brief", "the answer is brief: pages are read one by one, by `page`"),
            ("follow", "ask again after each round: `watch` tells of them"),
            ("webhook", "of the archive: `argiope changes DIR --webhook`"),
            ("webhook-secret", "the same"),
        ],
    ),
    ("rank", "rank", "PageRank", &[("out", "of the archive: `argiope rank DIR --out`")]),
    ("overlap", "overlap", "Overlap", &[]),
    ("search", "search", "Search", &[("context", "an answer has as much around a text as is good for a list")]),
    ("links", "links", "Links", &[("in", "an answer has both"), ("out", "the same")]),
    ("path", "path", "Path", &[]),
];

/// Changes: the command, that of `client`, and the method of the API.
const CHANGES: &[(&str, &str, &str)] = &[("steer", "steer", "Steer"), ("watch", "watch", "Again")];

/// Commands that ask nothing of a crawl that runs and change nothing of it, with what they are for instead.
const OTHERS: &[(&str, &str)] = &[
    ("crawl", "makes a crawl by one process"),
    ("pages", "the same"),
    ("login", "the same"),
    ("check", "reads the archive: sealed segments, while the crawl runs"),
    ("adopt", "takes files into a crawl by one process"),
    ("derive", "reads the archive"),
    ("export", "reads the archive"),
    ("inspect", "reads one input"),
    ("worker", "is one of the workers"),
    ("testweb", "serves a web"),
    ("server", "is the server"),
    ("client", "asks it"),
    ("ui", "shows both kinds of crawls"),
    ("settings", "is about the program"),
    ("completions", "the same"),
    ("man", "the same"),
    ("help", "the same"),
];

/// The help of a command.
fn help(command: &[&str]) -> String {
    let ran = argiope(&[command, &["--help"]].concat());
    assert_eq!(ran.code, 0, "{command:?}: {}", ran.stderr);
    ran.stdout
}

/// The commands that a help names.
fn commands(help: &str) -> BTreeSet<String> {
    let list = help.split_once("Commands:\n").expect("commands").1.split("\n\n").next().unwrap_or_default();
    let named = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    named.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// The options that a help names.
fn options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.filter_map(|line| {
        let name = line.split_once("--")?.1;
        Some(name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).next()?.to_owned())
    });
    names.collect()
}

#[test]
fn each_command_is_a_question_a_change_or_another_and_client_has_the_questions_with_their_options() {
    let of_questions = QUESTIONS.iter().map(|(command, client, method, _)| (*command, *client, *method));
    let all: Vec<_> = of_questions.chain(CHANGES.iter().copied()).collect();
    let asked: BTreeSet<&str> = all.iter().map(|(command, ..)| *command).collect();
    let others: BTreeSet<&str> = OTHERS.iter().map(|(command, _)| *command).collect();
    let named = commands(&help(&[]));
    let listed: BTreeSet<String> = asked.union(&others).map(|command| (*command).to_owned()).collect();
    assert_eq!(named, listed, "a command is missing here, or is gone");

    let of_client = commands(&help(&["client"]));
    let contract = include_str!("../../../api/proto/argiope/v1/argiope.proto");
    for (_, client, method) in all {
        assert!(of_client.contains(client), "client {client}");
        assert!(contract.contains(&format!("  rpc {method}(")), "{method}");
    }
    for (command, client, _, without) in QUESTIONS {
        let (local, there) = (options(&help(&[command])), options(&help(&["client", client])));
        let left_out: BTreeMap<&str, &str> = without.iter().chain(HERE).copied().collect();
        for option in &local {
            assert!(there.contains(option) || left_out.contains_key(option.as_str()), "{command} --{option}");
        }
        for (option, _) in *without {
            assert!(
                local.contains(*option) && !there.contains(*option),
                "{command} --{option}: `client` has it, or it is gone"
            );
        }
    }
    let changes = |command: &[&str]| commands(&help(command));
    assert_eq!(changes(&["steer"]), changes(&["client", "steer"]));
}

/// Sites of two domains that link to each other.
fn web() -> Web {
    Web::new()
        .site(
            "www.a.test",
            Pages::new().html("/", "<a href=/1>1</a> <a href=http://b.test/>b</a>").html("/1", "<p>one"),
        )
        .site("b.test", Pages::new().html("/", "<a href=http://www.a.test/>a</a> <a href=http://c.b.test/>c</a>"))
        .site("c.b.test", Pages::new().html("/", "<a href=http://www.a.test/1>one</a>"))
}

#[test]
fn a_server_answers_as_the_command_of_the_archive_does() {
    let hosts = ["www.a.test", "b.test", "c.b.test"];
    let lab = Lab::new(Laid::apart(web(), &hosts), &[]);
    let workers = [lab.worker(), lab.worker()];
    lab.served.asked(&["steer", "seeds", "http://www.a.test/", "http://b.test/"]);
    until("all pages", || lab.served.asked(&["stats"])["outcomes"]["html"] == 4);
    lab.served.asked(&["steer", "delay", "3s", "b.test"]);
    let by: Vec<Value> = ["site", "domain"].map(|by| lab.served.asked(&["rank", "--by", by])).into();
    let text = lab.served.client(&["rank", "--by", "domain"]).stdout;
    assert!(text.starts_with("PageRank of 2 domains by 2 links, "), "{text}");
    let refused = lab.served.client(&["rank", "--by", "site", "http://b.test/"]);
    assert_eq!(refused.code, 2, "{refused:?}");

    // Why a host is slow or stopped.
    let story = lab.served.asked(&["explain", "--host", "b.test"]);
    let site = &story["sites"][0];
    assert_eq!(json!([story["host"], site["site"], site["delay_s"]]), json!(["b.test", "http://b.test", 3.0]));
    assert_eq!((&site["outcomes"], &site["pages_fetched"]), (&json!({"html": 1}), &json!(1)), "{site}");
    assert!(site["changes"].to_string().contains("delay b.test=3s"), "{site}");
    let text = lab.served.client(&["explain", "--host", "b.test"]).stdout;
    assert!(text.starts_with("site") && text.contains("3s (--delay-for)") && text.contains("steered"), "{text}");
    let (status, told) = lab.served.post("ExplainHost", &json!({"host": "b.test"}));
    assert_eq!((status, told["text"].as_str()), (200, Some(text.as_str())));
    let unknown = lab.served.client(&["explain", "--host", "nobody.test"]);
    assert!(unknown.code == 0 && unknown.stdout.starts_with("host"), "{unknown:?}");

    // What has changed, as documents.
    let feed = lab.served.client(&["changes", "--since", "1d", "--feed"]).stdout;
    assert!(feed.starts_with("<?xml") && feed.matches("<entry>").count() == 4, "{feed}");
    let page = lab.served.client(&["changes", "--since", "1d", "--html", "--limit", "3"]).stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<article>").count() == 3, "{page}");
    let (status, refused) = lab.served.post("Changes", &json!({"since": 1.0, "document": "pdf"}));
    assert!(status == 400 && refused.to_string().contains("possible are feed, html"), "{refused}");

    // Of the archive the commands say the same, when all is sealed.
    for worker in workers {
        assert_eq!(worker.leave().0, Some(0));
    }
    let dir = lab.shared();
    let dir = dir.to_str().expect("UTF-8");
    for (by, of_server) in ["site", "domain"].into_iter().zip(by) {
        let ran = argiope(&["rank", dir, "--by", by, "--visited", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let of_archive = ran.json();
        let rows = |ranking: &Value, list: &str, name: &str| {
            let rows = ranking[list].as_array().expect("ranks").clone();
            rows.iter().map(|row| json!([row["place"], row["rank"], row[name]])).collect::<Vec<_>>()
        };
        assert_eq!(rows(&of_server, "ranked", "url"), rows(&of_archive, "rows", "name"), "{by}");
    }
    let ran = argiope(&["explain", dir, "b.test", "--json"]);
    assert_eq!((ran.code, &ran.json()["sites"][0]["outcomes"]), (0, &site["outcomes"]), "{ran:?}");
}
