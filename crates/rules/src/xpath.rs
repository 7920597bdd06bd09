//! XPath 1.0: text to expressions.
//!
//! What it does not have, since pages have no such nodes: namespaces (a prefix is left out), comments, processing instructions, variables.
//! Names match in any case, as in browsers.

mod lexer;

use crate::function::Function;
use crate::query::{Axis, Expr, Operator, Start, Step, Test};
use lexer::{Token, tokens};

/// How deep expressions are nested, at most.
const DEPTH_MAX: usize = 64;

/// The functions, each with the least and the greatest number of arguments.
const FUNCTIONS: [(&str, Function, usize, usize); 29] = [
    ("last", Function::Last, 0, 0),
    ("position", Function::Position, 0, 0),
    ("count", Function::Count, 1, 1),
    ("id", Function::Id, 1, 1),
    ("local-name", Function::LocalName, 0, 1),
    ("name", Function::Name, 0, 1),
    ("namespace-uri", Function::NamespaceUri, 0, 1),
    ("string", Function::String, 0, 1),
    ("concat", Function::Concat, 2, usize::MAX),
    ("starts-with", Function::StartsWith, 2, 2),
    ("ends-with", Function::EndsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring", Function::Substring, 2, 3),
    ("string-length", Function::StringLength, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("translate", Function::Translate, 3, 3),
    ("lower-case", Function::LowerCase, 1, 1),
    ("boolean", Function::Boolean, 1, 1),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
    ("lang", Function::Lang, 1, 1),
    ("number", Function::Number, 0, 1),
    ("sum", Function::Sum, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("round", Function::Round, 1, 1),
];

const AXES: [(&str, Axis); 12] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("following", Axis::Following),
    ("preceding", Axis::Preceding),
    ("attribute", Axis::Attribute),
    ("self", Axis::Itself),
];

/// Reads an XPath.
///
/// # Errors
/// It is none; the text says what is wrong.
pub(crate) fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expr = parser.expr(0)?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(format!("{token} is not expected here")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(found)) if *found == symbol)
    }

    fn take(&mut self, symbol: &str) -> bool {
        let is_there = self.is(symbol);
        self.at += usize::from(is_there);
        is_there
    }

    fn want(&mut self, symbol: &str) -> Result<(), String> {
        if self.take(symbol) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => format!("{symbol} is expected before {token}"),
            None => format!("{symbol} is missing at the end"),
        })
    }

    /// The operator here, with how strongly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        let Some(Token::Symbol(symbol)) = self.peek() else { return None };
        Some(match *symbol {
            "or" => (Operator::Or, 1),
            "and" => (Operator::And, 2),
            "=" => (Operator::Equal, 3),
            "!=" => (Operator::NotEqual, 3),
            "<" => (Operator::Less, 4),
            "<=" => (Operator::LessOrEqual, 4),
            ">" => (Operator::Greater, 4),
            ">=" => (Operator::GreaterOrEqual, 4),
            "+" => (Operator::Plus, 5),
            "-" => (Operator::Minus, 5),
            "*" => (Operator::Times, 6),
            "div" => (Operator::Divide, 6),
            "mod" => (Operator::Modulo, 6),
            "|" => (Operator::Union, 8),
            _ => return None,
        })
    }

    fn expr(&mut self, weakest: u8) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX}"));
        }
        let mut left = if self.take("-") { Expr::Negative(Box::new(self.expr(7)?)) } else { self.path()? };
        while let Some((operator, strength)) = self.operator().filter(|(_, strength)| *strength > weakest) {
            self.at += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.expr(strength)?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn path(&mut self) -> Result<Expr, String> {
        let start = match self.peek() {
            Some(Token::Text(text)) => Some(Expr::Text(text.clone())),
            Some(Token::Number(number)) => Some(Expr::Number(*number)),
            _ => None,
        };
        let start = match start {
            Some(literal) => {
                self.at += 1;
                Some(literal)
            }
            None if self.take("(") => {
                let inner = self.expr(0)?;
                self.want(")")?;
                Some(inner)
            }
            None => self.call()?,
        };
        if let Some(start) = start {
            let predicates = self.predicates()?;
            let has_steps = self.is("/") || self.is("//");
            if predicates.is_empty() && !has_steps {
                return Ok(start);
            }
            let mut steps = Vec::new();
            self.more_steps(&mut steps)?;
            return Ok(Expr::Path(Start::Of(Box::new(start), predicates), steps));
        }
        let mut steps = Vec::new();
        let start = match () {
            () if self.take("//") => {
                steps.push(anything());
                steps.push(self.step()?);
                Start::Root
            }
            () if self.take("/") => {
                if self.begins_step() {
                    steps.push(self.step()?);
                }
                Start::Root
            }
            () => {
                steps.push(self.step()?);
                Start::Context
            }
        };
        self.more_steps(&mut steps)?;
        Ok(Expr::Path(start, merged(steps)))
    }

    fn begins_step(&self) -> bool {
        match self.peek() {
            Some(Token::Name(_)) => true,
            Some(Token::Symbol(symbol)) => matches!(*symbol, "@" | "." | ".." | "wildcard"),
            _ => false,
        }
    }

    fn more_steps(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        loop {
            if self.take("//") {
                steps.push(anything());
            } else if !self.take("/") {
                return Ok(());
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Result<Step, String> {
        if self.take(".") {
            return Ok(Step { axis: Axis::Itself, test: Test::Node, predicates: self.predicates()? });
        }
        if self.take("..") {
            return Ok(Step { axis: Axis::Parent, test: Test::Node, predicates: self.predicates()? });
        }
        let axis = match self.axis()? {
            Some(axis) => axis,
            None if self.take("@") => Axis::Attribute,
            None => Axis::Child,
        };
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    /// The axis that is written here.
    fn axis(&mut self) -> Result<Option<Axis>, String> {
        let (Some(Token::Name(name)), Some(Token::Symbol("::"))) = (self.peek(), self.tokens.get(self.at + 1)) else {
            return Ok(None);
        };
        let axis = AXES.iter().find(|(known, _)| known == name);
        let (_, axis) = axis.ok_or_else(|| format!("there is no axis {name}"))?;
        self.at += 2;
        Ok(Some(*axis))
    }

    fn test(&mut self) -> Result<Test, String> {
        if self.take("wildcard") {
            return Ok(Test::Any);
        }
        let name = match self.peek() {
            Some(Token::Name(name)) => name.clone(),
            Some(token) => return Err(format!("a name is expected before {token}")),
            None => return Err("a name is missing at the end".to_owned()),
        };
        self.at += 1;
        if !self.take("(") {
            // A prefix says nothing in a page.
            let local = name.rsplit(':').next().unwrap_or(&name).to_ascii_lowercase();
            return Ok(if local == "*" { Test::Any } else { Test::Name(local) });
        }
        if let Some(Token::Text(_)) = self.peek() {
            self.at += 1;
        }
        self.want(")")?;
        match name.as_str() {
            "text" => Ok(Test::Text),
            "node" => Ok(Test::Node),
            "comment" | "processing-instruction" => Ok(Test::Nothing),
            _ => Err(format!("there is no function {name}")),
        }
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut predicates = Vec::new();
        while self.take("[") {
            predicates.push(self.expr(0)?);
            self.want("]")?;
        }
        Ok(predicates)
    }

    fn call(&mut self) -> Result<Option<Expr>, String> {
        let (Some(Token::Name(name)), Some(Token::Symbol("("))) = (self.peek(), self.tokens.get(self.at + 1)) else {
            return Ok(None);
        };
        let Some((_, function, least, most)) = FUNCTIONS.iter().find(|(known, ..)| known == name) else {
            return match name.as_str() {
                "text" | "node" | "comment" | "processing-instruction" => Ok(None),
                _ => Err(format!("there is no function {name}")),
            };
        };
        let name = name.clone();
        self.at += 2;
        let mut arguments = Vec::new();
        if !self.take(")") {
            arguments.push(self.expr(0)?);
            while self.take(",") {
                arguments.push(self.expr(0)?);
            }
            self.want(")")?;
        }
        if arguments.len() < *least || arguments.len() > *most {
            return Err(format!("{name}() does not take {} arguments", arguments.len()));
        }
        Ok(Some(Expr::Call(*function, arguments)))
    }
}

/// What `//` stands for.
fn anything() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}

/// Steps with `//x` as one, where that means the same: positions do not count.
fn merged(steps: Vec<Step>) -> Vec<Step> {
    let mut merged: Vec<Step> = Vec::new();
    for step in steps {
        let is_behind_anything = merged.last().is_some_and(|last| *last == anything());
        let has_no_positions = !step.predicates.iter().any(Expr::is_positional);
        if is_behind_anything && step.axis == Axis::Child && has_no_positions {
            merged.pop();
            merged.push(Step { axis: Axis::Descendant, ..step });
        } else {
            merged.push(step);
        }
    }
    merged
}

#[cfg(test)]
mod tests;
