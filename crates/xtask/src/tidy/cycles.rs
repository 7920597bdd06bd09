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

/// What a module has. A module and a function may have one name: so modules have a map of their own.
#[derive(Default)]
struct Content {
    file: usize,
    modules: BTreeSet<String>,
    names: BTreeMap<String, Vec<Name>>,
    globs: Vec<Vec<String>>,
}

/// What a name means that is no module's. It may mean several things, such as a type and a function.
enum Name {
    Item,
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
#[derive(Clone)]
enum Found {
    Item(usize),
    Module(Module),
}

/// What a name in a path stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// A module, since more of the path follows, or a type with what belongs to it.
    Module,
    /// What the path leads to.
    Thing,
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
            let found = paths.0.iter().flat_map(|path| files.resolve(&module, path, Sought::Thing, 0));
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
                    content.modules.insert(name);
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
                            Some(name) => content.names.entry(name).or_default().push(Name::Import(path)),
                            None => content.globs.push(path),
                        }
                    }
                    kept.push(Item::Use(item));
                }
                item => {
                    if let Some(name) = name_of(&item) {
                        content.names.entry(name).or_default().push(Name::Item);
                    }
                    kept.push(item);
                }
            }
        }
        self.modules.insert(module.clone(), content);
        bodies.push((module, kept));
        Ok(())
    }

    /// Where a path in a module leads, as far as it stays in the crate: to all that its name means there.
    fn resolve(&self, module: &Module, path: &[String], sought: Sought, imports: usize) -> Vec<Found> {
        let mut found = vec![Found::Module(module.clone())];
        for (n, name) in path.iter().enumerate() {
            let sought = if n + 1 < path.len() { Sought::Module } else { sought };
            let next = |at: &Found| match at {
                // What follows is a part of the item.
                Found::Item(_) => vec![at.clone()],
                Found::Module(at) => match name.as_str() {
                    "crate" => vec![Found::Module(Vec::new())],
                    "self" => vec![Found::Module(at.clone())],
                    "super" => at.split_last().map(|(_, parent)| Found::Module(parent.to_vec())).into_iter().collect(),
                    name => self.look_up(at, name, sought, imports),
                },
            };
            found = found.iter().flat_map(next).collect();
        }
        found
    }

    fn look_up(&self, module: &Module, name: &str, sought: Sought, imports: usize) -> Vec<Found> {
        let Some(content) = self.modules.get(module).filter(|_| imports <= IMPORTS_MAX) else { return Vec::new() };
        let own = content
            .modules
            .get(name)
            .map(|name| Found::Module([module.as_slice(), std::slice::from_ref(name)].concat()));
        // Before `::` a module comes first; at the end of a path, what else has the name.
        if let Some(own) = own.clone().filter(|_| sought == Sought::Module) {
            return vec![own];
        }
        let means = |means: &Name| match means {
            Name::Item => vec![Found::Item(content.file)],
            // `use x::x` imports from another crate, if there is no module of that name.
            Name::Import(path) if path.first().is_some_and(|first| first == name) && own.is_none() => Vec::new(),
            Name::Import(path) => self.resolve(module, path, sought, imports + 1),
        };
        let mut found: Vec<Found> = content.names.get(name).into_iter().flatten().flat_map(means).collect();
        found.extend(own.filter(|_| found.is_empty()));
        if found.is_empty() && !content.names.contains_key(name) {
            let of_glob = |glob: &Vec<String>| {
                let modules = self.resolve(module, glob, Sought::Module, imports + 1);
                let others = modules.into_iter().filter_map(|of| match of {
                    Found::Module(of) if of != *module => Some(of),
                    _ => None,
                });
                others.flat_map(|of| self.look_up(&of, name, sought, imports + 1)).collect::<Vec<_>>()
            };
            found = content.globs.iter().map(of_glob).find(|found| !found.is_empty()).unwrap_or_default();
        }
        found
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
    fn a_module_that_shares_its_name_hides_no_cycle() {
        let expect = [["a.rs -> b.rs", "b.rs -> a.rs"]];
        let b = ("b.rs", "use crate::a::A; pub fn b(_: A) {}");
        let re_exported = cycles(&[
            ("lib.rs", "mod a; mod b; pub use a::{a, A}; pub use b::b;"),
            ("a.rs", "use crate::b; pub struct A; pub fn a() { b::b(A) }"),
            b,
        ]);
        assert_eq!(re_exported, expect);
        let of_a_function = cycles(&[
            ("lib.rs", "mod a; mod b; pub fn a() { a::a() } pub fn b() {}"),
            ("a.rs", "pub struct A; pub fn a() { crate::b::b(A) }"),
            b,
        ]);
        assert_eq!(of_a_function, expect);
        let renamed = cycles(&[
            ("lib.rs", "mod a; mod b; pub use a::values as a; pub use b::b;"),
            ("a.rs", "pub struct A; pub fn values() { crate::b::b(A) }"),
            b,
        ]);
        assert_eq!(renamed, expect);
        let imported = cycles(&[
            ("lib.rs", "mod a; mod b; use b::b;"),
            ("a.rs", "pub struct A; pub fn a() { use super::b; b(A) }"),
            b,
        ]);
        assert_eq!(imported, expect);
    }

    #[test]
    fn a_function_that_shares_the_name_of_a_module_is_no_use_of_the_module() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use c::b;"),
            ("a.rs", "pub struct A; pub fn a() { crate::b(A) }"),
            ("b.rs", "use crate::a::A; pub fn other(_: A) {}"),
            ("c.rs", "pub fn b<T>(_: T) {}"),
        ];
        assert!(cycles(&files).is_empty());
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
