//! The controls of a form, and what a browser sends of them (HTML Standard, "constructing the entry list").

use encoding_rs::Encoding;
use extract::html::dom::{Document, Node, Tag};

/// Fields of a form, at most.
const FIELDS_MAX: usize = 1_000;

/// Bytes of the text in a field, at most.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The elements of a page but for those in a `template`, which are not part of it.
pub(crate) fn elements<'d>(document: &'d Document<'d>) -> impl Iterator<Item = Node<'d>> {
    let mut template_end = 0;
    document.elements().filter(move |node| {
        let is_of_page = node.id() >= template_end;
        if is_of_page && node.tag() == Some(Tag::Template) {
            template_end = node.end();
        }
        is_of_page
    })
}

/// The controls of a form: those in it, those that follow where the page has not ended it, and those that name it.
pub(crate) fn controls<'d>(document: &'d Document<'d>, form: Node<'d>) -> impl Iterator<Item = Node<'d>> {
    let id = form.attribute("id").map(std::borrow::Cow::into_owned);
    let is_control = |node: &Node<'_>| ["input", "select", "textarea", "button"].iter().any(|name| node.is(name));
    let belongs = move |node: &Node<'_>| match node.attribute("form") {
        Some(owner) => id.as_deref() == Some(&*owner),
        None => node.id() > form.id() && node.id() < form.end().max(form.form_end()),
    };
    elements(document).filter(is_control).filter(belongs).take(FIELDS_MAX)
}

pub(crate) fn name_of(control: Node<'_>) -> Option<String> {
    control.attribute("name").map(std::borrow::Cow::into_owned).filter(|name| !name.is_empty())
}

/// The type of a control; an image is another kind of `submit`.
pub(crate) fn kind_of(control: Node<'_>) -> String {
    let given = control.attribute("type").map(|kind| kind.trim().to_ascii_lowercase());
    match () {
        () if control.is("input") => given.unwrap_or_else(|| "text".to_owned()),
        // Whatever is no type of a button is that of most.
        () if control.is("button") => {
            given.filter(|kind| ["button", "reset"].contains(&kind.as_str())).unwrap_or_else(|| "submit".to_owned())
        }
        () => control.name().to_ascii_lowercase(),
    }
}

/// The button that is pressed: the first that sends the form.
pub(crate) fn pressed<'d>(document: &'d Document<'d>, form: Node<'d>) -> Option<Node<'d>> {
    let sends = |control: &Node<'_>| matches!(kind_of(*control).as_str(), "submit" | "image") && !is_disabled(*control);
    controls(document, form).find(sends)
}

/// The names and values that a browser would send if the first button were pressed.
pub(crate) fn entries<'d>(
    document: &'d Document<'d>,
    form: Node<'d>,
    encoding: &'static Encoding,
) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let button = pressed(document, form).map(Node::id);
    let is_sent = |control: &Node<'_>| !is_disabled(*control) && !control.ancestors().any(|node| node.is("datalist"));
    for control in controls(document, form).filter(is_sent) {
        let (name, kind) = (name_of(control), kind_of(control));
        let value =
            |default: &str| control.attribute("value").map_or_else(|| default.to_owned(), std::borrow::Cow::into_owned);
        let values = match kind.as_str() {
            "submit" | "image" if Some(control.id()) != button => continue,
            "image" => {
                let prefix = name.map(|name| format!("{name}.")).unwrap_or_default();
                entries.extend(["x", "y"].map(|axis| (format!("{prefix}{axis}"), "0".to_owned())));
                continue;
            }
            "button" | "reset" => continue,
            "checkbox" | "radio" if !control.has_attribute("checked") => continue,
            "checkbox" | "radio" => vec![value("on")],
            "file" => vec![String::new()],
            "select" => selected(control),
            "textarea" => vec![text_of(control)],
            "submit" => vec![value("")],
            "hidden" if name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("_charset_")) => {
                vec![encoding.name().to_owned()]
            }
            "hidden" => vec![value("")],
            "email" | "url" => vec![value("").replace(['\r', '\n'], "").trim_ascii().to_owned()],
            _ => vec![value("").replace(['\r', '\n'], "")],
        };
        if let Some(name) = name {
            entries.extend(values.into_iter().map(|value| (name.clone(), value)));
        }
    }
    entries
}

/// Whether a control is disabled, by itself or by a `fieldset` around it. What is in the first `legend` of that stays enabled.
fn is_disabled(control: Node<'_>) -> bool {
    let mut inner = control;
    control.has_attribute("disabled")
        || control.ancestors().any(|node| {
            let inner = std::mem::replace(&mut inner, node);
            let legend = || node.children().find(|child| child.is("legend"));
            node.is("fieldset")
                && node.has_attribute("disabled")
                && legend().is_none_or(|legend| legend.id() != inner.id())
        })
}

/// The values of a list: those of the options that are selected. A list of which one can be chosen has the last of these, else its first
/// that is not disabled.
fn selected(list: Node<'_>) -> Vec<String> {
    let options = || list.descendants().filter(|node| node.is("option"));
    let is_off = |option: &Node<'_>| {
        let group = option.parent().filter(|parent| parent.is("optgroup"));
        option.has_attribute("disabled") || group.is_some_and(|group| group.has_attribute("disabled"))
    };
    let is_chosen = |option: &Node<'_>| option.has_attribute("selected");
    let value = |option: Node<'_>| match option.attribute("value") {
        Some(value) => value.into_owned(),
        None => option.text_content(TEXT_BYTES_MAX).split_ascii_whitespace().collect::<Vec<_>>().join(" "),
    };
    if list.has_attribute("multiple") {
        let chosen = options().filter(|option| is_chosen(option) && !is_off(option));
        return chosen.take(FIELDS_MAX).map(value).collect();
    }
    let is_closed =
        list.attribute("size").and_then(|size| size.trim().parse::<u32>().ok()).is_none_or(|size| size <= 1);
    let first = || options().find(|option| is_closed && !is_off(option));
    options().rfind(is_chosen).or_else(first).filter(|option| !is_off(option)).map(value).into_iter().collect()
}

/// The text in a `textarea`, of which the page's reader drops a first line break.
fn text_of(control: Node<'_>) -> String {
    let text = control.text_content(TEXT_BYTES_MAX);
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(&text).to_owned()
}
