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
pub const COMMANDS: [(&str, Counterpart); 20] = [
    ("workers", Missing(OF_A_CLUSTER)),
    ("crawl", Missing("seeds are added, but nothing waits for their pages")),
    ("add-seeds", Screen("/steer")),
    ("domains", Missing(OF_A_CLUSTER)),
    ("overlap", Screen("/graph/overlap")),
    ("rank", Screen("/graph/rank")),
    ("search", Screen("/search")),
    ("links", Screen("/url")),
    ("path", Screen("/graph/path")),
    ("explain", Screen("/url")),
    ("urls", Screen("/urls")),
    ("changes", Screen("/changes")),
    ("again", Missing(BEGINS_A_RUN)),
    ("watch", Missing(BEGINS_A_RUN)),
    ("freshness", Screen("/")),
    ("stats", Screen("/")),
    ("steer", Screen("/steer")),
    ("pause", Screen("/steer")),
    ("resume", Screen("/steer")),
    ("drain", Missing(OF_A_CLUSTER)),
];

/// The screens that no command of `argiope client` has, with what has the same.
pub const SCREENS_ALONE: [(&str, &str); 3] = [
    ("/sites", "`argiope client domains` lists those of a worker, without their state"),
    ("/graph", "a picture"),
    ("/report", "`argiope report`"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The paths of the interface that a person opens, as the router has them.
    fn screens() -> BTreeSet<&'static str> {
        let routes = include_str!("lib.rs").lines().filter_map(|line| line.trim().strip_prefix(".route(\""));
        let paths = routes.filter_map(|route| route.split('"').next());
        // Files and parts of a screen belong to it.
        paths
            .filter(|path| !path.contains('.') && !["/events", "/steer/effect", "/steer/undo"].contains(path))
            .collect()
    }

    #[test]
    fn every_screen_has_a_command_or_a_reason() {
        let with_command = COMMANDS.iter().filter_map(|(_, counterpart)| match counterpart {
            Screen(path) => Some(*path),
            Missing(_) => None,
        });
        let listed: BTreeSet<_> = with_command.chain(SCREENS_ALONE.iter().map(|(path, _)| *path)).collect();
        assert_eq!(screens(), listed);
    }

    #[test]
    fn the_documentation_has_the_table() {
        let documentation = include_str!("../../../docs/ui.md");
        for (command, counterpart) in COMMANDS {
            let row = match counterpart {
                Screen(path) => format!("| `{command}` | `{path}` |"),
                Missing(why) => format!("| `{command}` | not there: {why} |"),
            };
            assert!(documentation.contains(&row), "docs/ui.md: {row}");
        }
    }
}
