//! Which part of a page is what people come for, and which is furniture.

use super::tree::{Element, Id, Node, ROOT, Tree};

/// An element that holds this share of the text of the one around it, in percent, is taken instead of it.
const DOMINANT_PERCENT: u64 = 85;
/// A `main` or `article` that holds less than this share of the page's text, in percent, is not the content.
const MARKED_PERCENT: u64 = 25;

/// What a node holds, without furniture.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// Characters of text, white space left out.
    text: u64,
    /// Those of them in links.
    links: u64,
}

impl Weight {
    /// Text counts, links count against it: menus and indexes come out at nothing.
    fn score(self) -> u64 {
        self.text.saturating_sub(self.links.saturating_mul(2).min(self.text))
    }
}

/// The element with the content: the `main` or `article` with the most text outside of links, else the whole body; and of
/// that the smallest `div` or section that holds nearly all of it.
pub(super) fn find(tree: &Tree) -> Id {
    let weights = weigh(tree);
    let body = tree.find(|element| element.name == "body").unwrap_or(ROOT);
    let is_marked = |id: &Id| {
        tree.element(*id).is_some_and(|element| {
            matches!(element.name.as_str(), "main" | "article") || element.has_word("role", "main")
        })
    };
    let best = (0..tree.len()).filter(is_marked).max_by_key(|id| (weights[*id].score(), std::cmp::Reverse(*id)));
    let is_enough =
        |id: &Id| weights[*id].text.saturating_mul(100) >= weights[body].text.saturating_mul(MARKED_PERCENT);
    let mut content = best.filter(is_enough).unwrap_or(body);
    while let Some(child) = dominant_child(tree, &weights, content) {
        content = child;
    }
    content
}

fn dominant_child(tree: &Tree, weights: &[Weight], id: Id) -> Option<Id> {
    let whole = weights[id].score();
    let is_dominant = |child: &Id| {
        let is_container = tree.element(*child).is_some_and(|element| is_container(&element.name));
        is_container && whole > 0 && weights[*child].score() * 100 >= whole * DOMINANT_PERCENT
    };
    tree.children(id).iter().copied().find(is_dominant)
}

/// Elements that structure a page and say nothing about its text.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "html" | "body" | "div" | "main" | "article" | "section" | "center" | "form" | "table" | "tbody" | "tr" | "td"
    )
}

/// Weighs all nodes: children come behind their parents.
fn weigh(tree: &Tree) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); tree.len()];
    for id in (0..tree.len()).rev() {
        weights[id] = match tree.node(id) {
            Node::Text(text) => {
                let text = text.chars().filter(|character| !character.is_whitespace()).count() as u64;
                Weight { text, links: 0 }
            }
            Node::Element(element) if is_furniture(element) || element.name == "head" => Weight::default(),
            Node::Element(element) => {
                let sum = element.children.iter().fold(Weight::default(), |sum, child| Weight {
                    text: sum.text + weights[*child].text,
                    links: sum.links + weights[*child].links,
                });
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
        assert_eq!(tree.text(find(&tree)).trim(), expect, "{html}");
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
    fn text_in_two_places_is_kept_together() {
        check(
            "<body><div>One half of the text.</div><div>Other half of the text.</div>",
            "One half of the text.Other half of the text.",
        );
    }
}
