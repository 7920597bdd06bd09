//! The settings as a table: what `argiope settings`, docs/settings.md, the help and `crawl.toml` show of each.
//!
//! Key, form, group and help are those of [`Options`]. A default is what [`crate::Plan`] completes it to.

use clap::{Arg, Args, Command};
use serde::Serialize;

use crate::options::{CHANGEABLE, Options};
use crate::plan::Settled;

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The key in `crawl.toml`, and the name of the flag.
    pub key: String,
    /// The form of its values: `N` a number, `D` a duration, `B` bytes, `BOOL`, or what it names.
    pub form: String,
    /// Whether several values may be given.
    pub is_list: bool,
    /// The default. None if it depends on others, or if there is none.
    pub default: Option<String>,
    /// What it is about.
    pub group: String,
    /// Whether `argiope steer` can change it while the crawl runs.
    pub is_changeable: bool,
    /// What it does.
    pub help: String,
}

/// All settings without their defaults, in the order of the help.
pub(crate) fn rows() -> Vec<Setting> {
    let command = Options::augment_args(Command::new("settings"));
    command.get_arguments().filter(|argument| argument.get_id() != NO_SITEMAPS).map(row).collect()
}

/// Reads the key of a setting.
///
/// # Errors
/// There is none of that name.
pub fn key(text: &str) -> Result<String, String> {
    let key = text.trim().trim_start_matches("--");
    let is_setting = rows().iter().any(|setting| setting.key == key);
    is_setting.then(|| key.to_owned()).ok_or_else(|| format!("`{text}` is no setting: `argiope settings` lists them"))
}

/// All settings, in the order of the help. The defaults are those over `below`.
#[must_use]
pub fn all(below: &Options) -> Vec<Setting> {
    // Options always have a form as a table.
    let completed = toml::Table::try_from(Settled::of(below).options).unwrap_or_default();
    let default = |key: &str| match completed.get(key)? {
        toml::Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    };
    let with_default = |row: Setting| Setting { default: default(&row.key).filter(|_| row.key != DEPENDS), ..row };
    rows().into_iter().map(with_default).collect()
}

impl Options {
    /// The options as a configuration file: each key in the order of the help, with its help as a comment; keys that are
    /// not given are commented out.
    ///
    /// # Errors
    /// Never in practice: options always have a form as a table.
    pub fn to_toml(&self, header: &str) -> anyhow::Result<String> {
        let given = toml::Table::try_from(self)?;
        let mut out: String = header.lines().map(|line| format!("# {line}\n")).collect();
        let mut heading = String::new();
        for Setting { key, help, group, .. } in rows() {
            if group != heading {
                out.push_str(&format!("\n## {group}\n"));
                heading = group;
            }
            out.push_str(&format!("\n# {help}\n"));
            match given.get(&key) {
                Some(value) => out.push_str(&format!("{key} = {value}\n")),
                None => out.push_str(&format!("# {key} =\n")),
            }
        }
        Ok(out)
    }
}

/// The command with the defaults over `below` in the help of its settings. A switch that is off says nothing.
#[must_use]
pub fn with_defaults(command: Command, below: &Options) -> Command {
    let settings = all(below);
    let told = |argument: Arg| {
        let is_this = |setting: &&Setting| argument.get_id().as_str().replace('_', "-") == setting.key;
        let default = settings.iter().find(is_this).and_then(|setting| setting.default.as_deref());
        let (Some(default), Some(help)) = (default.filter(|default| *default != "false"), argument.get_help()) else {
            return argument;
        };
        let help = format!("{help} [default: {default}]");
        argument.help(help)
    };
    command.mut_args(told)
}

/// The other flag of `sitemaps`: no key.
const NO_SITEMAPS: &str = "no_sitemaps";
/// Its default depends on another setting, as its help says.
const DEPENDS: &str = "sitemaps";

fn row(argument: &Arg) -> Setting {
    let key = argument.get_id().as_str().replace('_', "-");
    let form =
        argument.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect::<Vec<_>>();
    Setting {
        form: form.join(" "),
        is_list: matches!(argument.get_action(), clap::ArgAction::Append),
        default: None,
        group: argument.get_help_heading().unwrap_or_default().to_owned(),
        is_changeable: CHANGEABLE.contains(&key.as_str()),
        help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
        key,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::FIXED;

    #[test]
    fn every_setting_has_a_form_a_group_and_help_and_those_that_can_change_are_settings() {
        let settings = all(&Options::default());
        for setting in &settings {
            assert!([&setting.form, &setting.group, &setting.help].iter().all(|text| !text.is_empty()), "{setting:?}");
        }
        let keys: BTreeSet<&str> = settings.iter().map(|setting| setting.key.as_str()).collect();
        assert_eq!(keys.len(), settings.len());
        let strange: Vec<_> = CHANGEABLE.iter().chain(&FIXED).filter(|key| !keys.contains(*key)).collect();
        assert!(strange.is_empty(), "{strange:?}");
        assert!(CHANGEABLE.iter().all(|key| !FIXED.contains(key)));
    }

    #[test]
    fn defaults_are_those_of_the_plan_over_what_is_below() {
        let default = |below: &Options, key: &str| {
            let settings = all(below);
            settings.into_iter().find(|setting| setting.key == key).and_then(|setting| setting.default)
        };
        let text = |text: &str| Some(text.to_owned());
        let none = Options::default();
        for (key, expect) in [
            ("delay", text("1s")),
            ("scope", text("host")),
            ("max-body-bytes", text("10MB")),
            ("images", text("false")),
            ("delay-factor", text("0.0")),
            ("depth", None),
            ("sitemaps", None),
        ] {
            assert_eq!(default(&none, key), expect, "{key}");
        }
        assert_eq!(default(&Options { depth: Some(7), ..none }, "depth"), text("7"));
    }

    #[test]
    fn the_help_names_each_default_once() {
        let command = with_defaults(Options::augment_args(Command::new("x")), &Options::default());
        for argument in command.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.matches("[default").count() <= 1, "{help}");
        }
        let delay = command.get_arguments().find(|argument| argument.get_id() == "delay").expect("a setting");
        assert!(delay.get_help().expect("a help").to_string().ends_with(" [default: 1s]"));
    }
}
