//! The types of fields, and texts as values of them.

mod date;
mod number;

use serde_json::{Number, Value};
use url::Url;

pub use date::{micros_of, rfc3339, rfc3339_exact};

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text with white space collapsed.
    Text,
    /// Markup.
    Html,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A time in UTC.
    Date,
    /// An absolute URL.
    Url,
    /// True or false.
    Bool,
}

impl Kind {
    /// All types with their names in rules.
    pub const ALL: [(&'static str, Kind); 7] = [
        ("text", Kind::Text),
        ("html", Kind::Html),
        ("integer", Kind::Integer),
        ("number", Kind::Number),
        ("date", Kind::Date),
        ("url", Kind::Url),
        ("bool", Kind::Bool),
    ];

    /// A text as a value of the type; `None` if it is none. `decimal` is the sign before the fraction of a number.
    pub(crate) fn value(self, text: &str, decimal: Option<char>, base: Option<&Url>) -> Option<Value> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        match self {
            Kind::Text => Some(Value::String(text.split_whitespace().collect::<Vec<_>>().join(" "))),
            Kind::Html => Some(Value::String(text.to_owned())),
            Kind::Integer => number::integer(text, decimal).map(Value::from),
            Kind::Number => number::number(text, decimal).and_then(Number::from_f64).map(Value::Number),
            Kind::Date => date::date(text).map(|micros| Value::String(rfc3339(micros))),
            Kind::Url => match base {
                Some(base) => base.join(text).ok(),
                None => Url::parse(text).ok(),
            }
            .map(|url| Value::String(url.into())),
            Kind::Bool => match text.to_lowercase().as_str() {
                "true" | "yes" | "1" | "on" => Some(Value::Bool(true)),
                "false" | "no" | "0" | "off" => Some(Value::Bool(false)),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: Kind, text: &str, expect: Value) {
        assert_eq!(kind.value(text, None, None).unwrap_or_default(), expect, "{text}");
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        check(Kind::Integer, "1,234 reviews", json!(1234));
        check(Kind::Integer, "1.0", json!(1));
        check(Kind::Integer, "1.5", Value::Null);
        check(Kind::Integer, "1e30", Value::Null);
        check(Kind::Integer, "1.5e3", json!(1500));
        check(Kind::Integer, "9007199254740993", json!(9_007_199_254_740_993_i64));
        check(Kind::Integer, "1,234,567,890,123,456,789 views", json!(1_234_567_890_123_456_789_i64));
        check(Kind::Integer, "-9223372036854775808", json!(i64::MIN));
        check(Kind::Integer, "9223372036854775807.00", json!(i64::MAX));
        check(Kind::Integer, "9223372036854775808", Value::Null);
        check(Kind::Integer, "12345678901234567.5", Value::Null);
        check(Kind::Number, "1e999", Value::Null);
    }

    #[test]
    fn white_space_of_texts_is_collapsed() {
        check(Kind::Text, " German\n  thing ", json!("German thing"));
        check(Kind::Html, " <b>German\n thing</b> ", json!("<b>German\n thing</b>"));
    }

    #[test]
    fn urls_are_resolved_and_flags_are_words() {
        let base = Url::parse("https://a.test/b/c").expect("a URL");
        assert_eq!(Kind::Url.value(" ../d ", None, Some(&base)), Some(json!("https://a.test/d")));
        check(Kind::Url, "d", Value::Null);
        check(Kind::Bool, "Yes", json!(true));
        check(Kind::Bool, "maybe", Value::Null);
    }
}
