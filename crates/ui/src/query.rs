//! The fields of a request, and how they are written.

use std::fmt::Write as _;
use std::str::FromStr;

use crate::base::to;
use settings::usage;
use url::form_urlencoded::{self, byte_serialize};

/// The fields of a query or a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads them (URL Standard, application/x-www-form-urlencoded).
    pub(crate) fn parse(text: &str) -> Self {
        Fields(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The value of a field, the first of that name, without white space around it; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value.trim())
    }

    /// The values of a field that may have several, each once, without those that are empty.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value.trim()) {
            if !value.is_empty() && !values.iter().any(|other| other == value) {
                values.push(value.to_owned());
            }
        }
        values
    }

    /// Fields with their values.
    pub(crate) fn of<'a, const N: usize>(&'a self, names: [&'a str; N]) -> [(&'a str, &'a str); N] {
        names.map(|name| (name, self.get(name)))
    }

    /// How many rows are asked for: `usual` unless a number is given, and at most `max`.
    pub(crate) fn limit(&self, usual: usize, max: usize) -> usize {
        self.get("limit").parse().map_or(usual, |limit: usize| limit.clamp(1, max))
    }

    /// How many rows come before those that are asked for.
    pub(crate) fn behind(&self, name: &str) -> usize {
        self.get(name).parse().unwrap_or_default()
    }

    /// The value of a field that must have one; `label` is what its form calls it.
    ///
    /// # Errors
    /// It has none.
    pub(crate) fn needed(&self, name: &str, label: &str) -> anyhow::Result<String> {
        match self.get(name) {
            "" => Err(usage(format!("“{label}” is empty"))),
            given => Ok(given.to_owned()),
        }
    }

    /// The lines of a field that are not empty.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        self.get(name).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }
}

/// What a field has that is a number; nothing if it is empty.
///
/// # Errors
/// It is neither empty nor a number.
pub(crate) fn number<T: FromStr>(name: &str, text: &str) -> anyhow::Result<Option<T>> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| usage(format!("the {name}: `{text}` is no such number")))
}

/// A link to a screen with fields, those without a value left out.
pub(crate) fn with_fields(path: &str, fields: &[(&str, &str)]) -> String {
    match written(fields) {
        query if query.is_empty() => to(path),
        query => format!("{}?{query}", to(path)),
    }
}

/// Fields as a query has them, those without a value left out.
pub(crate) fn written(fields: &[(&str, &str)]) -> String {
    let mut query = String::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        let encoded: String = byte_serialize(value.as_bytes()).collect();
        // Writing to a string cannot fail.
        let _ = write!(query, "{}{name}={encoded}", if query.is_empty() { "" } else { "&" });
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let url = "http://a.test/?q=1&r=\"<b>\"#ä +";
        let link = with_fields("/urls", &[("site", ""), ("after", url), ("state", "html")]);
        assert_eq!(link, "/urls?after=http%3A%2F%2Fa.test%2F%3Fq%3D1%26r%3D%22%3Cb%3E%22%23%C3%A4+%2B&state=html");
        let fields = Fields::parse(link.split_once('?').map_or("", |(_, query)| query));
        assert_eq!((fields.get("after"), fields.get("state"), fields.get("site")), (url, "html", ""));
        assert_eq!(Fields::parse("to=+a%0D%0A%0D%0A+b+").lines("to"), ["a", "b"]);
    }

    #[test]
    fn a_field_may_have_several_values_and_rows_are_counted_within_bounds() {
        let fields = Fields::parse("state=html&state=&match=*a*&state=+waiting&state=html");
        assert_eq!(
            (fields.all("state"), fields.all("site")),
            (vec!["html".to_owned(), "waiting".to_owned()], Vec::new())
        );
        for (given, limit) in [("", 100), ("x", 100), ("-1", 100), ("0", 1), ("7", 7), ("2000", 1_000), ("1e9", 100)] {
            assert_eq!(Fields::parse(&format!("limit={given}")).limit(100, 1_000), limit, "{given}");
        }
    }
}
