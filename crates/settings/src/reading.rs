//! Options read from TOML, and what is wrong with such a text, for people who do not know TOML.

use std::path::Path;

use anyhow::Context;

use crate::login::LoginOption;
use crate::options::Options;
use crate::table::{Setting, rows};
use crate::text_file::read_text;
use crate::usage;

impl Options {
    /// The options in a text.
    ///
    /// # Errors
    /// It has an unknown key or a value of the wrong kind: the line is named. The message shows no value, since it may be a secret.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        toml::from_str(text).map_err(|error| usage(one_line(&error, text)))
    }

    /// The options in a text from another person: without files of cookies, which would be those of this user, and without a browser, which is
    /// a program to run. Also tells whether the text names one.
    ///
    /// # Errors
    /// As [`Options::parse`].
    pub fn of_others(text: &str) -> anyhow::Result<(Self, bool)> {
        let mut options = Options::parse(text)?;
        options.cookies.clear();
        let browser = options.browser.take();
        Ok((options, browser.is_some()))
    }

    /// Reads a configuration file of the user, and the files that it names.
    ///
    /// # Errors
    /// A file cannot be read; or as [`Options::parse`].
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = read_text(path).with_context(|| path.display().to_string())?;
        let unusable = |error: &dyn std::fmt::Display| usage(format!("{}: {error}", path.display()));
        let mut options = Options::parse(&text).map_err(|error| unusable(&error))?;
        options.login = options.login.map(LoginOption::resolved).transpose().map_err(|error| unusable(&error))?;
        options.with_own_files().map_err(|error| unusable(&error))
    }
}

/// An error as one line that names the line of the text.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return message };
    let is_toml = toml::from_str::<toml::Table>(text).is_ok();
    let rows = rows();
    let said = match (message.strip_prefix("unknown field "), setting_at(text, before, &rows)) {
        (Some(rest), _) => {
            let key = rest.split(',').next().unwrap_or_default();
            format!("unknown key {key}: `argiope settings` lists the keys")
        }
        (None, Some(setting)) if message.starts_with("duplicate key") => format!("`{}` is given twice", setting.key),
        (None, Some(setting)) if !is_toml || message.starts_with("invalid ") => {
            format!("`{}` takes {}", setting.key, form_of(setting))
        }
        (None, Some(setting)) => format!("`{}`: {message}", setting.key),
        (None, None) if !is_toml => "is not like `depth = 3` or `scope = \"host\"`".to_owned(),
        (None, None) => message,
    };
    format!("line {}: {said}", before.matches('\n').count() + 1)
}

/// The setting of the line that `before` ends in; or, in a list of several lines, that of the line where it begins.
fn setting_at<'r>(text: &str, before: &str, rows: &'r [Setting]) -> Option<&'r Setting> {
    let end = text[before.len()..].find('\n').map_or(text.len(), |rest| before.len() + rest);
    let mut keys = text[..end].lines().rev().map(|line| line.split(['=', ' ', '\t']).next().unwrap_or_default());
    keys.find_map(|key| rows.iter().find(|setting| setting.key == key))
}

/// The form of a setting's values in a file.
fn form_of(setting: &Setting) -> String {
    let form = match setting.form.as_str() {
        _ if setting.key == "extract" => {
            "the tables [extract.NAME] themselves; the flag --extract names a file of them"
        }
        _ if setting.key == "login" => "the tables [login.NAME] themselves; the flag --login names a file of them",
        _ if setting.key == "behaviour" => {
            "tables [[behaviour]], each with `name` and `script`; the flag --behaviour names a file with a script"
        }
        _ if setting.key == "exclude-file" => {
            "a table with `name` and `patterns`; the flag --exclude-file names a file with patterns"
        }
        _ if setting.key == "ca-cert" => {
            "a list of tables, each with `name` and `pem`; the flag --ca-cert names a file with certificates"
        }
        "N" => "a whole number from 0 on, without quotes",
        "K" => "a number, without quotes",
        "BOOL" => "true or false, without quotes",
        "D" => "a duration in quotes, such as \"1m 30s\"",
        "B" => "a size in quotes, such as \"10MB\"",
        form if form.contains(' ') => "a list of pairs, such as [[\"a\", \"b\"]]",
        _ if setting.is_list => "a list of texts in quotes, such as [\"a\", \"b\"]",
        _ => "a text in quotes",
    };
    form.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_one_line_without_the_value() {
        for (text, expect) in [
            ("depth = 3\ndepht = 4\n", "line 2: unknown key `depht`: `argiope settings` lists the keys"),
            ("depth = \"three\"", "line 1: `depth` takes a whole number from 0 on, without quotes"),
            ("scope = \"any\"\ndepth = -1", "line 2: `depth` takes a whole number from 0 on, without quotes"),
            ("depth = 3.5", "line 1: `depth` takes a whole number from 0 on, without quotes"),
            ("depth =", "line 1: `depth` takes a whole number from 0 on, without quotes"),
            ("depth 3", "line 1: `depth` takes a whole number from 0 on, without quotes"),
            ("delay-factor = \"2\"", "line 1: `delay-factor` takes a number, without quotes"),
            ("images = 1", "line 1: `images` takes true or false, without quotes"),
            ("scope = host", "line 1: `scope` takes a text in quotes"),
            ("delay = 5s", "line 1: `delay` takes a duration in quotes, such as \"1m 30s\""),
            ("delay = \"soon\"", "line 1: `delay`: `soon` is no duration such as 250ms, 1s or `1m 30s`"),
            ("max-bytes = [1]", "line 1: `max-bytes` takes a size in quotes, such as \"10MB\""),
            (
                "extract = \"rules.toml\"",
                "line 1: `extract` takes the tables [extract.NAME] themselves; the flag --extract names a file of them",
            ),
            (
                "login = \"login.toml\"",
                "line 1: `login` takes the tables [login.NAME] themselves; the flag --login names a file of them",
            ),
            (
                "depth = 1\nbehaviour = [\"b.js\"]",
                "line 2: `behaviour` takes tables [[behaviour]], each with `name` and `script`; the flag --behaviour names a file with a script",
            ),
            (
                "exclude-file = 3",
                "line 1: `exclude-file` takes a table with `name` and `patterns`; the flag --exclude-file names a file with patterns",
            ),
            (
                "depth = 1\nca-cert = [\"a.pem\", 3]",
                "line 2: `ca-cert` takes a list of tables, each with `name` and `pem`; the flag --ca-cert names a file with certificates",
            ),
            ("exclude = \"*.pdf\"", "line 1: `exclude` takes a list of texts in quotes, such as [\"a\", \"b\"]"),
            (
                "exclude = [\n  \"*.pdf\",\n  7,\n]",
                "line 3: `exclude` takes a list of texts in quotes, such as [\"a\", \"b\"]",
            ),
            ("exclude = [\"*.pdf\"", "line 1: `exclude` takes a list of texts in quotes, such as [\"a\", \"b\"]"),
            ("depth = 1\nscope = \"any\"\ndepth = 2", "line 3: `depth` is given twice"),
            ("what is this", "line 1: is not like `depth = 3` or `scope = \"host\"`"),
        ] {
            assert_eq!(Options::parse(text).expect_err(text).to_string(), expect, "{text}");
        }
        for secret in [
            "header = \"Authorization: s3cret\"",
            "header-for = [\"s3cret\"]",
            "header = s3cret",
            "proxy = [\"s3cret\"]",
        ] {
            let error = Options::parse(secret).expect_err(secret).to_string();
            assert!(error.starts_with("line 1: `") && !error.contains("s3cret"), "{error}");
        }
    }
}
