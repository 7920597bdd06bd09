//! What is sent by a form (HTML Standard, "form submission").

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use extract::html::dom::{Document, Node};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::controls::{controls, elements, entries, kind_of, name_of, pressed};
use crate::description::Login;
use crate::error::{LoginError, Place};

/// Forms of a page that are looked at.
const FORMS_MAX: usize = 64;

/// A form that was filled in.
pub(crate) struct Submission {
    /// Where it is sent.
    pub(crate) url: CanonicalUrl,
    /// Its fields as `application/x-www-form-urlencoded`: a secret.
    pub(crate) body: String,
}

/// Fills in the form of a page: its own fields stay, hidden ones too, but for those of the login.
///
/// # Errors
/// There is no such form, it has not these fields, or it is sent in a way that gives them away.
pub(crate) fn fill(
    login: &Login,
    page: &CanonicalUrl,
    html: &str,
    charset: &'static Encoding,
) -> Result<Submission, LoginError> {
    let document = Document::parse(html);
    let form = chosen(login, &document).ok_or_else(|| LoginError::NoForm { place: Place::from(page) })?;
    let encoding = encoding_of(form, charset);
    let mut fields = entries(&document, form, encoding);
    for (name, value) in &login.fields {
        match fields.iter().position(|(known, _)| known == name) {
            Some(at) => {
                fields[at].1.clone_from(value);
                let mut index = 0;
                fields.retain(|(known, _)| {
                    index += 1;
                    known != name || index == at + 1
                });
            }
            None if controls(&document, form).any(|control| name_of(control).as_deref() == Some(name)) => {
                fields.push((name.clone(), value.clone()));
            }
            None => {
                let mut known: Vec<String> = controls(&document, form).filter_map(name_of).collect();
                known.dedup();
                return Err(LoginError::NoField { name: name.clone(), known: known.join(", ") });
            }
        }
    }
    // What the pressed button says goes before what the form says (HTML, 4.10.18.6).
    let button = pressed(&document, form);
    let said = |name: &str| {
        button.and_then(|button| button.attribute(&format!("form{name}"))).or_else(|| form.attribute(name))
    };
    let attribute = |name: &str| said(name).map(|value| value.trim().to_ascii_lowercase());
    if attribute("method").as_deref() != Some("post") {
        return Err(LoginError::NotPost);
    }
    if attribute("enctype").is_some_and(|kind| kind != "application/x-www-form-urlencoded") {
        return Err(LoginError::Encoding);
    }
    let url = action(&document, said("action").as_deref(), page)?;
    if !login.may_send_to(&url.site()) || page.site().is_https() && !url.site().is_https() {
        return Err(LoginError::Elsewhere { site: url.site() });
    }
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|text| encoding.encode(text).0;
    body.encoding_override(Some(encode));
    body.extend_pairs(fields.iter().map(|(name, value)| (with_crlf(name), with_crlf(value))));
    Ok(Submission { url, body: body.finish() })
}

/// The form that the description selects, else the first with all its fields, else the first with a password.
fn chosen<'d>(login: &Login, document: &'d Document<'d>) -> Option<Node<'d>> {
    if let Some(query) = &login.form {
        let found = query.first(document)?;
        return std::iter::once(found).chain(found.ancestors()).chain(found.descendants()).find(|node| node.is("form"));
    }
    let has_password = |form: &Node<'d>| controls(document, *form).any(|control| kind_of(control) == "password");
    forms(document).find(|form| has_all(login, document, *form)).or_else(|| forms(document).find(has_password))
}

/// Whether a page shows the form: one with all the fields of the login, of which one is a password.
pub(crate) fn is_in(login: &Login, html: &str) -> bool {
    let document = Document::parse(html);
    let asks_password = |form: Node<'_>| {
        let is_field =
            |control: Node<'_>| name_of(control).is_some_and(|name| login.fields.iter().any(|(of, _)| *of == name));
        controls(&document, form).any(|control| kind_of(control) == "password" && is_field(control))
    };
    forms(&document).any(|form| has_all(login, &document, form) && asks_password(form))
}

fn forms<'d>(document: &'d Document<'d>) -> impl Iterator<Item = Node<'d>> {
    elements(document).filter(|node| node.is("form")).take(FORMS_MAX)
}

/// Whether a form has all the fields of a login.
fn has_all<'d>(login: &Login, document: &'d Document<'d>, form: Node<'d>) -> bool {
    let has = |name: &str| controls(document, form).any(|control| name_of(control).as_deref() == Some(name));
    login.fields.iter().all(|(name, _)| has(name))
}

/// The encoding of what a form sends: the first that it accepts, else that of its page.
fn encoding_of(form: Node<'_>, charset: &'static Encoding) -> &'static Encoding {
    let Some(accepted) = form.attribute("accept-charset") else { return charset.output_encoding() };
    let labels = accepted.split(|char: char| char == ',' || char.is_ascii_whitespace());
    labels.map(str::as_bytes).find_map(Encoding::for_label).unwrap_or(UTF_8).output_encoding()
}

/// Each line break as CR LF, as forms send it.
fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}

/// Where a form is sent: to its page, unless it or its button says otherwise.
fn action(document: &Document<'_>, action: Option<&str>, page: &CanonicalUrl) -> Result<CanonicalUrl, LoginError> {
    let rules = CanonicalRules::default();
    let base = document.elements().find(|node| node.is("base")).and_then(|node| node.attribute("href"));
    let base = base.and_then(|href| page.join(&href, &rules).ok()).unwrap_or_else(|| page.clone());
    match action.filter(|action| !action.trim().is_empty()) {
        Some(action) => base.join(action, &rules).map_err(|_| LoginError::NoUrl { action: action.to_owned() }),
        None => Ok(page.clone()),
    }
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use super::*;
    use crate::description::LoginSet;

    fn login(more: &str) -> Login {
        let text =
            format!("[a]\nurl = \"https://a.test/login\"\nfields = {{ user = \"ana\", pass = \"a&b=c\" }}\n{more}");
        LoginSet::of(&text.parse::<Table>().expect(&text)).expect(&text).forms.remove(0)
    }

    fn filled(more: &str, html: &str) -> Result<(String, String), String> {
        let page = CanonicalUrl::parse("https://a.test/login?next=/x", &CanonicalRules::default()).expect("a URL");
        let submission = fill(&login(more), &page, html, UTF_8).map_err(|error| error.to_string())?;
        Ok((submission.url.to_string(), submission.body))
    }

    const SEARCH: &str = "<form action=/search><input name=q></form>";

    #[test]
    fn a_page_shows_the_form_if_it_has_all_its_fields_and_asks_the_password() {
        for (html, expect) in [
            ("<form><input name=user><input type=password name=pass></form>", true),
            ("<form id=f></form><input name=user form=f><input type=password name=pass form=f>", true),
            ("<form><input name=user></form><form><input type=password name=pass></form>", false),
            ("<form><input name=user><input name=pass></form>", false),
            ("<form><input type=password name=pass></form>", false),
            ("<p>user, pass", false),
        ] {
            assert_eq!(is_in(&login(""), html), expect, "{html}");
        }
    }

    #[test]
    fn hidden_fields_and_defaults_are_sent_with_those_of_the_login() {
        let html = format!(
            "{SEARCH}<form id=f method=POST action=session>
             <input type=hidden name=csrf value='t&amp;1'><input name=user value=old><input type=password name=pass>
             <input type=checkbox name=keep checked><input type=checkbox name=news value=1>
             <select name=lang><option>en<option value=sl selected>sl</select>
             <input name=off disabled><input type=file name=file>
             <button name=do value=in>Log in</button><button name=do value=reset>Reset</button></form>
             <input form=f name=late value=1>"
        );
        let expect = "csrf=t%261&user=ana&pass=a%26b%3Dc&keep=on&lang=sl&file=&do=in&late=1";
        assert_eq!(filled("", &html), Ok(("https://a.test/session".to_owned(), expect.to_owned())));
        // Without an action it goes to its page.
        let html = "<form method=post><input name=user><input name=pass type=password></form>";
        assert_eq!(
            filled("", html),
            Ok(("https://a.test/login?next=/x".to_owned(), "user=ana&pass=a%26b%3Dc".to_owned()))
        );
        let html = "<base href=/b/><form method=post action=c><input name=user><input name=pass></form>";
        assert_eq!(filled("", html).map(|(url, _)| url), Ok("https://a.test/b/c".to_owned()));
        // What the first enabled button says goes before what the form says.
        let html =
            "<form action=/search><input name=user><input name=pass><button disabled formaction=/off>Off</button>
                    <button formaction=/in formmethod=POST>In</button><button formaction=/other>Other</button></form>";
        assert_eq!(filled("", html).map(|(url, _)| url), Ok("https://a.test/in".to_owned()));
    }

    /// What is sent of the controls of a page, without the fields of the login.
    fn sent(controls: &str) -> String {
        let html = format!("<form method=post>{controls}<input name=user><input name=pass></form>");
        let (_, body) = filled("", &html).expect(&html);
        let (others, _) = body.split_once("user=ana&pass=").expect("the fields of the login");
        others.trim_end_matches('&').to_owned()
    }

    #[test]
    fn controls_are_sent_as_a_browser_sends_them() {
        for (controls, expect) in [
            (
                "<fieldset disabled><legend><input name=a></legend><legend><input name=b></legend><input name=c>
                 <fieldset><legend><input name=d></legend></fieldset></fieldset>",
                "a=",
            ),
            ("<template><input name=a></template><datalist id=l><input name=b></datalist>", ""),
            (
                "<select name=a multiple><option selected>1<option>2<option selected>3<option selected disabled>4</select>",
                "a=1&a=3",
            ),
            (
                "<select name=a><option disabled>1<optgroup disabled><option>2</optgroup><option> b  c </select>",
                "a=b+c",
            ),
            ("<select name=a><option selected>1<option selected>2</select><select name=b></select>", "a=2"),
            (
                "<select name=a><option disabled selected>1<option>2</select><select name=b size=2><option>1</select>",
                "",
            ),
            ("<textarea name=a>\n\nx\ny</textarea><textarea name=b>\r\nx</textarea>", "a=%0D%0Ax%0D%0Ay&b=x"),
            (
                "<input name=a value='x\ny'><input type=hidden name=b value='x\ny'><input type=email name=c value=' d '>",
                "a=xy&b=x%0D%0Ay&c=d",
            ),
            ("<input type=image name=a><button name=b>", "a.x=0&a.y=0"),
            ("<button type=reset name=a><button type=unknown name=b value=1><button type='' name=c>", "b=1"),
            ("<INPUT NAME=a VALUE=1><SELECT NAME=b><OPTION>2</SELECT><TEXTAREA NAME=c>3</TEXTAREA>", "a=1&b=2&c=3"),
            ("<input type=hidden name=_charset_>", "_charset_=UTF-8"),
        ] {
            assert_eq!(sent(controls), expect, "{controls}");
        }
    }

    #[test]
    fn controls_belong_to_the_form_that_the_page_has_not_ended() {
        const CONTROLS: &str = "<input name=user><input type=password name=pass>";
        for html in [
            format!("<table><form method=post><tr><td>{CONTROLS}<input name=a></td></tr></form></table><input name=b>"),
            format!("<div><form method=post></div>{CONTROLS}<p><input name=a></form><input name=b>"),
            format!("<template><form></template><form method=post>{CONTROLS}<input name=a></form><input name=b>"),
            format!(
                "<template><form method=post>{CONTROLS}</form></template><form method=post>{CONTROLS}<input name=a>"
            ),
        ] {
            assert_eq!(filled("", &html).map(|(_, body)| body), Ok("user=ana&pass=a%26b%3Dc&a=".to_owned()), "{html}");
        }
    }

    #[test]
    fn values_are_sent_in_the_encoding_that_the_form_or_else_its_page_names() {
        let page = CanonicalUrl::parse("https://a.test/login", &CanonicalRules::default()).expect("a URL");
        let check = |attributes: &str, charset: &str, expect: &str| {
            let html = format!(
                "<form method=post {attributes}><input name=a value='\u{10d}\u{e9}\u{20ac}'><input name=user><input name=pass></form>"
            );
            let charset = Encoding::for_label(charset.as_bytes()).expect(charset);
            let body = fill(&login(""), &page, &html, charset).map_err(|error| error.to_string()).expect("filled").body;
            assert_eq!(body, format!("a={expect}&user=ana&pass=a%26b%3Dc"), "{attributes} {}", charset.name());
        };
        check("", "utf-8", "%C4%8D%C3%A9%E2%82%AC");
        check("", "iso-8859-2", "%E8%E9%26%238364%3B");
        check("accept-charset='none windows-1252, utf-8'", "utf-8", "%26%23269%3B%E9%80");
        check("accept-charset=utf-8", "windows-1252", "%C4%8D%C3%A9%E2%82%AC");
        check("accept-charset=none", "windows-1252", "%C4%8D%C3%A9%E2%82%AC");
        check("", "utf-16le", "%C4%8D%C3%A9%E2%82%AC");
    }

    #[test]
    fn the_form_is_the_selected_one_or_that_with_the_fields() {
        let two = "<form method=post action=/1><input name=user><input name=pass></form>
                   <div id=two><form method=post action=/2><input name=user><input name=pass></form></div>";
        assert_eq!(filled("", two).map(|(url, _)| url), Ok("https://a.test/1".to_owned()));
        assert_eq!(filled("form = \"#two\"", two).map(|(url, _)| url), Ok("https://a.test/2".to_owned()));
    }

    #[test]
    fn a_form_that_would_give_the_fields_away_is_refused() {
        let form =
            |attributes: &str| format!("<form {attributes}><input name=user><input type=password name=pass></form>");
        for (html, expect) in [
            (SEARCH.to_owned(), "https://a.test/login?… has no such form"),
            (
                "<form method=post><input name=login><input name=token><input type=password name=pass></form>"
                    .to_owned(),
                "the form has no field `user`: it has login, token, pass",
            ),
            (form(""), "the form does not use POST, so its fields would be part of a URL"),
            (form("method=post enctype=multipart/form-data"), "the form has another encoding"),
            (form("method=post action=https://evil.test/"), "the form is sent to another site, https://evil.test"),
            (form("method=post action=http://a.test/"), "the form is sent to another site, http://a.test"),
            (form("method=post action='mailto:x@y.test'"), "the form is sent to `mailto:x@y.test`"),
        ] {
            let error = filled("", &html).expect_err(&html);
            assert!(error.starts_with(expect) && !error.contains("ana") && !error.contains("a&b"), "{html}: {error}");
        }
        // Nor may a page to which the one that was named has led.
        let elsewhere = CanonicalUrl::parse("https://evil.test/login", &CanonicalRules::default()).expect("a URL");
        assert!(fill(&login(""), &elsewhere, &form("method=post"), UTF_8).is_err());
        let html = form("method=post action=https://sso.test/in");
        assert_eq!(
            filled("sent-to = \"https://sso.test\"", &html).map(|(url, _)| url),
            Ok("https://sso.test/in".to_owned())
        );
    }
}
