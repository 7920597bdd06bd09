//! The description of a login: the table `[login.NAME]`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use data_encoding::BASE64;
use fetch::Field;
use rules::Query;
use serde::Deserialize;
use toml::{Table, Value};
use weburl::{CanonicalRules, CanonicalUrl, Site, UrlPattern, without_user_info};

use crate::marks::Marks;

/// Logins by one form in a run, unless the description has another number.
pub const LOGINS_MAX: u32 = 20;

/// All logins of a crawl.
#[derive(Clone, Debug, Default)]
pub struct LoginSet {
    /// By forms.
    pub forms: Vec<Login>,
    /// Basic authentication and bearer tokens, with the URLs whose servers get them.
    pub fields: Vec<(UrlPattern, Field)>,
}

/// A login by a form.
#[derive(Clone)]
pub struct Login {
    /// Its name.
    pub name: String,
    /// The page with the form.
    pub url: CanonicalUrl,
    /// Which form of the page.
    pub(crate) form: Option<Query>,
    /// Names and values, the latter secret.
    pub(crate) fields: Vec<(String, String)>,
    /// Where the form may be sent besides the site of the page.
    pub(crate) sent_to: Option<Site>,
    /// The pages that it is for.
    pub(crate) pages: Vec<UrlPattern>,
    /// What shows that it worked: all of these.
    pub(crate) success: Marks,
    /// What shows that it is needed: any of these.
    pub(crate) logged_out: Marks,
    pub(crate) logins_max: u32,
}

impl Login {
    /// The values of its fields, which are secret.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(_, value)| value.as_str())
    }

    /// Whether a site may learn the fields: that of `url`, however the page with the form was reached, the same by https on the port of its
    /// scheme, and that of `sent-to`.
    pub(crate) fn may_send_to(&self, site: &Site) -> bool {
        let named = self.url.site();
        let is_upgrade = !named.is_https() && named.port() == 80 && site.is_https() && site.port() == 443;
        *site == named || is_upgrade && site.host() == named.host() || self.sent_to.as_ref() == Some(site)
    }
}

/// Without values.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("name", &self.name).field("url", &self.url).finish_non_exhaustive()
    }
}

/// What is wrong with a description. No value is shown that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("login.{name}: {message}")]
pub struct DescriptionError {
    name: String,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Given {
    url: Option<String>,
    #[serde(default)]
    r#for: Vec<String>,
    form: Option<String>,
    #[serde(default)]
    fields: BTreeMap<String, String>,
    sent_to: Option<String>,
    #[serde(default)]
    success: GivenMarks,
    #[serde(default)]
    logged_out: GivenMarks,
    max_logins: Option<u32>,
    basic: Option<Basic>,
    bearer: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct GivenMarks {
    selector: Option<String>,
    text: Option<String>,
    url: Option<String>,
    cookie: Option<String>,
    #[serde(default)]
    status: Vec<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Basic {
    user: String,
    password: String,
}

impl LoginSet {
    /// Checks descriptions by name. References to files and variables have been replaced by what they refer to.
    ///
    /// # Errors
    /// One cannot be used.
    pub fn of(descriptions: &Table) -> Result<Self, DescriptionError> {
        let mut set = LoginSet::default();
        for (name, given) in descriptions {
            set.add(name, given).map_err(|message| DescriptionError { name: name.clone(), message })?;
        }
        Ok(set)
    }

    fn add(&mut self, name: &str, given: &Value) -> Result<(), String> {
        let given: Given = given.clone().try_into().map_err(|error: toml::de::Error| shown(&error))?;
        let patterns = given.r#for.iter().map(|text| pattern("for", text)).collect::<Result<Vec<_>, _>>()?;
        let authorization = match (&given.basic, &given.bearer) {
            (Some(_), Some(_)) => return Err("has both basic and bearer: a server gets one of them".to_owned()),
            (Some(basic), None) => Some(basic_value(basic)?),
            (None, Some(token)) => Some(format!("Bearer {token}")),
            (None, None) => None,
        };
        let Some(value) = authorization else {
            self.forms.push(form(name, given, patterns)?);
            return Ok(());
        };
        if given.url.is_some() || !given.fields.is_empty() {
            return Err("has both a form and an Authorization: describe them by two names".to_owned());
        }
        if patterns.is_empty() {
            return Err("has no `for`: the URLs whose servers get it, such as [\"https://api.example/*\"]".to_owned());
        }
        let field = Field::new("Authorization", &value).map_err(|_| "has characters that cannot be sent".to_owned())?;
        self.fields.extend(patterns.into_iter().map(|pattern| (pattern, field.clone())));
        Ok(())
    }
}

/// The value of `Authorization` (RFC 7617 §2).
fn basic_value(basic: &Basic) -> Result<String, String> {
    if basic.user.contains(':') || basic.user.chars().chain(basic.password.chars()).any(char::is_control) {
        return Err(
            "the user name has a colon or a control character, which basic authentication cannot carry".to_owned()
        );
    }
    Ok(format!("Basic {}", BASE64.encode(format!("{}:{}", basic.user, basic.password).as_bytes())))
}

fn form(name: &str, given: Given, mut pages: Vec<UrlPattern>) -> Result<Login, String> {
    let text = given.url.ok_or("has no `url`: that of the page with the form, or `basic` or `bearer`")?;
    let url = address("url", &text)?;
    if given.fields.is_empty() {
        return Err(
            "has no `fields`: names and values, such as { user = \"ana\", password = \"env:PASSWORD\" }".to_owned()
        );
    }
    if pages.is_empty() {
        pages.push(pattern("url", &format!("{}/*", url.site()))?);
    }
    let sent_to = given.sent_to.map(|text| address("sent-to", &text).map(|url| url.site()));
    let query = |text: String| Query::parse(&text).map_err(|error| error.to_string());
    if !given.success.status.is_empty() {
        return Err("success has no `status`: pages for strangers have 200, too".to_owned());
    }
    if given.logged_out.cookie.is_some() {
        return Err("logged-out has no `cookie`: that of a session that has ended is still there".to_owned());
    }
    Ok(Login {
        name: name.to_owned(),
        form: given.form.map(query).transpose()?,
        fields: given.fields.into_iter().collect(),
        sent_to: sent_to.transpose()?,
        pages,
        success: marks(given.success)?,
        logged_out: marks(given.logged_out)?,
        logins_max: given.max_logins.unwrap_or(LOGINS_MAX),
        url,
    })
}

/// The URL of a key.
fn address(key: &str, text: &str) -> Result<CanonicalUrl, String> {
    refuse_user_info(key, text)?;
    CanonicalUrl::parse(text, &CanonicalRules::default()).map_err(|error| format!("{key} `{text}`: {error}"))
}

/// The pattern of a key.
fn pattern(key: &str, text: &str) -> Result<UrlPattern, String> {
    refuse_user_info(key, text)?;
    UrlPattern::new(text).map_err(|error| format!("{key} `{text}`: {error}"))
}

/// URLs and patterns are settings that the crawl writes down: no password may be in them.
fn refuse_user_info(key: &str, text: &str) -> Result<(), String> {
    match without_user_info(text) {
        Cow::Borrowed(_) => Ok(()),
        Cow::Owned(hidden) => {
            Err(format!("{key} `{hidden}` has a user name or password: describe them as `basic`, by another name"))
        }
    }
}

fn marks(given: GivenMarks) -> Result<Marks, String> {
    Ok(Marks {
        selector: given.selector.map(|text| Query::parse(&text).map(|query| (text, query))).transpose()?,
        text: given.text,
        url: given.url.map(|text| pattern("url", &text)).transpose()?,
        cookie: given.cookie,
        status: given.status,
    })
}

/// What TOML says of a description, unless it may show a value.
fn shown(error: &toml::de::Error) -> String {
    let message = error.message();
    match message.starts_with("unknown field") || message.starts_with("missing field") {
        true => message.to_owned(),
        false => "a value is not of the kind that docs/logins.md says".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LoginSet, String> {
        LoginSet::of(&text.parse::<Table>().expect(text)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_short_description_is_enough() {
        let set = read("[members]\nurl = \"https://a.test/login\"\nfields = { user = \"ana\", password = \"S3CRET\" }")
            .expect("read");
        let [login] = &set.forms[..] else { panic!("{set:?}") };
        let page = |text: &str| CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text);
        assert!(login.pages.iter().any(|pattern| pattern.matches(&page("https://a.test/x?y"))));
        assert!(!login.pages.iter().any(|pattern| pattern.matches(&page("https://b.test/x"))));
        assert_eq!(login.logins_max, LOGINS_MAX);
        assert!(!format!("{set:?}").contains("S3CRET"));
    }

    #[test]
    fn basic_and_bearer_are_fields_for_some_urls() {
        let set = read(
            "a = { for = [\"https://a.test/*\"], basic = { user = \"Aladdin\", password = \"open sesame\" } }\n\
             b = { for = [\"https://b.test/*\", \"https://c.test/*\"], bearer = \"S3CRET\" }",
        );
        let set = set.expect("read");
        let basic: Field = "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".parse().expect("a field"); // RFC 7617 §2
        assert_eq!((set.forms.len(), set.fields.len()), (0, 3));
        assert!(set.fields.iter().any(|(pattern, field)| pattern.as_str() == "https://a.test/*" && *field == basic));
        assert!(!format!("{set:?}").contains("S3CRET"));
    }

    #[test]
    fn what_cannot_be_used_is_named_and_no_value_shown() {
        for (text, expect) in [
            ("a = {}", "login.a: has no `url`"),
            ("a = { url = \"x\", fields = { p = \"S3CRET\" } }", "login.a: url `x`"),
            ("a = { url = \"https://a.test/\" }", "login.a: has no `fields`"),
            (
                "a = { url = \"https://ana:S3CRET@a.test/\", fields = { p = \"x\" } }",
                "login.a: url `https://***@a.test/` has a user name or password",
            ),
            (
                "a = { for = [\"https://ana:S3CRET@a.test/*\"], bearer = \"x\" }",
                "login.a: for `https://***@a.test/*` has a",
            ),
            ("a = { url = \"https://a.test/\", fields = { p = 5 } }", "login.a: a value is not of the kind"),
            ("a = { bearer = [\"S3CRET\"] }", "login.a: a value is not of the kind"),
            ("a = { bearer = \"S3CRET\" }", "login.a: has no `for`"),
            (
                "a = { bearer = \"S3CRET\", basic = { user = \"S3CRET\", password = \"\" } }",
                "login.a: has both basic and bearer",
            ),
            (
                "a = { for = [\"*\"], basic = { user = \"S3:CRET\", password = \"\" } }",
                "login.a: the user name has a colon",
            ),
            ("a = { for = [\"a.test\"], bearer = \"S3CRET\" }", "login.a: for `a.test`: the pattern does not begin"),
            ("a = { pasword = \"S3CRET\" }", "login.a: unknown field `pasword`"),
            (
                "a = { url = \"https://a.test/\", fields = { p = \"S3CRET\" }, form = \"[\" }",
                "login.a: `[` is no CSS selector",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(expect) && !error.contains("S3CRET"), "{text}: {error}");
        }
    }
}
