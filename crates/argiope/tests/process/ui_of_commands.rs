//! What the command line can do, and where the interface has the same.

use std::collections::BTreeSet;

use crate::binary;

fn help(path: &[&str]) -> String {
    binary::run(&[path, &["--help"]].concat()).expect_code(0).stdout
}

/// The subcommands of a command, as its help lists them.
fn commands_below(path: &[&str]) -> BTreeSet<String> {
    let help = help(path);
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let names = listed.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_interface_has_what_the_command_line_can_do_or_says_why_not() {
    let listed: BTreeSet<String> = ui::commands::COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(commands_below(&["client"]), listed);
    let changes: BTreeSet<String> = ui::changes().map(str::to_owned).collect();
    assert_eq!(commands_below(&["steer"]), changes);
    assert_eq!(commands_below(&["client", "steer"]), changes);
}

/// The arguments and the options of a command, as its help lists them: `URL`, `--depth`.
fn arguments_of(path: &[&str]) -> BTreeSet<String> {
    /// What is further to the right describes an option.
    const INDENTED_MAX: usize = 6;
    let help = help(path);
    let listed = help.lines().filter(|line| line.starts_with("  ") && line.find(|c| c != ' ') <= Some(INDENTED_MAX));
    let mut arguments = BTreeSet::new();
    for line in listed {
        let mut words = line.split_whitespace();
        match words.find(|word| !word.ends_with(',')) {
            Some(option) if option.starts_with("--") => arguments.insert(option.to_owned()),
            Some(name) if name.starts_with(['<', '[']) => {
                arguments.insert(name.trim_matches(['<', '>', '[', ']', '.']).to_owned())
            }
            _ => false,
        };
    }
    arguments.remove("--help");
    arguments
}

#[test]
fn every_option_of_the_command_line_has_its_place_in_the_interface_or_a_reason() {
    let of_all = arguments_of(&["client"]);
    let of_program = arguments_of(&[]);
    let mut told: BTreeSet<(String, String)> =
        of_all.difference(&of_program).map(|option| (String::new(), option.clone())).collect();
    for command in commands_below(&["client"]) {
        let arguments = arguments_of(&["client", &command]);
        told.extend(arguments.difference(&of_all).map(|argument| (command.clone(), argument.clone())));
    }
    let listed = ui::commands::OPTIONS.map(|(command, argument, _)| (command.to_owned(), argument.to_owned()));
    assert_eq!(listed.len(), BTreeSet::from(listed.clone()).len(), "one is listed twice");
    assert_eq!(told, BTreeSet::from(listed));
    // The form of a change has what the command takes; settings have their keys as names.
    let of_steer = arguments_of(&["client", "steer"]);
    for change in commands_below(&["client", "steer"]).iter().filter(|change| *change != "set") {
        let arguments = arguments_of(&["client", "steer", change]);
        let options: Vec<_> = arguments.difference(&of_steer).filter(|name| name.starts_with("--")).collect();
        assert!(options.is_empty(), "{change}: {options:?}");
    }
}
