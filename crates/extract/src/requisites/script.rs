//! A script to the modules that it imports by their names: `import … from "x"`, `import "x"`, `export … from "x"`, `import("x")`
//! (ECMAScript, 16.2.2 and 13.3.10). Names that an import map has to resolve (`"react"`) come apart.
//!
//! Comments, strings, templates and regular expressions are skipped. Whether `/` divides or begins a regular expression is decided by what
//! is before it. After `)`, `]` and `}` it counts as division, so a regular expression there may hide what follows in its line.

use super::Requisites;

/// Names behind which `/` begins a regular expression, since an expression follows them.
const BEFORE_EXPRESSION: [&str; 16] = [
    "return",
    "typeof",
    "case",
    "in",
    "of",
    "delete",
    "void",
    "throw",
    "new",
    "do",
    "else",
    "instanceof",
    "yield",
    "await",
    "default",
    "extends",
];

/// Adds the modules that a script imports.
pub fn of_script(text: &str, found: &mut Requisites) {
    let (before, statement, templates) = (Before::Nothing, Statement::Other, Vec::new());
    Scanner { rest: text, before, statement, templates, braces: 0, endless_until: usize::MAX }.scan(found);
}

/// What stands before, as far as it decides what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The end of an expression: `/` divides it.
    Operand,
    /// `.`: what follows is a property.
    Dot,
    /// An operator, or a name that is followed by an expression.
    Operator,
}

/// How far an import or export is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Statement {
    Other,
    /// `import`.
    Import,
    /// `import(`.
    Call,
    /// Behind `import` or `export`: the names.
    Names,
    /// `from`.
    From,
}

struct Scanner<'t> {
    rest: &'t str,
    before: Before,
    statement: Statement,
    /// The braces that are open around each template whose `${` is open.
    templates: Vec<usize>,
    /// The braces that are open.
    braces: usize,
    /// How much of the text is left behind the line in which a regular expression had no end: no other one in it is looked for.
    endless_until: usize,
}

impl Scanner<'_> {
    fn scan(mut self, found: &mut Requisites) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '/' if self.rest.starts_with("//") => {
                    let end = self.rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(self.rest.len());
                    self.skip(end);
                }
                '/' if self.rest.starts_with("/*") => {
                    let end = self.rest[2..].find("*/").map_or(self.rest.len(), |at| at + 4);
                    self.skip(end);
                }
                '/' if self.before != Before::Operand => self.regular_expression(),
                '"' | '\'' => self.string(first, found),
                '`' => {
                    self.skip(1);
                    self.template();
                }
                '}' if self.templates.last() == Some(&self.braces) => {
                    self.templates.pop();
                    self.skip(1);
                    self.template();
                }
                first if is_name(first) => self.name(),
                first if first.is_whitespace() => self.skip(first.len_utf8()),
                first => self.punctuator(first),
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn name(&mut self) {
        let end = self.rest.find(|char| !is_name(char)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.statement = match (name, self.statement) {
            _ if self.before == Before::Dot => Statement::Other,
            ("import", _) => Statement::Import,
            ("export", _) => Statement::Names,
            ("from", Statement::Names | Statement::Import) => Statement::From,
            (_, Statement::Names | Statement::Import) => Statement::Names,
            // `import from from "x"`: the first one is a name.
            (_, Statement::From) => {
                if name == "from" {
                    Statement::From
                } else {
                    Statement::Names
                }
            }
            (_, Statement::Call | Statement::Other) => Statement::Other,
        };
        let is_before_expression = self.before != Before::Dot && BEFORE_EXPRESSION.contains(&name);
        self.before = if is_before_expression { Before::Operator } else { Before::Operand };
    }

    fn punctuator(&mut self, first: char) {
        self.skip(first.len_utf8());
        match first {
            '{' => self.braces += 1,
            '}' => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        self.statement = match (first, self.statement) {
            ('(', Statement::Import) => Statement::Call,
            ('{' | '}' | '*' | ',', Statement::Import | Statement::Names | Statement::From) => Statement::Names,
            _ => Statement::Other,
        };
        self.before = match first {
            ')' | ']' | '}' => Before::Operand,
            '.' => Before::Dot,
            _ => Before::Operator,
        };
    }

    /// A string, of which the quote is next. One that is not closed ends with its line.
    fn string(&mut self, quote: char, found: &mut Requisites) {
        self.skip(1);
        let begin = self.rest;
        let (mut end, mut is_plain) = (begin.len(), true);
        let mut chars = begin.char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => {
                    is_plain = false;
                    chars.next();
                }
                '\n' | '\r' => {
                    (end, is_plain) = (at, false);
                    break;
                }
                char if char == quote => {
                    end = at;
                    break;
                }
                _ => {}
            }
        }
        self.skip(end);
        if self.rest.starts_with(quote) {
            self.skip(1);
        }
        let is_imported = match self.statement {
            Statement::Import | Statement::From => true,
            Statement::Call => matches!(self.rest.trim_start().chars().next(), Some(')' | ',')),
            Statement::Names | Statement::Other => false,
        };
        if is_imported && is_plain {
            found.add_module(&begin[..end]);
        }
        // `import { "a b" as c } from "x"` goes on.
        self.statement = if self.statement == Statement::Names { Statement::Names } else { Statement::Other };
        self.before = Before::Operand;
    }

    /// What is left of a template, up to its end or the next `${`.
    fn template(&mut self) {
        (self.before, self.statement) = (Before::Operand, Statement::Other);
        let mut bytes = self.rest.bytes().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'\\' => {
                    bytes.next();
                }
                b'`' => return self.skip(at + 1),
                b'$' if self.rest.as_bytes().get(at + 1) == Some(&b'{') => {
                    self.templates.push(self.braces);
                    self.before = Before::Operator;
                    return self.skip(at + 2);
                }
                _ => {}
            }
        }
        self.rest = "";
    }

    /// A regular expression; if none ends in this line, only its `/`.
    fn regular_expression(&mut self) {
        let end = if self.rest.len() > self.endless_until { None } else { self.end_of_regular_expression() };
        self.skip(end.unwrap_or(1));
        self.statement = Statement::Other;
        self.before = if end.is_some() { Before::Operand } else { Before::Operator };
    }

    fn end_of_regular_expression(&mut self) -> Option<usize> {
        let (mut in_class, mut end_of_line) = (false, self.rest.len());
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => {
                    chars.next();
                }
                '\n' | '\r' => {
                    end_of_line = at;
                    break;
                }
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => return Some(at + 1),
                _ => {}
            }
        }
        self.endless_until = self.rest.len() - end_of_line;
        None
    }
}

fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$' | '#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, hrefs};

    fn check(script: &str, expect: &[&str]) {
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        of_script(script, &mut found);
        assert_eq!(hrefs(&found), expect, "{script}");
    }

    #[test]
    fn imports_and_exports() {
        check("import './a.js'", &["./a.js"]);
        check(
            "import a from './a.js';import {b as c, d} from \"../b.js\"\nimport * as e from '/c.js'",
            &["./a.js", "../b.js", "/c.js"],
        );
        check("import a, { b } from './a.js' with { type: 'json' }", &["./a.js"]);
        check(
            "import{a}from'./a.js';export{b}from'./b.js';export*from'./c.js';export * as d from './d.js'",
            &["./a.js", "./b.js", "./c.js", "./d.js"],
        );
        check(
            "import { 'x y' as z } from './a.js'; import from from './b.js'; import {from} from './c.js'",
            &["./a.js", "./b.js", "./c.js"],
        );
        check("import /* a */ a // b\n from './a.js'", &["./a.js"]);
        check(
            "const a = await import('./a.js'), b = import( \"https://b.test/b.js\" )",
            &["./a.js", "https://b.test/b.js"],
        );
        check("import react from 'react'; import 'lodash/x'", &[]);
    }

    #[test]
    fn names_for_an_import_map() {
        let mut found = Requisites::new(Limits { references_max: 2, href_bytes_max: 10 });
        of_script("import 'a/b'; export * from 'c'; import('./d.js'); import 'e'; import 'a/b'", &mut found);
        let modules: Vec<&str> = found.modules.iter().map(String::as_str).collect();
        assert_eq!((modules, hrefs(&found)), (vec!["a/b", "c"], vec!["./d.js"]), "two at most");
        assert!(found.is_cut);
    }

    /// The test runner has a limit.
    #[test]
    fn regular_expressions_without_an_end_take_linear_time() {
        for part in ["/[", "/[\n", "(/\\"] {
            check(&format!("{}\n;import './a.js'", part.repeat(500_000)), &["./a.js"]);
        }
    }

    #[test]
    fn what_only_looks_so() {
        check("x.import('./a.js'); x.from './b.js'; import.meta.url + './c.js'", &[]);
        check("// import './a.js'\n/* import './b.js' */ 'import \"./c.js\"'", &[]);
        check("`import './a.js' ${ x({}) } import './b.js'`; import './c.js'", &["./c.js"]);
        check("`${`${1}`}`; import './a.js'", &["./a.js"]);
        check("export const a = './a.js'; export default './b.js'; export function f() { return './c.js' }", &[]);
        check("import('./a' + x); import(`./b.js`)", &[]);
        check("a = /import '.\\/a.js'/; b = c / 2; import './d.js'", &["./d.js"]);
        check("a = /[/'\"]/; import './b.js'", &["./b.js"]);
        check("return /'/.test(x); import './b.js'", &["./b.js"]);
        check("const s = 'open\nimport './a.js'", &["./a.js"]);
        check("Array.from('./a.js'); const from = './b.js'", &[]);
        check("`", &[]);
        check("'\\", &[]);
        check("/", &[]);
        check("a = /[ /x'/;\nimport './b.js'; c = /x'/; import './d.js'", &["./b.js", "./d.js"]);
        check("import { a } from './č.js' // č", &["./č.js"]);
    }
}
