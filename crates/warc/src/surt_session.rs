//! Session ids in URLs, as the `surt` library takes them out of keys.

/// The session id in a query by its name, and the number of letters and digits of its value.
const NAMED: [(&str, usize); 3] = [("jsessionid=", 32), ("phpsessid=", 32), ("sid=", 32)];

/// The length of the id in an ASP.NET path, `/(S(…))/` or `/(…)/`.
const ASP_PATH_ID_LEN: usize = 24;

/// The query without session ids. Where one was at the end, the `&` before it stays.
pub(crate) fn without_query_session(query: &str) -> String {
    let mut query = query.to_owned();
    for (name, value_len) in NAMED {
        query = without_last(&query, |rest| {
            let value = strip_name(rest, name)?;
            run_len(value, u8::is_ascii_alphanumeric, value_len).map(|len| name.len() + len)
        });
    }
    query = without_last(&query, |rest| {
        let name = "aspsessionid";
        let suffix = strip_name(rest, name)?;
        run_len(suffix, u8::is_ascii_alphabetic, 8)?;
        let value = suffix.get(8..)?.strip_prefix('=')?;
        run_len(value, u8::is_ascii_alphabetic, 24).map(|len| name.len() + 8 + 1 + len)
    });
    without_last(&query, |rest| {
        let (id, token) = strip_name(rest, "cfid=")?.split_once('&')?;
        let token = strip_name(token, "cftoken=")?;
        let token_len = token.find('&').unwrap_or(token.len());
        let found = !id.is_empty() && token_len > 0;
        found.then_some("cfid=".len() + id.len() + 1 + "cftoken=".len() + token_len)
    })
}

/// Takes out the last place whose length `session_len` knows, with the `&` after it. It must
/// reach to a `&` or the end.
fn without_last(query: &str, session_len: impl Fn(&str) -> Option<usize>) -> String {
    for (start, _) in query.char_indices().rev() {
        let Some(len) = session_len(&query[start..]) else {
            continue;
        };
        let (before, after) = (&query[..start], &query[start + len..]);
        if after.is_empty() {
            return before.to_owned();
        }
        if let Some(after) = after.strip_prefix('&') {
            return format!("{before}{after}");
        }
    }
    query.to_owned()
}

fn strip_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let beginning = text.get(..name.len())?;
    beginning.eq_ignore_ascii_case(name).then(|| &text[name.len()..])
}

/// `len`, when the text begins with so many bytes of this kind.
fn run_len(text: &str, is_right: fn(&u8) -> bool, len: usize) -> Option<usize> {
    text.as_bytes().get(..len).filter(|bytes| bytes.iter().all(is_right)).map(<[u8]>::len)
}

/// The path without the directories in which ASP.NET puts its session id: one of the long form,
/// one of the short.
pub(crate) fn without_path_session(path: &str) -> String {
    let path = without_last_directory(path, is_long_asp_session);
    without_last_directory(&path, is_short_asp_session)
}

fn without_last_directory(path: &str, is_session: fn(&[u8]) -> bool) -> String {
    for (slash, _) in path.rmatch_indices('/') {
        let (before, rest) = path.split_at(slash + 1);
        if let Some((directory, page)) = rest.split_once('/')
            && let [b'(', inner @ .., b')'] = directory.as_bytes()
            && is_session(inner)
            && is_asp_page(page)
        {
            return format!("{before}{page}");
        }
    }
    path.to_owned()
}

/// `s(<id>)`, once or more.
fn is_long_asp_session(inner: &[u8]) -> bool {
    let mut parts = inner.chunks(ASP_PATH_ID_LEN + 3);
    let all = parts.all(|part| match part {
        [letter, b'(', id @ .., b')'] => letter.is_ascii_alphabetic() && is_short_asp_session(id),
        _ => false,
    });
    all && !inner.is_empty()
}

fn is_short_asp_session(id: &[u8]) -> bool {
    id.len() == ASP_PATH_ID_LEN && id.iter().all(u8::is_ascii_alphanumeric)
}

fn is_asp_page(page: &str) -> bool {
    let Some((at, _)) = page.match_indices(".aspx").find(|(at, _)| *at > 0) else {
        return false;
    };
    !page[..at].contains('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdefABCDEF0123456789";

    #[test]
    fn well_known_session_ids_leave_the_query() {
        fn check(query: &str, expect: &str) {
            assert_eq!(without_query_session(query), expect, "{query}");
        }
        check(&format!("jsessionid={ID}"), "");
        check(&format!("a=1&JSESSIONID={ID}&b=2"), "a=1&b=2");
        check(&format!("a=1&PHPSESSID={ID}"), "a=1&");
        check(&format!("sid={ID}&x"), "x");
        check(&format!("sid={ID}0&x"), &format!("sid={ID}0&x"));
        check("sid=short", "sid=short");
        check("ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&a", "a");
        check("cfid=1&cftoken=2&a", "a");
        check("cfid=1&cftoken=", "cfid=1&cftoken=");
        check("čšž=1", "čšž=1");
        check("", "");
    }

    #[test]
    fn asp_net_session_ids_leave_the_path() {
        fn check(path: &str, expect: &str) {
            assert_eq!(without_path_session(path), expect, "{path}");
        }
        check("/(s(4hqa0555fwsecu455xqckv45))/mileg.aspx", "/mileg.aspx");
        check("/a/(4hqa0555fwsecu455xqckv45)/mileg.aspx/b", "/a/mileg.aspx/b");
        check("/(s(4hqa0555fwsecu455xqckv45)f(4hqa0555fwsecu455xqckv45))/x.aspx", "/x.aspx");
        check("/(4hqa0555fwsecu455xqckv45)/mileg.html", "/(4hqa0555fwsecu455xqckv45)/mileg.html");
        check("/(short)/mileg.aspx", "/(short)/mileg.aspx");
        check("/()/a.aspx", "/()/a.aspx");
        let both = "/(4hqa0555fwsecu455xqckv45)/(s(4hqa0555fwsecu455xqckv45))/a.aspx";
        check(both, "/a.aspx");
    }
}
