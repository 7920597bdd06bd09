//! Options with secrets in them: used as given, and shown, written and compared without the secrets.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches};
use fetch::{REDACTED, is_public};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use weburl::without_user_info;

/// A request field as given, `Name: value`. It is checked when the plan is made, so no message shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderText {
    given: String,
}

impl HeaderText {
    /// The argument, with its secret value.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The name of the field.
    #[must_use]
    pub fn name(&self) -> &str {
        self.given.split_once(':').map_or("", |(name, _)| name.trim())
    }

    /// Whether it has a value that must not be shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        !is_public(self.name()) && !self.is_redacted()
    }

    /// Whether it stands for a secret that is stored elsewhere.
    #[must_use]
    pub fn is_redacted(&self) -> bool {
        self.given == REDACTED || self.given.split_once(':').is_some_and(|(_, value)| value.trim() == REDACTED)
    }
}

impl From<String> for HeaderText {
    fn from(given: String) -> Self {
        HeaderText { given }
    }
}

impl FromStr for HeaderText {
    type Err = Infallible;

    fn from_str(given: &str) -> Result<Self, Infallible> {
        Ok(given.to_owned().into())
    }
}

/// Without a secret value.
impl fmt::Display for HeaderText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given.split_once(':') {
            Some(_) if is_public(self.name()) => f.write_str(&self.given),
            Some(_) => write!(f, "{}: {REDACTED}", self.name()),
            None => f.write_str(REDACTED),
        }
    }
}

impl fmt::Debug for HeaderText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for HeaderText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The request fields of `--header`, or of the key `header`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Headers(pub Vec<HeaderText>);

/// The request fields of `--header-for`, or of the key `header-for`: each with the pattern of the URLs it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HeadersFor(pub Vec<(String, HeaderText)>);

impl Headers {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl HeadersFor {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Parses by way of a generic value: otherwise the error would show a value of another type.
impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = toml::Value::deserialize(deserializer)?.try_into::<Vec<String>>();
        let texts = texts.map_err(|_| de::Error::custom(r#"header is not a list such as ["Name: value"]"#))?;
        Ok(Headers(texts.into_iter().map(HeaderText::from).collect()))
    }
}

impl<'de> Deserialize<'de> for HeadersFor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pairs = toml::Value::deserialize(deserializer)?.try_into::<Vec<(String, String)>>();
        let pairs =
            pairs.map_err(|_| de::Error::custom(r#"header-for is not a list such as [["PATTERN", "Name: value"]]"#))?;
        Ok(HeadersFor(pairs.into_iter().map(|(pattern, text)| (pattern, text.into())).collect()))
    }
}

/// The flag `--header`.
impl FromArgMatches for Headers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = matches.get_many::<HeaderText>("header").into_iter().flatten();
        Ok(Headers(given.cloned().collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Headers::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Headers {
    fn augment_args(command: clap::Command) -> clap::Command {
        let help = "A request field for the seeds' sites, as `Name: value`; Accept-Language, From and other fields without secrets go \
                    everywhere. The value is kept in DIR/secrets.toml alone";
        command.arg(
            Arg::new("header")
                .long("header")
                .value_name("HEADER")
                .value_parser(HeaderText::from_str)
                .action(ArgAction::Append)
                .help(help)
                .help_heading("Fetching"),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Headers::augment_args(command)
    }
}

/// The flag `--header-for`, which has two values.
impl FromArgMatches for HeadersFor {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let pairs = matches.get_occurrences::<String>("header_for").into_iter().flatten().filter_map(|mut values| {
            let (pattern, text) = (values.next()?, values.next()?);
            Some((pattern.clone(), HeaderText::from(text.clone())))
        });
        Ok(HeadersFor(pairs.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = HeadersFor::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for HeadersFor {
    fn augment_args(command: clap::Command) -> clap::Command {
        let help = "A request field for the URLs that match a wildcard pattern (https://*.example.com/*): scheme, host and path match \
                    one by one, a * in the host never reaches into the path";
        command.arg(
            Arg::new("header_for")
                .long("header-for")
                .num_args(2)
                .value_names(["PATTERN", "HEADER"])
                .action(ArgAction::Append)
                .help(help)
                .help_heading("Fetching"),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        HeadersFor::augment_args(command)
    }
}

/// The URL of a proxy as given. It is checked when the plan is made, so no message shows it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct ProxyText {
    given: String,
}

impl ProxyText {
    /// The argument, with its password.
    #[must_use]
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The same without a user.
    #[must_use]
    pub fn without_user(&self) -> Self {
        self.given.replacen(&format!("//{REDACTED}@"), "//", 1).into()
    }

    /// Whether it contains something that must not be shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        !self.is_redacted() && self.given != self.to_string()
    }

    /// Whether it stands for a secret that is stored elsewhere: user name and password.
    #[must_use]
    pub fn is_redacted(&self) -> bool {
        self.given.contains(&format!("//{REDACTED}@"))
    }
}

impl From<String> for ProxyText {
    fn from(given: String) -> Self {
        ProxyText { given }
    }
}

impl FromStr for ProxyText {
    type Err = Infallible;

    fn from_str(given: &str) -> Result<Self, Infallible> {
        Ok(given.to_owned().into())
    }
}

/// Without user name and password.
impl fmt::Display for ProxyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_user_info(&self.given))
    }
}

impl fmt::Debug for ProxyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ProxyText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_secret() {
        for (given, shown, is_secret) in [
            ("Authorization: Bearer s3cret", "Authorization: ***", true),
            ("accept-language: sl", "accept-language: sl", false),
            ("s3cret", "***", true),
            ("Authorization: ***", "Authorization: ***", false),
        ] {
            let text = HeaderText::from(given.to_owned());
            assert_eq!((text.to_string().as_str(), text.is_secret()), (shown, is_secret), "{given}");
            assert_eq!(format!("{text:?}"), shown);
        }
        for (given, shown, is_secret) in [
            ("http://ana:s3cret@proxy:3128", "http://***@proxy:3128", true),
            ("http://ana:s3/cret@proxy:3128", "http://***@proxy:3128", true),
            ("http://proxy:3128", "http://proxy:3128", false),
            ("http://***@proxy:3128", "http://***@proxy:3128", false),
        ] {
            let text = ProxyText::from(given.to_owned());
            assert_eq!((text.to_string().as_str(), text.is_secret()), (shown, is_secret), "{given}");
        }
    }

    #[test]
    fn no_error_of_a_file_shows_a_value() {
        for text in [
            "header = \"Authorization: s3cret\"",
            "header = [5, \"Authorization: s3cret\"]",
            "header-for = [\"*\", \"Authorization: s3cret\"]",
            "header-for = [[\"*\", \"Authorization: s3cret\", \"s3cret\"]]",
        ] {
            let error = toml::from_str::<crate::options::Options>(text).expect_err(text);
            assert!(error.message().contains("is not a list such as"), "{}", error.message());
            assert!(!error.message().contains("s3cret"), "{}", error.message());
        }
    }
}
