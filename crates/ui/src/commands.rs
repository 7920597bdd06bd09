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
pub const COMMANDS: [(&str, Counterpart); 28] = [
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
    ("steer", Screen("/steer")),
    ("journal", Screen("/steer")),
    ("undo", Screen("/steer")),
    ("pause", Screen("/steer")),
    ("resume", Screen("/steer")),
    ("drain", Missing(OF_A_CLUSTER)),
];

/// The same for the interface to a server.
pub const OF_SERVER: [(&str, Counterpart); 28] = [
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paths of the interface that a person opens, as the router has them.
    fn screens(source: &'static str) -> BTreeSet<&'static str> {
        let routes = source.lines().filter_map(|line| line.trim().strip_prefix(".route(\""));
        let paths = routes.filter_map(|route| route.split('"').next());
        // Files and parts of a screen belong to it.
        let is_screen = |path: &&str| {
            let is_below = ["/steer/", "/urls/"].iter().any(|screen| path.starts_with(screen));
            let is_part = is_below || ["/events", "/workers/drain"].contains(path);
            !path.contains('.') && !is_part
        };
        paths.filter(is_screen).collect()
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
