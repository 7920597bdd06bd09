//! Which part of a page is what people come for, and which is furniture.

use super::table;
use super::tree::{Element, Id, Node, ROOT, Tree};

/// An element that holds this share of the text of the one around it, in percent, is taken instead of it.
const DOMINANT_PERCENT: u64 = 85;
/// And it must hold this share of all text, in percent: of a page that marks its content, links are content too; of another, a small part
/// must not win because all else is links.
const WITHIN_MARKED_PERCENT: u64 = 90;
const WITHIN_BODY_PERCENT: u64 = 25;
/// A `main` or `article` that holds less than this share of the page's text, in percent, is not the content.
const MARKED_PERCENT: u64 = 25;
/// The rank of a node without a heading: one worse than that of `h6`.
const NO_HEADING: u8 = 7;

/// What a node holds, without furniture.
#[derive(Clone, Copy)]
struct Weight {
    /// Characters of text, white space left out.
    text: u64,
    /// Those of them in links.
    links: u64,
    /// The rank of its best heading that says something, 1 for `h1`; [`NO_HEADING`] without one.
    heading: u8,
}

impl Default for Weight {
    fn default() -> Self {
        Weight { text: 0, links: 0, heading: NO_HEADING }
    }
}

impl Weight {
    /// Text counts, links count against it: menus and indexes come out at nothing.
    fn score(self) -> u64 {
        self.text.saturating_sub(self.links.saturating_mul(2).min(self.text))
    }
}

/// Where the content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    /// The heading that stands above it, where it is not in it.
    pub(super) heading: Option<Id>,
    /// The element that holds it.
    pub(super) id: Id,
}

/// The element with the content: the `main` or `article` with the most text outside of links, else the whole body; and of that the
/// smallest that holds nearly all of it. What a page marks as its content is left out only where it is next to nothing; elsewhere menus and
/// other links do not count.
pub(super) fn find(tree: &Tree) -> Content {
    let weights = weigh(tree);
    let body = tree.find(|element| element.name == "body").unwrap_or(ROOT);
    let is_marked = |id: &Id| {
        tree.element(*id).is_some_and(|element| {
            matches!(element.name.as_str(), "main" | "article") || element.has_word("role", "main")
        })
    };
    let is_enough =
        |id: &Id| weights[*id].text.saturating_mul(100) >= weights[body].text.saturating_mul(MARKED_PERCENT);
    let best = (0..tree.len()).filter(is_marked).max_by_key(|id| (weights[*id].score(), std::cmp::Reverse(*id)));
    let marked = best.filter(is_enough);
    let text_percent = if marked.is_some() { WITHIN_MARKED_PERCENT } else { WITHIN_BODY_PERCENT };
    let mut content = Content { heading: None, id: marked.unwrap_or(body) };
    while let Some(inner) = dominant_child(tree, &weights, content.id, text_percent) {
        content = Content { heading: content.heading.or(inner.heading), id: inner.id };
    }
    content
}

/// The child that is taken instead of an element, with the heading in front of it that it lacks.
fn dominant_child(tree: &Tree, weights: &[Weight], id: Id, text_percent: u64) -> Option<Content> {
    let whole = weights[id];
    let holds = |child: u64, of: u64, percent: u64| of > 0 && child.saturating_mul(100) >= of.saturating_mul(percent);
    let mut before = Weight::default();
    let mut heading_at = None;
    for child in tree.children(id).iter().copied() {
        let weight = weights[child];
        let is_container = tree.element(child).is_some_and(|element| is_container(&element.name));
        let is_dominant =
            holds(weight.score(), whole.score(), DOMINANT_PERCENT) && holds(weight.text, whole.text, text_percent);
        if is_container && is_dominant && !table::is_of_rows(tree, child) {
            // Of two `h1` the first is the site's name. Of other headings of one rank it may be the page's.
            let is_above = before.heading < weight.heading || (before.heading == weight.heading && before.heading > 1);
            let heading = heading_at.filter(|_| is_above).and_then(|at| heading_in(tree, at, before.heading));
            return Some(Content { heading, id: child });
        }
        if weight.heading < before.heading {
            (before, heading_at) = (weight, Some(child));
        }
    }
    None
}

/// The first heading of this rank at or below a node that says something.
fn heading_in(tree: &Tree, id: Id, rank: u8) -> Option<Id> {
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        let Some(element) = tree.element(id).filter(|element| !is_furniture(element)) else { continue };
        if rank_of(&element.name) == Some(rank) && !tree.text(id).trim().is_empty() {
            return Some(id);
        }
        left.extend(element.children.iter().rev());
    }
    None
}

/// Elements that structure a page and say nothing about its text.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "html" | "body" | "div" | "main" | "article" | "section" | "center" | "form" | "table" | "tbody" | "tr" | "td"
    )
}

/// The rank of a heading.
fn rank_of(name: &str) -> Option<u8> {
    let rank = name.strip_prefix('h')?.parse().ok()?;
    (1..NO_HEADING).contains(&rank).then_some(rank)
}

/// Weighs all nodes: children come behind their parents.
fn weigh(tree: &Tree) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); tree.len()];
    for id in (0..tree.len()).rev() {
        weights[id] = match tree.node(id) {
            Node::Text(text) => {
                let text = text.chars().filter(|character| !character.is_whitespace()).count() as u64;
                Weight { text, ..Weight::default() }
            }
            Node::Element(element) if is_furniture(element) || element.name == "head" => Weight::default(),
            Node::Element(element) => {
                let mut sum = element.children.iter().fold(Weight::default(), |sum, child| Weight {
                    text: sum.text + weights[*child].text,
                    links: sum.links + weights[*child].links,
                    heading: sum.heading.min(weights[*child].heading),
                });
                if let Some(rank) = rank_of(&element.name).filter(|_| sum.text > 0) {
                    sum.heading = sum.heading.min(rank);
                }
                if element.name == "a" { Weight { links: sum.text, ..sum } } else { sum }
            }
        };
    }
    weights
}

/// What is left out wherever it stands: what is not shown, and what leads around the site.
pub(super) fn is_furniture(element: &Element) -> bool {
    let is_named = matches!(
        element.name.as_str(),
        "script"
            | "style"
            | "template"
            | "noscript"
            | "nav"
            | "aside"
            | "footer"
            | "iframe"
            | "object"
            | "embed"
            | "svg"
            | "canvas"
            | "audio"
            | "video"
            | "button"
            | "input"
            | "select"
            | "textarea"
            | "datalist"
            | "dialog"
            | "title"
            | "search"
            | "frameset"
            | "noframes"
            | "map"
            | "math"
    );
    let is_hidden = element.attributes.contains_key("hidden") || element.attribute("aria-hidden") == Some("true");
    let roles = ["navigation", "banner", "contentinfo", "complementary", "search", "menu", "dialog"];
    is_named || is_hidden || roles.iter().any(|role| element.has_word("role", role))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expect: &str) {
        let tree = Tree::parse(html);
        let Content { heading, id } = find(&tree);
        let heading = heading.map(|heading| format!("{}: ", tree.text(heading))).unwrap_or_default();
        assert_eq!(format!("{heading}{}", tree.text(id).trim()), expect, "{html}");
    }

    #[test]
    fn the_content_is_found() {
        let text = "Some sentences that are worth reading, and more of them.";
        check(&format!("<body><nav>Menu</nav><main>{text}</main><footer>End</footer>"), text);
        check(&format!("<body><div>Menu</div><div role=main>{text}</div>"), text);
        check(&format!("<body><article>{text}</article><article>short</article>"), text);
        check(
            &format!(
                "<body><div><a href=/>A menu with very many entries, all of them links</a></div><div>{text}</div>"
            ),
            text,
        );
        check(&format!("<body><table><tr><td><a href=/>Menu</a></td><td>{text}</td></tr></table>"), text);
    }

    #[test]
    fn a_main_that_holds_next_to_nothing_is_not_the_content() {
        let text = "Some sentences that are worth reading, and more of them.";
        check(&format!("<body><main>x</main><div>{text}</div>"), text);
    }

    #[test]
    fn a_page_of_links_alone_is_taken_whole() {
        check("<body><a href=/a>a</a> <a href=/b>b</a>", "a b");
    }

    #[test]
    fn a_heading_above_the_content_stays() {
        let text = "<p>Some sentences that are worth reading, and more of them.</p>";
        let expect = "Title: Some sentences that are worth reading, and more of them.";
        check(&format!("<body><div><h1>Title</h1></div><div>{text}</div>"), expect);
        check(&format!("<body><div><div><h2>Title</h2></div><div>{text}</div></div>"), expect);
        // That of a site, above that of a page, does not.
        let page = "TitleSome sentences that are worth reading, and more of them.";
        check(&format!("<body><div><h1>Site</h1></div><div><h1>Title</h1>{text}</div>"), page);
    }

    #[test]
    fn what_a_page_marks_as_its_content_is_kept_with_its_links() {
        let members = "<div><a href=/a>alpha beta gamma</a> <a href=/b>delta epsilon</a></div><div>One sentence of plain text.</div>";
        check(
            &format!("<body><div>Menu</div><main><h1>Label</h1>{members}</main>"),
            "Labelalpha beta gamma delta epsilonOne sentence of plain text.",
        );
    }

    #[test]
    fn a_table_of_data_is_not_taken_apart() {
        let cells = "<tr><td>a</td><td>b</td></tr><tr><td>key</td><td>A long description of what the key is for, and of more.</td></tr>";
        check(
            &format!("<body><div><table>{cells}</table></div>"),
            "abkeyA long description of what the key is for, and of more.",
        );
    }

    #[test]
    fn text_in_two_places_is_kept_together() {
        check(
            "<body><div>One half of the text.</div><div>Other half of the text.</div>",
            "One half of the text.Other half of the text.",
        );
    }
}
