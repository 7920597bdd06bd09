//! The table of settings, as people and programs read it.

use serde_json::Value;
use testkit::ran::argiope;

#[test]
fn the_page_of_the_documentation_is_what_the_command_writes() {
    let written = argiope(&["settings", "--markdown"]);
    let page = include_str!("../../../../docs/settings.md");
    assert!(
        written.code == 0 && written.stdout == page,
        "write it with: argiope settings --markdown > docs/settings.md"
    );
}

#[test]
fn the_help_of_each_command_has_its_own_defaults() {
    for (command, expect) in [
        ("crawl", "always or never [default: auto]"),
        ("server", "always or never [default: always]"),
        ("server", "The largest number of links from a seed [default: 100]"),
        ("pages", "Wait at least this long between visits to a site [default: 1s]"),
    ] {
        let help = argiope(&[command, "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(expect), "{command}: {expect}: {help}");
    }
    let steered = argiope(&["steer", "DIR", "set", "--help"]).stdout;
    assert!(!steered.contains("[default: 1s]"), "what is not given stays as it is: {steered}");
}

#[test]
fn programs_read_a_setting_a_line() {
    let told = argiope(&["settings", "--json"]);
    let delay = told.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let delay = delay.filter(|setting| setting["key"] == "delay").collect::<Vec<_>>();
    assert_eq!((&delay[0]["default"], &delay[0]["is_changeable"]), (&Value::from("1s"), &Value::from(true)));
}
