//! What `argiope client` and the interface have in common, command by command and screen by screen.

/// Where the interface has what a command of `argiope client` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// On the screen with this path.
    Screen(&'static str),
    /// Nowhere, for a reason.
    Missing(&'static str),
}

use Counterpart::{Missing, Screen};

const OF_A_CLUSTER: &str = "the crawl of a directory has one worker";
const BEGINS_A_RUN: &str = "the interface begins no run";

/// The commands of `argiope client`, and where the interface has the same. A test of the command fails if one is not here.
pub const COMMANDS: [(&str, Counterpart); 29] = [
    ("workers", Missing(OF_A_CLUSTER)),
    ("crawl", Missing("seeds are added, but nothing waits for their pages")),
    ("add-seeds", Screen("/steer")),
    ("domains", Missing(OF_A_CLUSTER)),
    ("overlap", Screen("/graph/overlap")),
    ("rank", Screen("/graph/rank")),
    ("search", Screen("/search")),
    ("links", Screen("/url")),
    ("path", Screen("/graph/path")),
    ("picture", Screen("/graph")),
    ("report", Screen("/report")),
    ("explain", Screen("/url")),
    ("row", Screen("/url/row")),
    ("record", Screen("/url/record")),
    ("page-picture", Screen("/url/picture")),
    ("copies", Screen("/url/copies")),
    ("urls", Screen("/urls")),
    ("changes", Screen("/changes")),
    ("again", Missing(BEGINS_A_RUN)),
    ("watch", Missing(BEGINS_A_RUN)),
    ("freshness", Screen("/")),
    ("stats", Screen("/")),
    ("history", Screen("/")),
    ("steer", Screen("/steer")),
    ("journal", Screen("/steer")),
    ("undo", Screen("/steer")),
    ("pause", Screen("/steer")),
    ("resume", Screen("/steer")),
    ("drain", Missing(OF_A_CLUSTER)),
];

/// The same for the interface to a server.
pub const OF_SERVER: [(&str, Counterpart); 29] = [
    ("workers", Screen("/workers")),
    ("crawl", Screen("/steer")),
    ("add-seeds", Screen("/steer")),
    ("domains", Screen("/sites")),
    ("overlap", Screen("/graph/overlap")),
    ("rank", Screen("/graph/rank")),
    ("search", Screen("/search")),
    ("links", Screen("/url")),
    ("path", Screen("/graph/path")),
    ("picture", Screen("/graph")),
    ("report", Screen("/report")),
    ("explain", Screen("/url")),
    ("row", Screen("/url/row")),
    ("record", Screen("/url/record")),
    ("page-picture", Screen("/url/picture")),
    ("copies", Screen("/url/copies")),
    ("urls", Screen("/urls")),
    ("changes", Screen("/changes")),
    ("again", Screen("/steer")),
    ("watch", Screen("/steer")),
    ("freshness", Screen("/freshness")),
    ("stats", Screen("/")),
    ("history", Screen("/")),
    ("steer", Screen("/steer")),
    ("journal", Screen("/steer")),
    ("undo", Screen("/steer")),
    ("pause", Screen("/steer")),
    ("resume", Screen("/steer")),
    ("drain", Screen("/workers")),
];

/// The screens that no command of `argiope client` has, with what has the same.
pub const SCREENS_ALONE: [(&str, &str); 1] =
    [("/sites", "`argiope client domains` lists those of a worker, without their state")];

/// The files of the interface, and what of a command has the same, or why nothing has.
pub const FILES: [(&str, &str); 11] = [
    ("/urls.csv", "`urls --all` prints the same rows"),
    ("/urls.jsonl", "`urls --all --json` prints the same rows"),
    ("/urls.parquet", "no command: `argiope export` writes Parquet tables"),
    ("/graph.json", "`picture --json` prints the same points and links"),
    ("/report.html", "`report --html` writes the same file"),
    ("/report.csv", "no command: `report --json` has all tables"),
    ("/history.json", "`history --json` has the same of a server"),
    ("/graph.js", "the script of a page"),
    ("/ui.css", "the style of the pages"),
    ("/ui.js", "the script of the pages"),
    ("/icon.svg", "the icon of the pages"),
];

/// Where the interface has what an argument or an option of a command says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// In this field of a form or a link to this path.
    Field(&'static str, &'static str),
    /// In another way.
    Otherwise(&'static str),
    /// Nowhere, for a reason.
    Not(&'static str),
}

use Given::{Field, Not, Otherwise};

const OF_THE_INTERFACE: Given = Otherwise("`argiope ui` has the same option, or the server as its argument");
const IN_PAGES: Given = Otherwise("the table is in pages, each with a link to the next");
const MORE: Given = Otherwise("a link below the list leads to more, up to the most that a server tells");
const EFFECT_FIRST: Given = Otherwise("the effect is shown before anything is done");
const OF_A_VISIT: Given = Otherwise("each picture that a visit took is a link on the page of the visit");

/// The arguments and options of the commands of `argiope client`, those of all commands without a command, and where the interface has the same. A
/// directory's interface has those of the commands that it has. A test of the command fails if one is not here.
pub const OPTIONS: [(&str, &str, Given); 84] = [
    ("", "--server", OF_THE_INTERFACE),
    ("", "--json", Not("pages are for people; the table of URLs and those of the report are files")),
    ("", "--token-file", OF_THE_INTERFACE),
    ("", "--tls-ca", OF_THE_INTERFACE),
    ("", "--tls-cert", OF_THE_INTERFACE),
    ("", "--tls-key", OF_THE_INTERFACE),
    ("crawl", "URL", Field("/steer/crawl", "u")),
    ("crawl", "--depth", Field("/steer/crawl", "depth")),
    ("crawl", "--progress", Otherwise("the overview has the numbers of the crawl, second by second")),
    ("add-seeds", "URL", Field("/steer", "to")),
    ("domains", "WORKER", Field("/sites", "worker")),
    ("domains", "--after", IN_PAGES),
    ("domains", "--limit", IN_PAGES),
    ("domains", "--by-state", Field("/sites", "sort")),
    ("overlap", "URL1", Field("/graph/overlap", "one")),
    ("overlap", "URL2", Field("/graph/overlap", "other")),
    (
        "overlap",
        "--list",
        Otherwise("the links are always there, in pages: all of a directory, and as many as a server names"),
    ),
    ("rank", "URL", Field("/graph/rank", "u")),
    ("rank", "--top", MORE),
    ("rank", "--by", Field("/graph/rank", "by")),
    ("rank", "--normalized", Field("/graph/rank", "normalized")),
    ("search", "TEXT", Field("/search", "q")),
    ("search", "--ignore-case", Field("/search", "case")),
    ("search", "--regex", Field("/search", "regex")),
    ("search", "--main-text", Field("/search", "main")),
    ("search", "--site", Field("/search", "site")),
    ("search", "--since", Field("/search", "since")),
    ("search", "--limit", MORE),
    ("links", "URL", Field("/url", "u")),
    ("path", "URL1", Field("/graph/path", "from")),
    ("path", "URL2", Field("/graph/path", "to")),
    ("picture", "--of", Field("/graph", "of")),
    ("picture", "--max", Otherwise("the picture has as many points as a server tells, or the 100 most popular pages")),
    ("report", "--html", Otherwise("the page has a link to the file")),
    ("explain", "URL|HOST", Field("/url", "u")),
    (
        "explain",
        "--host",
        Otherwise("the page of a URL says what holds its site up, and the list of sites has the state of each"),
    ),
    ("row", "URL", Field("/url/row", "u")),
    ("record", "URL", Field("/url/record", "u")),
    ("record", "--at", Field("/url/record", "at")),
    ("page-picture", "URL", OF_A_VISIT),
    ("page-picture", "KIND", OF_A_VISIT),
    ("page-picture", "--output", OF_A_VISIT),
    ("page-picture", "--at", OF_A_VISIT),
    ("copies", "URL", Field("/url/copies", "u")),
    ("copies", "--limit", MORE),
    ("urls", "--site", Field("/urls", "site")),
    ("urls", "--seed-sites", Field("/urls", "seeds")),
    ("urls", "--state", Field("/urls", "state")),
    ("urls", "--only", Field("/urls", "match")),
    ("urls", "--status", Field("/urls", "status")),
    ("urls", "--depth", Field("/urls", "depth")),
    ("urls", "--key", Field("/urls", "key")),
    ("urls", "--type", Field("/urls", "type")),
    ("urls", "--title", Field("/urls", "title")),
    ("urls", "--size-min", Field("/urls", "size_min")),
    ("urls", "--size-max", Field("/urls", "size_max")),
    ("urls", "--since", Field("/urls", "since")),
    ("urls", "--until", Field("/urls", "until")),
    ("urls", "--reached", Field("/urls", "reached")),
    ("urls", "--as-reported", Field("/urls", "reported")),
    ("urls", "--order", Field("/urls", "sort")),
    ("urls", "--after", IN_PAGES),
    ("urls", "--limit", IN_PAGES),
    ("urls", "--all", Otherwise("a file has all of them")),
    ("changes", "--since", Field("/changes", "since")),
    ("changes", "--site", Field("/changes", "site")),
    ("changes", "--limit", MORE),
    ("changes", "--feed", Not("readers of feeds read the file that the command writes")),
    ("changes", "--html", Otherwise("the page has the same changes")),
    ("again", "--older-than", Field("/steer/round", "older")),
    ("again", "--only", Field("/steer/round", "only")),
    ("again", "--visits", Field("/steer/round", "visits")),
    ("again", "--dry-run", EFFECT_FIRST),
    ("watch", "--budget", Field("/steer/watch", "budget")),
    ("watch", "--rate", Field("/steer/watch", "rate")),
    ("watch", "--every", Field("/steer/watch", "every")),
    ("watch", "--importance", Field("/steer/watch", "importance")),
    ("watch", "--rounds", Field("/steer/watch", "rounds")),
    ("steer", "--dry-run", EFFECT_FIRST),
    ("journal", "--limit", MORE),
    ("undo", "TIME", Field("/steer/undo", "at")),
    ("undo", "CHANGE", Field("/steer/undo", "behind")),
    ("undo", "--dry-run", EFFECT_FIRST),
    ("drain", "WORKER", Field("/workers/drain", "worker")),
];

/// The fields of forms and links that no option of a command has: paths, fields, and what has the same.
pub const FIELDS_ALONE: [(&str, &[&str], &str); 17] = [
    ("/urls", &["after", "behind", "seen"], "the way from page to page"),
    ("/sites", &["after", "behind"], "the way from page to page"),
    ("/url", &["from", "to"], "`links` has all links at once"),
    ("/urls", &["linked"], "`links` has them for one URL"),
    ("/search", &["limit"], "`--limit`"),
    ("/changes", &["limit"], "`--limit`"),
    ("/url/copies", &["limit"], "`--limit`"),
    ("/graph/rank", &["limit"], "`--top`"),
    ("/graph/overlap", &["forth", "back", "behind"], "`--list` has all links at once"),
    ("/url/picture", &["u", "kind", "at"], "`page-picture` has the same"),
    ("/report", &["table"], "`report` has all tables"),
    ("/steer", &["what", "sure", "limit"], "a command for each change; `--dry-run`; `journal --limit`"),
    ("/steer/answer", &["number"], "the answer is printed"),
    ("/steer/undo", &["change", "seen", "late"], "the change is named, and undone as it was shown"),
    ("/steer/round", &["sure"], "`--dry-run`"),
    ("/steer/watch", &["end"], "Ctrl-C"),
    ("/workers/drain", &["sure"], "a command needs no question"),
];

/// The same of the interface to a directory alone.
pub const FIELDS_OF_DIRECTORY: [(&str, &[&str], &str); 3] = [
    ("/urls/views", &["*"], "a view is an address that a directory keeps"),
    ("/urls/views/delete", &["*"], "a view is an address that a directory keeps"),
    ("/sites", &["name", "sort"], "the commands for a directory"),
];

/// Whether such a list has a field.
#[must_use]
pub fn is_listed(list: &[(&str, &[&str], &str)], path: &str, field: &str) -> bool {
    list.iter().any(|(of, fields, _)| *of == path && (fields.contains(&field) || *fields == ["*"]))
}

/// The fields that the commands have in an interface that has the same in `commands`.
pub fn fields(commands: &[(&'static str, Counterpart)]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_there = |command: &str| commands.iter().any(|(name, at)| *name == command && matches!(at, Screen(_)));
    OPTIONS.into_iter().filter(move |(command, ..)| is_there(command)).filter_map(|(_, _, given)| match given {
        Field(path, name) => Some((path, name)),
        Otherwise(_) | Not(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paths that a router has, as its source names them.
    fn paths(source: &'static str) -> impl Iterator<Item = &'static str> {
        let routes = source.lines().filter_map(|line| line.trim().strip_prefix(".route(\""));
        routes.filter_map(|route| route.split('"').next())
    }

    /// The paths of the interface that a person opens.
    fn screens(source: &'static str) -> BTreeSet<&'static str> {
        // Files and parts of a screen belong to it.
        let is_screen = |path: &&str| {
            let is_below = ["/steer/", "/urls/"].iter().any(|screen| path.starts_with(screen));
            let is_part = is_below || ["/events", "/workers/drain"].contains(path);
            !path.contains('.') && !is_part
        };
        paths(source).filter(is_screen).collect()
    }

    fn listed(commands: &[(&str, Counterpart)], alone: &[&'static str]) -> BTreeSet<&'static str> {
        let with_command = commands.iter().filter_map(|(_, counterpart)| match counterpart {
            Screen(path) => Some(*path),
            Missing(_) => None,
        });
        with_command.chain(alone.iter().copied()).collect()
    }

    #[test]
    fn every_screen_has_a_command_or_a_reason() {
        let alone = SCREENS_ALONE.map(|(path, _)| path);
        assert_eq!(screens(include_str!("lib.rs")), listed(&COMMANDS, &alone));
        assert_eq!(screens(include_str!("cluster.rs")), listed(&OF_SERVER, &[]));
    }

    #[test]
    fn every_file_has_a_command_or_a_reason() {
        let listed: BTreeSet<&str> = FILES.map(|(path, _)| path).into();
        for source in [include_str!("lib.rs"), include_str!("cluster.rs"), include_str!("crawls.rs")] {
            let files: BTreeSet<&str> = paths(source).filter(|path| path.contains('.')).collect();
            assert_eq!(files.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "files without a reason");
        }
        let there: BTreeSet<&str> = paths(include_str!("lib.rs")).collect();
        assert!(listed.is_subset(&there), "{listed:?}");
    }

    #[test]
    fn the_documentation_has_the_table() {
        let documentation = include_str!("../../../docs/ui.md");
        let cell = |counterpart| match counterpart {
            Screen(path) => format!("`{path}`"),
            Missing(why) => format!("not there: {why}"),
        };
        for ((command, of_directory), (same, of_server)) in COMMANDS.into_iter().zip(OF_SERVER) {
            assert_eq!(command, same);
            let row = format!("| `{command}` | {} | {} |", cell(of_directory), cell(of_server));
            assert!(documentation.contains(&row), "docs/ui.md: {row}");
        }
    }
}
