//! The functions of XPath.

use extract::html::dom::Node;

use super::{Context, Evaluator, Value, truth};
use crate::function::Function;
use crate::query::{Expr, OutOfSteps, Place};

/// A number as XPath writes it.
pub(super) fn number_text(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        // Without the sign of a negative zero.
        0.0 => "0".to_owned(),
        _ => number.to_string(),
    }
}

/// The number that a text is, or none.
pub(super) fn text_number(text: &str) -> f64 {
    let text = text.trim_matches(|char: char| char.is_ascii_whitespace());
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn call(
        &mut self,
        function: Function,
        arguments: &[Expr],
        context: Context<'a>,
    ) -> Result<Value<'a>, OutOfSteps> {
        match function {
            Function::Last => return Ok(Value::Number(context.size as f64)),
            Function::Position => return Ok(Value::Number(context.position as f64)),
            Function::True => return Ok(Value::Bool(true)),
            Function::False => return Ok(Value::Bool(false)),
            _ => {}
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument, context)?);
        }
        if values.is_empty() {
            // Without arguments they speak of the node itself.
            values.push(Value::Nodes(vec![context.place]));
        }
        match function {
            Function::Boolean => return Ok(Value::Bool(truth(&values[0]))),
            Function::Not => return Ok(Value::Bool(!truth(&values[0]))),
            Function::Count => {
                let Value::Nodes(nodes) = &values[0] else { return Ok(Value::Number(f64::NAN)) };
                return Ok(Value::Number(nodes.len() as f64));
            }
            Function::LocalName | Function::Name => {
                let Value::Nodes(nodes) = &values[0] else { return Ok(Value::Text(String::new())) };
                return Ok(Value::Text(nodes.first().map(|place| place.name()).unwrap_or_default()));
            }
            Function::Sum => return self.sum(&values[0]),
            Function::Id => return self.with_ids(&values[0]),
            Function::Number => return Ok(Value::Number(self.number(&values[0])?)),
            Function::Floor => return Ok(Value::Number(self.number(&values[0])?.floor())),
            Function::Ceiling => return Ok(Value::Number(self.number(&values[0])?.ceil())),
            Function::Round => return Ok(Value::Number((self.number(&values[0])? + 0.5).floor())),
            _ => {}
        }
        self.call_on_texts(function, &values, context)
    }

    /// The functions whose arguments are texts.
    fn call_on_texts(
        &mut self,
        function: Function,
        values: &[Value<'a>],
        context: Context<'a>,
    ) -> Result<Value<'a>, OutOfSteps> {
        let mut texts = Vec::new();
        for value in values {
            texts.push(self.text(value)?);
        }
        let [first, rest @ ..] = &texts[..] else { return Ok(Value::Text(String::new())) };
        let second = rest.first().map_or("", String::as_str);
        Ok(match function {
            Function::StartsWith => Value::Bool(first.starts_with(second)),
            Function::EndsWith => Value::Bool(first.ends_with(second)),
            Function::Contains => Value::Bool(first.contains(second)),
            Function::SubstringBefore => {
                Value::Text(first.split_once(second).map_or("", |(before, _)| before).to_owned())
            }
            Function::SubstringAfter => Value::Text(first.split_once(second).map_or("", |(_, after)| after).to_owned()),
            Function::Substring => {
                let from = self.number(&values[1])?;
                let length = values.get(2).map(|length| self.number(length)).transpose()?;
                Value::Text(substring(first, from, length))
            }
            Function::StringLength => Value::Number(first.chars().count() as f64),
            Function::NormalizeSpace => Value::Text(first.split_ascii_whitespace().collect::<Vec<_>>().join(" ")),
            Function::Translate => Value::Text(translate(first, second, rest.get(1).map_or("", String::as_str))),
            Function::LowerCase => Value::Text(first.to_lowercase()),
            Function::Concat => Value::Text(texts.concat()),
            Function::Lang => Value::Bool(is_in_language(context.place.node(), first)),
            Function::NamespaceUri => Value::Text(String::new()),
            _ => Value::Text(first.clone()),
        })
    }

    fn sum(&mut self, value: &Value<'a>) -> Result<Value<'a>, OutOfSteps> {
        let Value::Nodes(nodes) = value else { return Ok(Value::Number(f64::NAN)) };
        let mut sum = 0.0;
        for place in nodes {
            sum += text_number(&self.text_of(*place)?);
        }
        Ok(Value::Number(sum))
    }

    fn with_ids(&mut self, value: &Value<'a>) -> Result<Value<'a>, OutOfSteps> {
        let mut ids = String::new();
        match value {
            Value::Nodes(nodes) => {
                for place in nodes {
                    ids.push_str(&self.text_of(*place)?);
                    ids.push(' ');
                }
            }
            other => ids = self.text(other)?,
        }
        self.budget.take(self.document.len())?;
        let ids: Vec<&str> = ids.split_ascii_whitespace().collect();
        let has = |element: &Node<'a>| element.attribute("id").is_some_and(|id| ids.contains(&id.as_ref()));
        Ok(Value::Nodes(self.document.elements().filter(has).map(Place::Node).collect()))
    }
}

/// Characters by their places from 1 on, rounded (XPath 1.0, 4.2).
fn substring(text: &str, from: f64, length: Option<f64>) -> String {
    let round = |number: f64| (number + 0.5).floor();
    let begin = round(from);
    let end = length.map_or(f64::INFINITY, |length| begin + round(length));
    let is_within = |at: usize| (at as f64) >= begin && (at as f64) < end;
    text.chars().enumerate().filter(|(at, _)| is_within(at + 1)).map(|(_, char)| char).collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let translated = |char: char| match from.chars().position(|other| other == char) {
        Some(at) => to.get(at).copied(),
        None => Some(char),
    };
    text.chars().filter_map(translated).collect()
}

fn is_in_language(node: Node<'_>, language: &str) -> bool {
    let given = std::iter::once(node).chain(node.ancestors()).find_map(|node| node.attribute("lang"));
    given.is_some_and(|given| {
        given.get(..language.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(language))
            && matches!(given.as_bytes().get(language.len()), None | Some(b'-'))
    })
}
