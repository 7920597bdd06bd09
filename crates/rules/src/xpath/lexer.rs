//! The tokens of an XPath (XPath 1.0, 3.7).

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    Number(f64),
    /// An operator or a bracket; `wildcard` is the star that is no multiplication.
    Symbol(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "{name}"),
            Token::Text(text) => write!(f, "'{text}'"),
            Token::Number(number) => write!(f, "{number}"),
            Token::Symbol("wildcard") => write!(f, "*"),
            Token::Symbol(symbol) => write!(f, "{symbol}"),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 21] =
    ["::", "//", "..", "!=", "<=", ">=", "/", "(", ")", "[", "]", ".", "@", ",", "|", "+", "-", "=", "<", ">", "*"];
/// Names that are operators where one can stand.
const WORDS: [&str; 4] = ["and", "or", "div", "mod"];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first, can_be_operator(tokens.last()))?;
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Whether an operator may follow (3.7, "disambiguation").
fn can_be_operator(before: Option<&Token>) -> bool {
    match before {
        None => false,
        Some(Token::Symbol(symbol)) => matches!(*symbol, ")" | "]" | "." | ".." | "wildcard"),
        Some(_) => true,
    }
}

fn token(rest: &str, first: char, after_operand: bool) -> Result<(Token, usize), String> {
    if first == '"' || first == '\'' {
        let end = rest[1..].find(first).ok_or_else(|| format!("the text {rest} has no end"))?;
        return Ok((Token::Text(rest[1..=end].to_owned()), end + 2));
    }
    let is_number =
        first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()));
    if is_number {
        let end = rest.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(rest.len());
        let number = rest[..end].parse().map_err(|_| format!("{} is no number", &rest[..end]))?;
        return Ok((Token::Number(number), end));
    }
    if first.is_alphabetic() || first == '_' {
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
        let mut end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        // A prefix, but not an axis.
        if rest[end..].starts_with(':') && !rest[end..].starts_with("::") {
            let behind = &rest[end + 1..];
            end += 1 + match behind.strip_prefix('*') {
                Some(_) => 1,
                None => behind.find(|char| !is_part(char)).unwrap_or(behind.len()),
            };
        }
        let word = WORDS.iter().find(|word| **word == &rest[..end]).filter(|_| after_operand);
        return Ok((word.map_or_else(|| Token::Name(rest[..end].to_owned()), |word| Token::Symbol(word)), end));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(&"*") if !after_operand => Ok((Token::Symbol("wildcard"), 1)),
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None if first == '$' => Err("there are no variables".to_owned()),
        None => Err(format!("{first} is not expected here")),
    }
}
