//! The commands of a page of Markdown, with what the page says they print.
//!
//! A block marked `sh` or `python` is run. A block marked `text` is what the block before it prints on standard output; `…` on a line of its own stands for any
//! lines. Comments before a block say what differs: `<!-- not run: REASON -->`, `<!-- exit 3 -->`, and `<!-- numbers vary -->` before a `text`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the script prints before each block.
const MARK: &str = "@@block ";

/// A page as it is tested.
#[derive(Debug, Default, PartialEq)]
pub struct Page {
    pub blocks: Vec<Block>,
    /// Blocks of Rust: each is part of an example.
    pub rust: Vec<String>,
}

/// A block of commands.
#[derive(Debug, PartialEq)]
pub struct Block {
    pub code: String,
    pub run: Run,
    pub output: Option<Output>,
}

/// Whether a block is run, and how it ends.
#[derive(Debug, PartialEq)]
pub enum Run {
    Yes { exit_code: u8 },
    No,
}

/// What a block prints.
#[derive(Debug, PartialEq)]
pub struct Output {
    pub text: String,
    pub numbers_vary: bool,
}

impl Block {
    pub fn is_left_out(&self) -> bool {
        self.run == Run::No
    }
}

impl Page {
    /// Reads a page.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut page = Self::default();
        let (mut comment, mut lines) = (String::new(), text.lines());
        while let Some(line) = lines.next() {
            if let Some(said) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
                said.trim().clone_into(&mut comment);
                continue;
            }
            let Some(language) = line.strip_prefix("```") else {
                comment.clear();
                continue;
            };
            let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            page.add(language, code.join("\n") + "\n", &std::mem::take(&mut comment))?;
        }
        Ok(page)
    }

    fn add(&mut self, language: &str, code: String, comment: &str) -> Result<(), String> {
        match language {
            "sh" => self.blocks.push(Block { run: how(comment)?, code, output: None }),
            "python" => {
                let code = format!("python3 - <<'PYTHON'\n{code}PYTHON\n");
                self.blocks.push(Block { run: how(comment)?, code, output: None });
            }
            "text" => {
                let numbers_vary = match comment {
                    "" => false,
                    "numbers vary" => true,
                    other => return Err(format!("`{other}` is not understood")),
                };
                match self.blocks.last_mut() {
                    Some(block) if block.output.is_none() => block.output = Some(Output { text: code, numbers_vary }),
                    _ => return Err(format!("no command prints {code}")),
                }
            }
            "rust" => self.rust.push(code),
            _ => {}
        }
        Ok(())
    }

    /// All blocks that are run, as one script for bash. What runs in the background ends with it.
    pub fn script(&self) -> String {
        let mut script = String::from("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n");
        for (number, block) in self.blocks.iter().enumerate() {
            let Run::Yes { exit_code } = block.run else { continue };
            // Writing to a string does not fail.
            let _ = match exit_code {
                0 => writeln!(script, "echo '{MARK}{number}'\n{}", block.code),
                code => {
                    writeln!(script, "echo '{MARK}{number}'\nset +e\n{}test $? = {code} || exit 99\nset -e", block.code)
                }
            };
        }
        script
    }
}

/// What a comment before a block says.
fn how(comment: &str) -> Result<Run, String> {
    match comment.split_once(' ') {
        None if comment.is_empty() => Ok(Run::Yes { exit_code: 0 }),
        Some(("not", reason)) if reason.len() > "run: ".len() && reason.starts_with("run: ") => Ok(Run::No),
        Some(("exit", code)) => Ok(Run::Yes { exit_code: code.parse().map_err(|_| comment.to_owned())? }),
        _ => Err(format!("`{comment}` is not understood")),
    }
}

/// What the script printed, by the number of the block.
pub fn by_block(printed: &str) -> BTreeMap<usize, String> {
    let parts = printed.split(MARK).skip(1).filter_map(|part| part.split_once('\n'));
    parts.filter_map(|(number, text)| Some((number.parse().ok()?, text.to_owned()))).collect()
}

#[test]
fn blocks_have_their_output_and_how_they_run() {
    let text = "Words.\n\n```sh\na\n```\n\nIt prints:\n\n<!-- numbers vary -->\n```text\nA 1\n```\n<!-- not run: slow -->\n```sh\nb\n```\n<!-- exit 3 -->\n```sh\nc\nd\n```\n```rust\ne\n```\n";
    let page = Page::read(text).unwrap();
    let output = Some(Output { text: "A 1\n".to_owned(), numbers_vary: true });
    let block = |code: &str, run, output| Block { code: code.to_owned(), run, output };
    let blocks = vec![
        block("a\n", Run::Yes { exit_code: 0 }, output),
        block("b\n", Run::No, None),
        block("c\nd\n", Run::Yes { exit_code: 3 }, None),
    ];
    assert_eq!(page, Page { blocks, rust: vec!["e\n".to_owned()] });
    let script = page.script();
    assert!(script.contains("'@@block 0'\na\n") && script.contains("c\nd\ntest $? = 3"), "{script}");
    assert!(!script.contains("b\n"), "{script}");
    assert_eq!(by_block("@@block 0\nA\n1\n@@block 2\n"), BTreeMap::from([(0, "A\n1\n".into()), (2, String::new())]));
}

#[test]
fn what_is_not_understood_is_an_error() {
    for text in ["```text\na\n```\n", "<!-- not run: -->\n```sh\na\n```\n", "<!-- numbers -->\n```sh\na\n```\n"] {
        assert!(Page::read(text).is_err(), "{text}");
    }
}
