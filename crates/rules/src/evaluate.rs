//! Evaluates expressions on a page. Each look at a node is a step of the budget, and so are 64 bytes of text, so the time of a query is linear
//! in the page, whatever the query and the page are.

mod css;
mod functions;

use extract::html::dom::{Document, Node};

use crate::query::{Axis, Budget, Expr, Operator, OutOfSteps, Place, Start, Step, Test, children_of, inside, nodes_in};

/// The longest text of a node that a query looks at, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Bytes of text for a step.
pub(crate) const BYTES_A_STEP: usize = 64;

/// What an expression gives.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    /// In the order of the document, each once.
    Nodes(Vec<Place<'a>>),
    Text(String),
    Number(f64),
    Bool(bool),
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) place: Place<'a>,
    /// From 1 on.
    pub(crate) position: usize,
    pub(crate) size: usize,
}

pub(crate) struct Evaluator<'a, 'b> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) budget: &'b mut Budget,
}

/// The nodes that an expression gives at a place; none if it gives something else.
pub(crate) fn nodes<'a>(
    expr: &Expr,
    place: Place<'a>,
    document: &'a Document<'a>,
    budget: &mut Budget,
) -> Result<Value<'a>, OutOfSteps> {
    Evaluator { document, budget }.value(expr, Context { place, position: 1, size: 1 })
}

impl<'a> Evaluator<'a, '_> {
    pub(crate) fn value(&mut self, expr: &Expr, context: Context<'a>) -> Result<Value<'a>, OutOfSteps> {
        self.budget.take(1)?;
        Ok(match expr {
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Number(number) => Value::Number(*number),
            Expr::Negative(inner) => {
                let value = self.value(inner, context)?;
                Value::Number(-self.number(&value)?)
            }
            Expr::Binary(operator, left, right) => return self.binary(*operator, left, right, context),
            Expr::Path(start, steps) => Value::Nodes(self.path(start, steps, context)?),
            Expr::Call(function, arguments) => return self.call(*function, arguments, context),
            Expr::Css(condition) => Value::Bool(self.meets(condition, context)?),
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        context: Context<'a>,
    ) -> Result<Value<'a>, OutOfSteps> {
        let left = self.value(left, context)?;
        match operator {
            Operator::Or if truth(&left) => return Ok(Value::Bool(true)),
            Operator::And if !truth(&left) => return Ok(Value::Bool(false)),
            _ => {}
        }
        let right = self.value(right, context)?;
        Ok(match operator {
            Operator::Or | Operator::And => Value::Bool(truth(&right)),
            Operator::Union => {
                let (Value::Nodes(mut both), Value::Nodes(more)) = (left, right) else {
                    return Ok(Value::Nodes(Vec::new()));
                };
                both.extend(more);
                Value::Nodes(sorted(both))
            }
            Operator::Plus => Value::Number(self.number(&left)? + self.number(&right)?),
            Operator::Minus => Value::Number(self.number(&left)? - self.number(&right)?),
            Operator::Times => Value::Number(self.number(&left)? * self.number(&right)?),
            Operator::Divide => Value::Number(self.number(&left)? / self.number(&right)?),
            Operator::Modulo => Value::Number(self.number(&left)? % self.number(&right)?),
            comparison => Value::Bool(self.compare(comparison, &left, &right)?),
        })
    }

    /// Compares values (XPath 1.0, 3.4): of nodes, one that meets it is enough.
    fn compare(&mut self, operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Result<bool, OutOfSteps> {
        match (left, right) {
            (Value::Nodes(_), Value::Bool(_)) => self.compare_plain(operator, &Value::Bool(truth(left)), right),
            (Value::Bool(_), Value::Nodes(_)) => self.compare_plain(operator, left, &Value::Bool(truth(right))),
            (Value::Nodes(nodes), other) => {
                for node in nodes {
                    let text = Value::Text(self.text_of(*node)?);
                    if self.compare(operator, &text, other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (other, Value::Nodes(nodes)) => {
                for node in nodes {
                    let text = Value::Text(self.text_of(*node)?);
                    if self.compare_plain(operator, other, &text)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => self.compare_plain(operator, left, right),
        }
    }

    fn compare_plain(&mut self, operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Result<bool, OutOfSteps> {
        let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        if is_equality {
            let equal = match (left, right) {
                (Value::Bool(_), _) | (_, Value::Bool(_)) => truth(left) == truth(right),
                (Value::Number(_), _) | (_, Value::Number(_)) => self.number(left)? == self.number(right)?,
                _ => self.text(left)? == self.text(right)?,
            };
            return Ok(equal == (operator == Operator::Equal));
        }
        let (left, right) = (self.number(left)?, self.number(right)?);
        Ok(match operator {
            Operator::Less => left < right,
            Operator::LessOrEqual => left <= right,
            Operator::Greater => left > right,
            _ => left >= right,
        })
    }

    pub(crate) fn text_of(&mut self, place: Place<'a>) -> Result<String, OutOfSteps> {
        let nodes = match place {
            Place::Node(node) => (node.end() - node.id()) as usize,
            Place::Attribute(..) => 1,
        };
        self.budget.take(nodes)?;
        // One character more, to see that there is more.
        let mut text = place.text(TEXT_BYTES_MAX + char::MAX.len_utf8());
        if text.len() > TEXT_BYTES_MAX {
            self.budget.has_cut_text = true;
            text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned().into();
        }
        self.budget.take(text.len() / BYTES_A_STEP)?;
        Ok(text.into_owned())
    }

    pub(crate) fn text(&mut self, value: &Value<'a>) -> Result<String, OutOfSteps> {
        Ok(match value {
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => self.text_of(*first)?,
                None => String::new(),
            },
            Value::Text(text) => text.clone(),
            Value::Number(number) => functions::number_text(*number),
            Value::Bool(bool) => bool.to_string(),
        })
    }

    pub(crate) fn number(&mut self, value: &Value<'a>) -> Result<f64, OutOfSteps> {
        Ok(match value {
            Value::Number(number) => *number,
            Value::Bool(bool) => f64::from(u8::from(*bool)),
            Value::Text(text) => functions::text_number(text),
            nodes @ Value::Nodes(_) => functions::text_number(&self.text(nodes)?),
        })
    }

    fn path(&mut self, start: &Start, steps: &[Step], context: Context<'a>) -> Result<Vec<Place<'a>>, OutOfSteps> {
        let mut places = match start {
            Start::Root => vec![Place::Node(self.document.root())],
            Start::Context => vec![context.place],
            Start::Of(expr, predicates) => {
                let Value::Nodes(mut nodes) = self.value(expr, context)? else { return Ok(Vec::new()) };
                for predicate in predicates {
                    nodes = self.filtered(nodes, predicate)?;
                }
                nodes
            }
        };
        for step in steps {
            places = self.step(&places, step)?;
        }
        Ok(places)
    }

    /// One step from all places.
    fn step(&mut self, places: &[Place<'a>], step: &Step) -> Result<Vec<Place<'a>>, OutOfSteps> {
        let is_positional = step.predicates.iter().any(Expr::is_positional);
        let mut found = Vec::new();
        let mut covered = 0;
        for place in places {
            let mut candidates = Vec::new();
            // What is inside of the place before was seen already.
            let from = if is_positional { 0 } else { covered };
            self.candidates(*place, step, from, &mut candidates)?;
            if matches!(step.axis, Axis::Descendant | Axis::DescendantOrSelf) {
                covered = covered.max(place.node().end());
            }
            for predicate in &step.predicates {
                candidates = self.filtered(candidates, predicate)?;
            }
            found.extend(candidates);
        }
        Ok(if places.len() == 1 && !step.axis.is_reverse() { found } else { sorted(found) })
    }

    /// The places on an axis that pass its test, in the order of the axis. Of descendants those from a number on.
    fn candidates(
        &mut self,
        place: Place<'a>,
        step: &Step,
        from: u32,
        into: &mut Vec<Place<'a>>,
    ) -> Result<(), OutOfSteps> {
        let node = place.node();
        if let Place::Attribute(..) = place {
            // An attribute has a parent and nothing else.
            let above: Vec<Node<'a>> = match step.axis {
                Axis::Parent => vec![node],
                Axis::Ancestor | Axis::AncestorOrSelf => std::iter::once(node).chain(node.ancestors()).collect(),
                Axis::Itself if matches!(step.test, Test::Node) => {
                    into.push(place);
                    return Ok(());
                }
                _ => return Ok(()),
            };
            return self.take_nodes(above.into_iter(), &step.test, into);
        }
        match step.axis {
            Axis::Child => self.take_nodes(children_of(node), &step.test, into),
            Axis::Descendant => self.take_nodes(inside(node, from), &step.test, into),
            Axis::DescendantOrSelf => {
                let itself = (node.id() >= from).then_some(node);
                self.take_nodes(itself.into_iter().chain(inside(node, from)), &step.test, into)
            }
            Axis::Parent => self.take_nodes(node.parent().into_iter(), &step.test, into),
            Axis::Ancestor => self.take_nodes(node.ancestors(), &step.test, into),
            Axis::AncestorOrSelf => self.take_nodes(std::iter::once(node).chain(node.ancestors()), &step.test, into),
            Axis::FollowingSibling => self.take_nodes(
                std::iter::successors(node.next_sibling(), |node| node.next_sibling()),
                &step.test,
                into,
            ),
            Axis::PrecedingSibling => {
                let before = std::iter::successors(node.previous_sibling(), |node| node.previous_sibling());
                self.take_nodes(before, &step.test, into)
            }
            Axis::Following => {
                let last = u32::try_from(self.document.len()).unwrap_or(u32::MAX);
                self.take_nodes(nodes_in(self.document, node.end()..last), &step.test, into)
            }
            Axis::Preceding => {
                let before = nodes_in(self.document, 1..node.id()).filter(|other| other.end() <= node.id());
                let before: Vec<Node<'a>> = before.collect();
                self.take_nodes(before.into_iter().rev(), &step.test, into)
            }
            Axis::Itself => self.take_nodes(std::iter::once(node), &step.test, into),
            Axis::NextElement => {
                let behind = std::iter::successors(node.next_sibling(), |node| node.next_sibling());
                self.take_nodes(behind.filter(|node| node.is_element()).take(1), &step.test, into)
            }
            Axis::Attribute => {
                for (at, (name, _)) in node.attributes().enumerate() {
                    self.budget.take(1)?;
                    let passes = match &step.test {
                        Test::Any | Test::Node => true,
                        Test::Name(wanted) => name.eq_ignore_ascii_case(wanted),
                        Test::Text | Test::Nothing => false,
                    };
                    if passes {
                        into.push(Place::Attribute(node, at));
                    }
                }
                Ok(())
            }
        }
    }

    fn take_nodes(
        &mut self,
        nodes: impl Iterator<Item = Node<'a>>,
        test: &Test,
        into: &mut Vec<Place<'a>>,
    ) -> Result<(), OutOfSteps> {
        for node in nodes {
            self.budget.take(1)?;
            if passes(node, test) {
                into.push(Place::Node(node));
            }
        }
        Ok(())
    }

    /// The places at which a predicate holds.
    fn filtered(&mut self, places: Vec<Place<'a>>, predicate: &Expr) -> Result<Vec<Place<'a>>, OutOfSteps> {
        // The most usual one.
        if let Expr::Number(number) = predicate {
            let place = places.iter().enumerate().find(|(at, _)| (*at + 1) as f64 == *number).map(|(_, place)| *place);
            return Ok(place.into_iter().collect());
        }
        let size = places.len();
        let mut kept = Vec::new();
        for (at, place) in places.into_iter().enumerate() {
            let context = Context { place, position: at + 1, size };
            let holds = match self.value(predicate, context)? {
                Value::Number(number) => number == context.position as f64,
                other => truth(&other),
            };
            if holds {
                kept.push(place);
            }
        }
        Ok(kept)
    }
}

pub(crate) fn passes(node: Node<'_>, test: &Test) -> bool {
    match test {
        Test::Any => node.is_element(),
        Test::Name(name) => node.is(name),
        Test::Text => node.is_text(),
        Test::Node => true,
        Test::Nothing => false,
    }
}

/// What a value is as a condition.
pub(crate) fn truth(value: &Value<'_>) -> bool {
    match value {
        Value::Nodes(nodes) => !nodes.is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Bool(bool) => *bool,
    }
}

/// In the order of the document, each once.
fn sorted(mut places: Vec<Place<'_>>) -> Vec<Place<'_>> {
    places.sort_by_key(|place| place.order());
    places.dedup_by_key(|place| place.order());
    places
}
