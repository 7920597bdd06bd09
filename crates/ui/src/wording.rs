//! Messages of the program in the words of a page. Below this crate they name the flags of commands, and the methods of a server.

use settings::table;

use crate::change_forms::changes;

/// What a message names, and what a viewer sees in its place.
const NAMES: [(&str, &str); 7] = [
    ("--unset", "“Go back to defaults” with"),
    ("--patterns", "“Pattern”"),
    ("--only", "“Only patterns”"),
    ("`set --include`", "“Change settings” with a line `include = [\"PATTERN\"]`"),
    ("`argiope settings` lists them", "docs/settings.md lists them"),
    ("GetWorkers", "the page Workers"),
    ("AddSeeds", "“Add seeds”"),
];

/// The message as a page shows it. Settings are named by their keys, as in “Change settings”. Commands stay as they are: they are not
/// used on a page.
pub(crate) fn on_page(message: &str) -> String {
    let mut text = message.to_owned();
    for (name, seen) in NAMES {
        text = text.replace(name, seen);
    }
    let quoted = text.split('`').enumerate().map(|(at, part)| {
        let is_command = at % 2 == 1 && part.starts_with("argiope ");
        if is_command { part.to_owned() } else { without_dashes(part) }
    });
    quoted.collect::<Vec<_>>().join("`")
}

/// The text with the keys of settings, and the words of changes, in place of their flags.
fn without_dashes(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let (before, name) = match word.strip_prefix('(') {
            Some(inner) => ("(", inner),
            None => ("", word),
        };
        let Some(name) = name.strip_prefix("--") else { return word.to_owned() };
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(name.len());
        let is_known = table::key(&name[..end]).is_ok() || changes().any(|change| change == &name[..end]);
        if is_known { format!("{before}{name}") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_viewer_reads_names_no_flag_and_no_method() {
        for (message, seen) in [
            ("--max-pages must be more than 0", "max-pages must be more than 0"),
            (
                "--max-pages must be more than 0; --unset max-pages takes an earlier one back",
                "max-pages must be more than 0; “Go back to defaults” with max-pages takes an earlier one back",
            ),
            ("--exclude `/x/` matches no URL", "exclude `/x/` matches no URL"),
            ("--retry `/x/` matches no URL", "retry `/x/` matches no URL"),
            ("--patterns `x` matches no URL", "“Pattern” `x` matches no URL"),
            ("--backoff 10h is longer than --max-backoff 5m", "backoff 10h is longer than max-backoff 5m"),
            (
                "all URLs count already: `set --include` narrows it",
                "all URLs count already: “Change settings” with a line `include = [\"PATTERN\"]` narrows it",
            ),
            ("no worker `x` alive: GetWorkers names those", "no worker `x` alive: the page Workers names those"),
            // Commands, and what somebody has typed.
            ("`argiope crawl -o s --depth 2` goes on", "`argiope crawl -o s --depth 2` goes on"),
            ("`--x` is no setting", "`--x` is no setting"),
            ("http://a.test/--depth is unknown", "http://a.test/--depth is unknown"),
        ] {
            assert_eq!(on_page(message), seen);
        }
    }

    #[test]
    fn no_setting_is_named_as_a_flag() {
        for setting in table::all(&settings::options::Options::default()) {
            let seen = on_page(&format!("--{} `x`: is wrong (--{0})", setting.key));
            assert_eq!(seen, format!("{} `x`: is wrong ({0})", setting.key));
        }
    }
}
