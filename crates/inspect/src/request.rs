//! One request of a batch: a JSON object whose keys are taken out one by one, so that what is left over is a mistake.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{anyhow, bail};
use data_encoding::BASE64;
use serde_json::{Map, Value};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::input::Input;
use crate::reference::page_url;

/// The keys not asked for yet.
pub(crate) struct Request {
    keys: Map<String, Value>,
}

impl Request {
    pub(crate) fn new(keys: Map<String, Value>) -> Self {
        Request { keys }
    }

    /// A value of any kind; `null` counts as not given.
    pub(crate) fn value(&mut self, key: &str) -> Option<Value> {
        self.keys.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, key: &str) -> anyhow::Result<Option<String>> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => bail!("\"{key}\" is not a string"),
        }
    }

    pub(crate) fn needed_text(&mut self, key: &str) -> anyhow::Result<String> {
        self.text(key)?.ok_or_else(|| anyhow!("\"{key}\" is missing"))
    }

    fn flag(&mut self, key: &str) -> anyhow::Result<bool> {
        match self.value(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => bail!("\"{key}\" is neither true nor false"),
        }
    }

    pub(crate) fn needed_number(&mut self, key: &str) -> anyhow::Result<u64> {
        let value = self.value(key).ok_or_else(|| anyhow!("\"{key}\" is missing"))?;
        value.as_u64().ok_or_else(|| anyhow!("\"{key}\" is not a whole number"))
    }

    /// A value that has a form of its own; a number may be given as such.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self, key: &str) -> anyhow::Result<Option<T>> {
        let text = match self.value(key) {
            None => return Ok(None),
            Some(Value::String(text)) => text,
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => bail!("\"{key}\" is not a string"),
        };
        text.parse().map(Some).map_err(|error| anyhow!("\"{key}\": {error}"))
    }

    /// A URL that the crawler knows.
    pub(crate) fn page_url(&mut self, key: &str) -> anyhow::Result<Option<CanonicalUrl>> {
        let text = self.text(key)?;
        text.map(|text| page_url(&text).map_err(|error| anyhow!("\"{key}\": {error}"))).transpose()
    }

    /// The optional rules of the canonical form.
    pub(crate) fn rules(&mut self) -> anyhow::Result<CanonicalRules> {
        Ok(CanonicalRules {
            sort_query: self.flag("sort_query")?,
            strip_session_ids: self.flag("strip_session_ids")?,
            strip_tracking: self.flag("strip_tracking")?,
            collapse_slashes: self.flag("collapse_slashes")?,
            strip_www: self.flag("strip_www")?,
            ..CanonicalRules::default()
        })
    }

    /// The input: one of `file`, `body`, `body_base64`.
    pub(crate) fn input(&mut self) -> anyhow::Result<Input> {
        match (self.file()?, self.text("body")?, self.text("body_base64")?) {
            (Some(file), None, None) => Ok(Input::File(file)),
            (None, Some(body), None) => Ok(Input::Inline(body.into_bytes())),
            (None, None, Some(base64)) => match BASE64.decode(base64.as_bytes()) {
                Ok(bytes) => Ok(Input::Inline(bytes)),
                Err(error) => bail!("\"body_base64\": {error}"),
            },
            _ => bail!("exactly one of \"file\", \"body\" and \"body_base64\" must be given"),
        }
    }

    /// A file; not standard input, which holds the requests.
    pub(crate) fn file(&mut self) -> anyhow::Result<Option<PathBuf>> {
        let file = self.text("file")?;
        if file.as_deref() == Some("-") {
            bail!("\"file\": standard input holds the requests");
        }
        Ok(file.map(PathBuf::from))
    }

    /// Makes sure that every key was asked for.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        match self.keys.keys().next() {
            None => Ok(()),
            Some(key) => bail!("unknown key \"{key}\""),
        }
    }
}
