//! What a page has for scripts to fill in or act on, and by what these parts are known again on another page of the same site.
//!
//! A server that writes its pages with one template puts the same menu, the same switches and the same scripts into all of them. A page that has
//! something besides stands out. So each part has a mark: a number of how it is made, without what is in it. Two pages of a
//! template have the same marks.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::html::dom::{Document, Node};

/// Different marks of a page that are kept, at most.
const MARKS_MAX: usize = 128;
/// Bytes of a script in the page that are looked at, at most.
const SCRIPT_BYTES_MAX: usize = 16 << 10;
/// Names in scripts that have fewer bytes are those of a minifier, and differ from page to page.
const NAME_BYTES_MIN: usize = 3;

/// Elements that stand empty where scripts put lists, tables and whole parts of a page.
const CONTAINERS: [&str; 12] =
    ["div", "section", "main", "article", "aside", "nav", "ul", "ol", "dl", "table", "tbody", "form"];
/// Roles of elements that are pressed, and elements that do something by themselves whatever their role is.
const PRESSED: [&str; 2] = ["button", "tab"];
const CONTROLS: [&str; 7] = ["button", "input", "label", "option", "select", "summary", "textarea"];

/// What a page has for scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// There is something to fill in or to act on: templates, module scripts, custom elements, click handlers, `javascript:` links, and buttons that
    /// send no form.
    pub are_to_fill: bool,
    /// The marks of these, of elements that stand empty, and of scripts. In order, each once.
    pub marks: Box<[u64]>,
}

/// Looks for what a page has for scripts.
#[must_use]
pub fn of_page(text: &str) -> Parts {
    let document = Document::parse(text);
    let (mut are_to_fill, mut marks) = (false, BTreeSet::new());
    let (mut around, mut above) = (Around::default(), Above::default());
    for node in document.elements() {
        if !around.enter(node) {
            continue;
        }
        let is_filled = is_to_fill(node, &around);
        are_to_fill |= is_filled;
        let mark = match node.is("script") {
            true => mark_of_script(node),
            false if is_filled || is_empty_container(node) => Some(mark_of_element(node, &mut above)),
            false => None,
        };
        if marks.len() < MARKS_MAX {
            marks.extend(mark);
        }
    }
    Parts { are_to_fill, marks: marks.into_iter().collect() }
}

/// What an element stands in, by the number behind the last node of each.
#[derive(Default)]
struct Around {
    /// What a browser does not show: `template`, `noscript`.
    inert: u32,
    form: u32,
    /// Elements of SVG and MathML, innermost last, and those in which there is HTML again.
    foreign: Vec<(u32, bool)>,
}

impl Around {
    /// Goes on to the next element; `false` if nothing of it is shown.
    fn enter(&mut self, node: Node<'_>) -> bool {
        if node.id() < self.inert {
            return false;
        }
        while self.foreign.pop_if(|(end, _)| *end <= node.id()).is_some() {}
        match node.name().to_ascii_lowercase().as_str() {
            "template" | "noscript" => self.inert = node.end(),
            "form" => self.form = node.end(),
            "svg" | "math" => self.foreign.push((node.end(), true)),
            "foreignobject" => self.foreign.push((node.end(), false)),
            _ => {}
        }
        true
    }

    fn is_form(&self, node: Node<'_>) -> bool {
        node.id() < self.form
    }

    /// Names with a hyphen are SVG's and MathML's own in those.
    fn is_foreign(&self) -> bool {
        self.foreign.last().is_some_and(|(_, is_foreign)| *is_foreign)
    }
}

fn is_to_fill(node: Node<'_>, around: &Around) -> bool {
    let name = node.name();
    let has_handler = node.attribute("onclick").is_some_and(|code| !code.is_empty());
    match name.to_ascii_lowercase().as_str() {
        "template" => return true,
        "script" => return node.attribute("type").is_some_and(|kind| kind.trim().eq_ignore_ascii_case("module")),
        "noscript" => return false,
        "button" if is_for_scripts(node, around) => return true,
        "a" | "area" if has_handler || leads_to_a_script(node) => return true,
        "a" | "area" if node.has_attribute("href") => return false,
        control if CONTROLS.contains(&control) => return has_handler,
        _ => {}
    }
    let role = node.attribute("role").unwrap_or_default();
    let is_pressed = PRESSED.iter().any(|pressed| role.eq_ignore_ascii_case(pressed));
    has_handler || is_pressed || (name.contains('-') && !around.is_foreign())
}

/// Whether a button does nothing by itself: it sends no form.
fn is_for_scripts(button: Node<'_>, around: &Around) -> bool {
    let kind = button.attribute("type").unwrap_or_default();
    let has_form = button.has_attribute("form") || around.is_form(button);
    kind.eq_ignore_ascii_case("button") || !has_form
}

fn leads_to_a_script(link: Node<'_>) -> bool {
    let href = link.attribute("href").unwrap_or_default();
    matches!(crate::href::read(&href).1, crate::href::Target::Javascript)
}

fn is_empty_container(node: Node<'_>) -> bool {
    let is_blank = |child: Node<'_>| child.is_text() && child.own_text().trim().is_empty();
    CONTAINERS.iter().any(|name| node.is(name)) && node.children().all(is_blank)
}

/// What elements around others are called, by their numbers: many may stand in one that has many classes.
type Above = HashMap<u32, u64>;

/// How an element is made: its name, the names of its attributes, its classes. One without classes is known by those of the element around it.
fn mark_of_element(node: Node<'_>, above: &mut Above) -> u64 {
    let mut hasher = DefaultHasher::new();
    node.attribute_names().map(str::to_ascii_lowercase).collect::<BTreeSet<_>>().hash(&mut hasher);
    let classes = classes_of(node);
    if classes.is_empty() {
        let around = node.parent();
        around
            .map(|around| *above.entry(around.id()).or_insert_with(|| called(around, &classes_of(around))))
            .hash(&mut hasher);
    }
    called(node, &classes).hash(&mut hasher);
    hasher.finish()
}

fn called(node: Node<'_>, classes: &BTreeSet<String>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (node.name().to_ascii_lowercase(), classes).hash(&mut hasher);
    hasher.finish()
}

/// Those with digits in them may be numbers of pages or things.
fn classes_of(node: Node<'_>) -> BTreeSet<String> {
    let classes = node.attribute("class").unwrap_or_default();
    classes.split_ascii_whitespace().filter(|class| !has_digit(class)).map(str::to_owned).collect()
}

/// What a script is called, or which names stand in it. `None` for data.
fn mark_of_script(node: Node<'_>) -> Option<u64> {
    if !node.attribute("type").is_none_or(|kind| crate::html::is_script(&kind)) {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    match node.attribute("src") {
        Some(src) => named(&src).hash(&mut hasher),
        None => names_in(&node.text_content(SCRIPT_BYTES_MAX)).hash(&mut hasher),
    }
    Some(hasher.finish())
}

/// The address of a script without its query, without the way up from its page, and without those parts of its last name that have digits: numbers,
/// versions, hashes.
fn named(src: &str) -> String {
    let path = src.split(['?', '#']).next().unwrap_or_default();
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let steps = dir.split('/').filter(|step| !matches!(*step, "" | "." | ".."));
    let dir = steps.fold(String::new(), |dir, step| dir + step + "/");
    let parts = name.split(['.', '-', '_', '~']).filter(|part| !has_digit(part));
    parts.fold(dir, |named, part| named + part + ".")
}

/// The names that a script uses, without strings, numbers, and what a minifier calls things.
fn names_in(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let (mut quote, mut begin) = (None, None);
    let mut chars = code.char_indices();
    while let Some((at, c)) = chars.next() {
        match quote {
            Some(_) if c == '\\' => _ = chars.next(),
            Some(open) => quote = Some(open).filter(|open| *open != c),
            None if c.is_alphanumeric() || c == '_' || c == '$' => _ = begin.get_or_insert(at),
            None => {
                names.extend(begin.take().map(|begin| &code[begin..at]));
                quote = Some(c).filter(|c| matches!(c, '"' | '\'' | '`'));
            }
        }
    }
    names.extend(begin.map(|begin| &code[begin..]));
    names.retain(|name| name.len() >= NAME_BYTES_MIN && !has_digit(name));
    names
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scripts_fill_in_or_act_on_is_seen() {
        for (html, expect) in [
            ("<p>text", false),
            ("<script src=/app.js></script>", false),
            ("<script type=module></script>", true),
            ("<p onclick='go()'>x", true),
            ("<p onclick=''>x", false),
            ("<template><div id=app></div></template>", true),
            ("<side-bar></side-bar>", true),
            ("<app-root></app-root>", true),
            ("<svg><font-face></font-face></svg>", false),
            ("<svg><foreignObject><side-bar></side-bar></foreignObject></svg>", true),
            ("<a href='JavaScript:go()'>x</a>", true),
            ("<a href=/x role=button>x</a>", false),
            ("<input type=checkbox role=button><summary role=button>x</summary>", false),
            ("<input type=checkbox onclick='go()'>", true),
            ("<span role=Tab>x</span>", true),
            ("<noscript><side-bar></side-bar></noscript>", false),
            ("<button>x</button>", true),
            ("<form><button>x</button></form><form id=f></form><button form=f>x</button>", false),
            ("<form><p><button type=BUTTON>x</button></form>", true),
        ] {
            assert_eq!(of_page(html).are_to_fill, expect, "{html}");
        }
    }

    #[test]
    fn pages_of_a_template_have_the_same_marks() {
        let page = |n: u32, words: &str, more: &str| {
            of_page(&format!(
                "<script src='/js/main.{n}abc.js?v={n}'></script><script>track('{words}', {n})</script>
                 <button class='menu v{n}'>{words}</button><ul class=list></ul><div class=text><p>{words}</p>{more}</div>"
            ))
        };
        let template = page(1, "one", "");
        assert_eq!(template.marks.len(), 4);
        assert_eq!(page(22, "another \"quoted\" page", ""), template);
        for more in [
            "<button>more</button>",
            "<ul></ul>",
            "<script src=/js/other.js></script>",
            "<script>load('one')</script>",
            "<a href='javascript:x()'>x</a>",
        ] {
            let other = page(3, "three", more);
            assert_eq!(other.marks.len(), 5, "{more}");
            assert!(template.marks.iter().all(|mark| other.marks.contains(mark)), "{more}");
        }
        let mark = |html: &str| of_page(html).marks;
        assert_ne!(mark("<div class=text><button>x</button></div>"), mark("<div class=menu><button>x</button></div>"));
        assert_eq!(
            mark("<div class=text><button class=b>x</button></div>"),
            mark("<nav><button class=b>y</button></nav>")
        );
        assert_eq!(mark("<script type=application/json>{}</script><script type='text/x-template'>x</script>").len(), 0);
    }

    #[test]
    fn a_script_is_known_by_its_names() {
        let names: Vec<&str> =
            names_in(r#"var a=window.state||{}; load("it's \" load2", 'x', `b`, $go3, item)"#).into_iter().collect();
        assert_eq!(names, ["item", "load", "state", "var", "window"]);
        assert_eq!(names_in("'open string"), BTreeSet::new());
        assert_eq!(names_in("self.__next_f.push([1,\"a\"])"), names_in("self.__next_f.push([22,'b'])"));
        assert_eq!(named("/a/page-1bc5fd.js?x=1"), named("/a/page-99.js"));
        assert_eq!(named("../../a/page.js"), named("./a/page.js"));
        assert_ne!(named("/a/page.js"), named("/a/gallery.js"));
    }

    #[test]
    fn marks_are_limited() {
        let many: String = (0..1_000).map(|n| format!("<x-{}></x-{0}>", "a".repeat(n % 200 + 1))).collect();
        assert_eq!(of_page(&many).marks.len(), MARKS_MAX);
    }

    #[test]
    fn an_element_with_many_classes_is_read_once() {
        let classes: String = (0..100_000u32).map(|n| format!("{} ", "ab".repeat(n as usize % 9 + 1))).collect();
        let page = format!("<div class='{classes}'>{}", "<button>x</button>".repeat(50_000));
        // Read once for each button, they would take longer than the test runner waits.
        assert_eq!(of_page(&page).marks.len(), 1);
    }
}
