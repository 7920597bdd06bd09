//! Cookies in the files that other programs write: `cookies.txt` of Netscape, and JSON of browser extensions and of Playwright.

use std::fmt;

use model::Timestamp;
use serde::Deserialize;

use crate::cookie::{Cookie, SameSite};
use crate::jar::{canonical_host, is_address};
use crate::set_cookie::same_site;
use crate::stored::{Area, Stored};

/// What begins a line of `cookies.txt` whose cookie scripts do not see; such a line is no comment.
const HTTP_ONLY: &str = "#HttpOnly_";

/// What is wrong with a file. Its content is not shown: it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    place: Place,
    why: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Whole,
    /// From 1.
    Line(usize),
    /// From 1.
    Cookie(usize),
}

impl std::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Whole => {}
            Place::Line(line) => write!(f, "line {line}: ")?,
            Place::Cookie(number) => write!(f, "cookie {number}: ")?,
        }
        f.write_str(self.why)
    }
}

/// What a browser kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Its cookies.
    pub cookies: Vec<Cookie>,
    /// The entries of storage.
    pub stored: Vec<Stored>,
}

/// Reads a file: JSON if it begins with a bracket, else `cookies.txt`. Some of its cookies may have ended. They count as older than
/// those that servers set.
///
/// # Errors
/// It has another form, or a cookie in it cannot be.
pub fn from_text(text: &str) -> Result<Profile, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    match text.trim_start().starts_with(['[', '{']) {
        true => from_json(text),
        false => Ok(Profile { cookies: from_netscape(text)?, stored: Vec::new() }),
    }
}

/// Seven columns with tabs between them: domain, whether hosts below it count, path, whether TLS is needed, the end in seconds since 1970
/// (0: with the session), name, value.
fn from_netscape(text: &str) -> Result<Vec<Cookie>, ReadError> {
    let mut cookies = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let at = |why| ReadError { place: Place::Line(index + 1), why };
        let (line, http_only) = match line.strip_prefix(HTTP_ONLY) {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let columns: Vec<&str> = line.trim_end_matches('\r').splitn(7, '\t').collect();
        // The value may be empty. Editors take the tab before it away.
        let ([domain, below, path, secure, expires, name] | [domain, below, path, secure, expires, name, _]) =
            columns[..]
        else {
            return Err(at("has not the seven columns of cookies.txt, with tabs between them"));
        };
        let value = columns.get(6).copied().unwrap_or_default();
        let is_true = |text: &str| match text.trim().to_ascii_uppercase().as_str() {
            "TRUE" => Ok(true),
            "FALSE" => Ok(false),
            _ => Err(at("has columns that are neither TRUE nor FALSE where cookies.txt has one of them")),
        };
        let seconds: f64 = expires.trim().parse().map_err(|_| at("has an end that is no number"))?;
        let given = Given {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: domain.to_owned(),
            path: Some(path.to_owned()),
            secure: is_true(secure)?,
            http_only,
            host_only: Some(!is_true(below)?),
            expires: Some(seconds),
            ..Given::default()
        };
        cookies.push(given.into_cookie().map_err(at)?);
    }
    Ok(cookies)
}

/// A cookie in JSON: as Playwright and Puppeteer write it (`expires`), and as extensions do (`expirationDate`, `hostOnly`).
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    name: String,
    value: String,
    domain: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    secure: bool,
    #[serde(default)]
    http_only: bool,
    #[serde(default)]
    host_only: Option<bool>,
    #[serde(default)]
    same_site: Option<String>,
    /// Seconds since 1970; nothing and negative numbers mean the session.
    #[serde(default, alias = "expirationDate")]
    expires: Option<f64>,
}

/// The files of Playwright, and of `argiope login`.
#[derive(Default, Deserialize)]
struct StorageState {
    cookies: Vec<serde_json::Value>,
    #[serde(default)]
    origins: Vec<Origin>,
}

/// What an origin kept. Playwright's files have no `sessionStorage`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Origin {
    origin: String,
    #[serde(default)]
    local_storage: Vec<Entry>,
    #[serde(default)]
    session_storage: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    value: String,
}

impl Origin {
    fn entries(self) -> impl Iterator<Item = Stored> {
        let Origin { origin, local_storage, session_storage } = self;
        let local = local_storage.into_iter().map(|entry| (Area::Local, entry));
        let session = session_storage.into_iter().map(|entry| (Area::Session, entry));
        local.chain(session).map(move |(area, Entry { name, value })| Stored {
            origin: origin.clone(),
            area,
            name,
            value,
        })
    }
}

fn from_json(text: &str) -> Result<Profile, ReadError> {
    let whole = |why| ReadError { place: Place::Whole, why };
    let StorageState { cookies: listed, origins } = match text.trim_start().starts_with('[') {
        true => {
            let cookies = serde_json::from_str(text).map_err(|_| whole("is no list in JSON"))?;
            StorageState { cookies, ..StorageState::default() }
        }
        false => serde_json::from_str(text)
            .map_err(|_| whole("is JSON without a list `cookies`, which Playwright's storageState has"))?,
    };
    let read = |(index, value): (usize, serde_json::Value)| {
        let at = |why| ReadError { place: Place::Cookie(index + 1), why };
        let given: Given = serde_json::from_value(value)
            .map_err(|_| at("is no object with name, value and domain, as browsers write it"))?;
        given.into_cookie().map_err(at)
    };
    let cookies = listed.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Ok(Profile { cookies, stored: origins.into_iter().flat_map(Origin::entries).collect() })
}

impl Given {
    fn into_cookie(self) -> Result<Cookie, &'static str> {
        let dotted = self.domain.trim();
        let bare = dotted.strip_prefix('.');
        let domain = canonical_host(bare.unwrap_or(dotted)).ok_or("has a domain that is no host")?;
        // A file of a browser says so in words or with a dot.
        let host_only = is_address(&domain) || self.host_only.unwrap_or(bare.is_none());
        let path = self.path.filter(|path| path.starts_with('/')).unwrap_or_else(|| "/".to_owned());
        Ok(Cookie {
            name: self.name.trim().to_owned(),
            value: self.value.trim().to_owned(),
            domain,
            host_only,
            path,
            secure: self.secure,
            http_only: self.http_only,
            // Extensions say `no_restriction` of cookies that came before SameSite, too, so it is not held against them.
            same_site: self
                .same_site
                .as_deref()
                .map(same_site)
                .filter(|same| *same != SameSite::None || self.secure)
                .unwrap_or_default(),
            expires: self.expires.filter(|seconds| *seconds > 0.0).map(time),
            created: Timestamp(0),
        })
    }
}

/// Seconds since 1970 as a time. What is not, and what is beyond any clock, is at its bounds.
fn time(seconds: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as saturates")]
    Timestamp((seconds * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |cookie: &Cookie| {
            let Cookie { name, value, domain, host_only, path, secure, http_only, same_site, expires, .. } = cookie;
            let dot = if *host_only { "" } else { "." };
            let expires = expires.map_or(0, |time| time.0 / 1_000_000);
            format!("{name}={value} {dot}{domain}{path} {secure} {http_only} {same_site:?} {expires}")
        };
        from_text(text).expect(text).cookies.iter().map(show).collect()
    }

    #[test]
    fn cookies_txt_is_read() {
        let text = "# Netscape HTTP Cookie File\n\n\
            .example.com\tTRUE\t/\tTRUE\t1800000000\tid\ta b\n\
            #HttpOnly_www.Example.com\tFALSE\t/x\tFALSE\t0\tsession\tv=1\r\n\
            example.com\tTRUE\t/\tFALSE\t0\tempty\t\n\
            example.com\tTRUE\t/\tFALSE\t0\tstripped\n";
        let expect = [
            "id=a b .example.com/ true false Unset 1800000000",
            "session=v=1 www.example.com/x false true Unset 0",
            "empty= .example.com/ false false Unset 0",
            "stripped= .example.com/ false false Unset 0",
        ];
        assert_eq!(shown(text), expect);
    }

    #[test]
    fn json_of_browsers_is_read() {
        let playwright = r#"{"cookies": [
            {"name":"id","value":"1","domain":".example.com","path":"/","expires":1800000000.5,"httpOnly":true,"secure":true,"sameSite":"Lax"},
            {"name":"s","value":"2","domain":"www.example.com","path":"/a","expires":-1,"httpOnly":false,"secure":false,"sameSite":"None"}
        ], "origins": [{"origin":"https://example.com","localStorage":[]}]}"#;
        let expect = ["id=1 .example.com/ true true Lax 1800000000", "s=2 www.example.com/a false false Unset 0"];
        assert_eq!(shown(playwright), expect);
        let kept = r#"{"cookies": [], "origins": [{"origin":"https://example.com","localStorage":[{"name":"token","value":"1"}],
            "sessionStorage":[{"name":"tab","value":"2"}]}]}"#;
        let stored = from_text(kept).expect(kept).stored;
        let stored: Vec<_> = stored.iter().map(|one| (one.area.as_str(), &*one.name, &*one.value)).collect();
        assert_eq!(stored, [("local", "token", "1"), ("session", "tab", "2")]);
        let extension = r#"[{"domain":"example.com","hostOnly":true,"expirationDate":1800000000,"name":"id","value":"1",
            "path":"/","sameSite":"no_restriction","secure":true,"session":false,"storeId":"0","id":1}]"#;
        assert_eq!(shown(extension), ["id=1 example.com/ true false None 1800000000"]);
        assert_eq!(shown("[]"), [""; 0]);
    }

    #[test]
    fn errors_name_the_place_and_nothing_of_the_content() {
        for (text, expect) in [
            ("S3CRET", "line 1: has not the seven columns of cookies.txt, with tabs between them"),
            ("a\tTRUE\t/\tTRUE\tS3CRET", "line 1: has not the seven columns of cookies.txt, with tabs between them"),
            ("a\tTRUE\t/\tTRUE\tS3CRET\tb\tS3CRET", "line 1: has an end that is no number"),
            (
                "#\na\tS3CRET\t/\tTRUE\t0\tb\tS3CRET",
                "line 2: has columns that are neither TRUE nor FALSE where cookies.txt has one of them",
            ),
            ("a/S3CRET\tTRUE\t/\tTRUE\t0\tb\tS3CRET", "line 1: has a domain that is no host"),
            ("[S3CRET", "is no list in JSON"),
            ("{\"S3CRET\":1}", "is JSON without a list `cookies`, which Playwright's storageState has"),
            ("[{\"name\":\"S3CRET\"}]", "cookie 1: is no object with name, value and domain, as browsers write it"),
        ] {
            assert_eq!(from_text(text).map_err(|error| error.to_string()), Err(expect.to_owned()), "{text}");
        }
    }
}
