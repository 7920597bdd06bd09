//! Cycles of imports between the files of a crate.
//!
//! A file depends on another if a path in it leads to an item that the other defines, re-exports followed. One dependency does not count: that of
//! a module on its own parent. Code of tests does not count either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Token, UseTree};

/// Imports of imports that are followed: a path that leads further leads in a circle.
const IMPORTS_MAX: usize = 16;

/// The files of a crate and what each depends on.
#[derive(Default)]
pub struct Files {
    files: Vec<PathBuf>,
    modules: BTreeMap<Module, Content>,
    edges: BTreeSet<(usize, usize)>,
}

/// The names from the root of the crate to a module.
type Module = Vec<String>;

#[derive(Default)]
struct Content {
    file: usize,
    names: BTreeMap<String, Name>,
    globs: Vec<Vec<String>>,
}

enum Name {
    Item,
    Module,
    Import(Vec<String>),
}

/// A group of files that depend on each other in a circle.
#[derive(Debug, PartialEq)]
pub struct Cycle {
    /// How many files it has.
    pub files: usize,
    /// The imports among them.
    pub imports: Vec<String>,
}

/// What a path leads to.
enum Found {
    Item(usize),
    Module(Module),
}

impl Files {
    /// Reads the files of a crate from the file of its root.
    ///
    /// # Errors
    /// A file cannot be read, or is no Rust.
    pub fn of(root: &Path) -> anyhow::Result<Self> {
        let mut files = Files::default();
        let mut bodies = Vec::new();
        let dir = root.parent().unwrap_or(Path::new("")).to_owned();
        files.read(root, &dir, Vec::new(), &mut bodies)?;
        let mut edges = BTreeSet::new();
        for (module, items) in bodies {
            let mut paths = Paths::default();
            items.iter().filter(|item| !is_test(attributes(item))).for_each(|item| paths.visit_item(item));
            let from = files.modules[&module].file;
            let parent = module.split_last().map(|(_, parent)| files.modules[parent].file);
            let found = paths.0.iter().filter_map(|path| files.resolve(&module, path, 0));
            let to = found.map(|found| match found {
                Found::Item(file) => file,
                Found::Module(module) => files.modules[&module].file,
            });
            edges.extend(to.filter(|to| *to != from && Some(*to) != parent).map(|to| (from, to)));
        }
        files.edges = edges;
        Ok(files)
    }

    fn read(
        &mut self,
        path: &Path,
        dir: &Path,
        module: Module,
        bodies: &mut Vec<(Module, Vec<Item>)>,
    ) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        self.files.push(path.to_owned());
        self.add(self.files.len() - 1, dir, module, parsed.items, bodies)
    }

    /// Takes in the items of a module. `dir` has the files of its children.
    fn add(
        &mut self,
        file: usize,
        dir: &Path,
        module: Module,
        items: Vec<Item>,
        bodies: &mut Vec<(Module, Vec<Item>)>,
    ) -> anyhow::Result<()> {
        let mut content = Content { file, ..Content::default() };
        let mut kept = Vec::new();
        for item in items.into_iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Mod(child) => {
                    let name = child.ident.to_string();
                    let below = dir.join(&name);
                    let path = [module.as_slice(), std::slice::from_ref(&name)].concat();
                    content.names.insert(name, Name::Module);
                    match child.content {
                        Some((_, items)) => self.add(file, &below, path, items, bodies)?,
                        None => {
                            let own = below.with_extension("rs");
                            let own = if own.exists() { own } else { below.join("mod.rs") };
                            self.read(&own, &below, path, bodies)?;
                        }
                    }
                }
                Item::Use(item) => {
                    let mut leaves = Vec::new();
                    leaves_of(&item.tree, &mut Vec::new(), &mut leaves);
                    for (name, path) in leaves {
                        match name {
                            Some(name) => drop(content.names.insert(name, Name::Import(path))),
                            None => content.globs.push(path),
                        }
                    }
                    kept.push(Item::Use(item));
                }
                item => {
                    content.names.extend(name_of(&item).map(|name| (name, Name::Item)));
                    kept.push(item);
                }
            }
        }
        self.modules.insert(module.clone(), content);
        bodies.push((module, kept));
        Ok(())
    }

    /// Where a path in a module leads, as far as it stays in the crate.
    fn resolve(&self, module: &Module, path: &[String], imports: usize) -> Option<Found> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Found::Module(Vec::new()),
            "self" => Found::Module(module.clone()),
            "super" => Found::Module(module.split_last()?.1.to_vec()),
            name => self.look_up(module, name, imports)?,
        };
        while let (Found::Module(module), Some((next, after))) = (&at, rest.split_first()) {
            at = match next.as_str() {
                "super" => Found::Module(module.split_last()?.1.to_vec()),
                "self" => Found::Module(module.clone()),
                name => self.look_up(module, name, imports)?,
            };
            rest = after;
        }
        Some(at)
    }

    fn look_up(&self, module: &Module, name: &str, imports: usize) -> Option<Found> {
        let content = self.modules.get(module)?;
        if imports > IMPORTS_MAX {
            return None;
        }
        match content.names.get(name) {
            Some(Name::Item) => Some(Found::Item(content.file)),
            Some(Name::Module) => Some(Found::Module([module.as_slice(), &[name.to_owned()]].concat())),
            // `use x::x` imports from another crate.
            Some(Name::Import(path)) if path.first().is_some_and(|first| first == name) => None,
            Some(Name::Import(path)) => self.resolve(module, path, imports + 1),
            None => content.globs.iter().find_map(|glob| match self.resolve(module, glob, imports + 1)? {
                Found::Module(of) if of != *module => self.look_up(&of, name, imports + 1),
                _ => None,
            }),
        }
    }

    /// All cycles.
    #[must_use]
    pub fn cycles(&self) -> Vec<Cycle> {
        let reached: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| self.reached_from(file)).collect();
        let mut cycles = Vec::new();
        let mut seen = BTreeSet::new();
        for file in 0..self.files.len() {
            let group: BTreeSet<usize> =
                reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
            if group.len() > 1 && seen.insert(group.clone()) {
                let within = self.edges.iter().filter(|(from, to)| group.contains(from) && group.contains(to));
                let imports = within.map(|(from, to)| format!("{} -> {}", self.name(*from), self.name(*to))).collect();
                cycles.push(Cycle { files: group.len(), imports });
            }
        }
        cycles
    }

    fn reached_from(&self, file: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![file];
        while let Some(from) = open.pop() {
            let next = self.edges.range((from, 0)..=(from, usize::MAX)).map(|(_, to)| *to);
            open.extend(next.filter(|to| reached.insert(*to)));
        }
        reached
    }

    fn name(&self, file: usize) -> String {
        let root = self.files[0].parent().unwrap_or(Path::new(""));
        self.files[file].strip_prefix(root).unwrap_or(&self.files[file]).display().to_string()
    }
}

/// The paths that items name.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut leaves = Vec::new();
        leaves_of(&item.tree, &mut Vec::new(), &mut leaves);
        self.0.extend(leaves.into_iter().map(|(_, path)| path));
    }

    /// `pub(in a::b)` says who may use it, and uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Ok(arguments) = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
            return;
        }
        let text = call.tokens.to_string();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':' || c == ' '));
        for path in words.filter(|words| words.contains("::")) {
            self.0.push(path.split("::").map(|name| name.trim().to_owned()).collect());
        }
    }
}

/// The names that a `use` brings in, each with its path; a glob has no name.
fn leaves_of(tree: &UseTree, before: &mut Vec<String>, leaves: &mut Vec<(Option<String>, Vec<String>)>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves_of(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => leaves.push((before.last().cloned(), before.clone())),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            leaves.push((Some(name.clone()), [before.as_slice(), &[name]].concat()));
        }
        UseTree::Rename(rename) => {
            let path = [before.as_slice(), &[rename.ident.to_string()]].concat();
            leaves.push((Some(rename.rename.to_string()), path));
        }
        UseTree::Glob(_) => leaves.push((None, before.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves_of(tree, before, leaves)),
    }
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles of a crate with these files.
    fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let cycles = Files::of(&dir.path().join("lib.rs")).expect("Rust").cycles();
        cycles.into_iter().map(|cycle| cycle.imports).collect()
    }

    #[test]
    fn a_cycle_is_found_through_a_re_export_and_through_what_a_parent_imports() {
        let a = "use crate::B; pub struct A(B);";
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; pub use b::B; use a::A;"),
            ("a.rs", a),
            ("b.rs", "pub struct B; fn f(_: super::A) {}"),
        ]);
        assert_eq!(found, [["a.rs -> b.rs", "b.rs -> a.rs"]]);
        let found = cycles(&[
            ("lib.rs", "mod a; mod b; use b::*;"),
            ("a.rs", "use super::*; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { let _ = vec![crate::a::A]; }"),
        ]);
        assert_eq!(found, [["a.rs -> b.rs", "b.rs -> a.rs"]]);
    }

    #[test]
    fn a_module_may_import_from_its_parent_and_tests_from_everywhere() {
        let tests = "#[cfg(test)] mod tests { use crate::a::A; }";
        let files = [
            ("lib.rs", "mod a; pub const N: u8 = 1; use a::A;"),
            ("a.rs", "mod c; use super::N; pub struct A; use c::C;"),
            ("a/c.rs", &format!("pub struct C(super::A); {tests}")),
        ];
        assert!(cycles(&files).is_empty());
        let grandchild = [files[0], files[1], ("a/c.rs", "pub struct C; use crate::N;")];
        assert_eq!(cycles(&grandchild), [["lib.rs -> a.rs", "a.rs -> a/c.rs", "a/c.rs -> lib.rs"]]);
    }
}
