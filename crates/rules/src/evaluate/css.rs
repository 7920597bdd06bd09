//! The conditions of CSS selectors on an element.

use extract::html::dom::Node;

use super::{Context, Evaluator, passes, truth};
use crate::query::{Css, Matching, OutOfSteps, children_of};

impl<'a> Evaluator<'a, '_> {
    pub(super) fn meets(&mut self, condition: &Css, context: Context<'a>) -> Result<bool, OutOfSteps> {
        let node = context.place.node();
        Ok(match condition {
            Css::Class(class) => {
                node.attribute("class").is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class))
            }
            Css::Attribute { name, how, value, ignores_case } => node.attribute(name).is_some_and(|found| {
                if *ignores_case {
                    matches(&found.to_lowercase(), *how, &value.to_lowercase())
                } else {
                    matches(&found, *how, value)
                }
            }),
            Css::Nth { step, offset, of_type, from_end } => {
                let place = self.place_among_siblings(node, *of_type, *from_end)?;
                // A * n + B for an n of 0 or more.
                let distance = place - offset;
                if *step == 0 { distance == 0 } else { distance % step == 0 && distance / step >= 0 }
            }
            Css::Empty => children_of(node).next().is_none(),
            Css::Root => node.parent().is_some_and(|parent| parent.id() == 0),
            Css::Itself(test) => passes(node, test),
            Css::Contains(text) => self.text_of(context.place)?.contains(text.as_str()),
            Css::Not(inner) => {
                let value = self.value(inner, context)?;
                !truth(&value)
            }
            Css::Any(conditions) => {
                for condition in conditions {
                    let value = self.value(condition, context)?;
                    if truth(&value) {
                        return Ok(true);
                    }
                }
                false
            }
            Css::All(conditions) => {
                for condition in conditions {
                    let value = self.value(condition, context)?;
                    if !truth(&value) {
                        return Ok(false);
                    }
                }
                true
            }
        })
    }

    /// From 1 on.
    fn place_among_siblings(&mut self, node: Node<'a>, of_type: bool, from_end: bool) -> Result<i64, OutOfSteps> {
        let mut place = 1;
        let mut sibling = Some(node);
        loop {
            sibling = sibling.and_then(|node| if from_end { node.next_sibling() } else { node.previous_sibling() });
            let Some(other) = sibling else { return Ok(place) };
            self.budget.take(1)?;
            place += i64::from(other.is_element() && (!of_type || other.is(node.name())));
        }
    }
}

fn matches(found: &str, how: Matching, value: &str) -> bool {
    match how {
        Matching::Has => true,
        Matching::Equals => found == value,
        Matching::Word => !value.is_empty() && found.split_ascii_whitespace().any(|word| word == value),
        Matching::Dash => found.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        Matching::Begins => !value.is_empty() && found.starts_with(value),
        Matching::Ends => !value.is_empty() && found.ends_with(value),
        Matching::Contains => !value.is_empty() && found.contains(value),
    }
}
