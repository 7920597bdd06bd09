//! Constant locations assigned in `onclick` code, found without running it.
//!
//! Recognised: `location = '…'`, `location.href = '…'`, `location.assign('…')` and
//! `location.replace('…')`, also as a property of `document`, `window`, `self`, `top`, `parent`.
//! The value must be one whole string literal; concatenations and variables are ignored.

const OBJECTS: [&str; 6] = ["document", "window", "self", "top", "parent", "globalThis"];

/// The locations, unescaped, in the order of the code.
pub(crate) fn locations(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, name) in code.match_indices("location") {
        if is_the_location(&code[..at]) {
            found.extend(assigned(&code[at + name.len()..]));
        }
    }
    found
}

/// Whether `location` after this code is the browser's, not the end of another name or a field of
/// something else.
fn is_the_location(before: &str) -> bool {
    let Some(mut path) = before.strip_suffix('.') else {
        return !before.ends_with(is_name_char);
    };
    loop {
        let start =
            path.rfind(|c| !is_name_char(c)).map_or(0, |at| at + path[at..].chars().next().map_or(1, char::len_utf8));
        if !OBJECTS.contains(&&path[start..]) {
            return false;
        }
        match path[..start].strip_suffix('.') {
            Some(outer) => path = outer,
            None => return true,
        }
    }
}

/// The string that the code after `location` assigns to it.
fn assigned(after: &str) -> Option<String> {
    let rest = after.trim_start();
    if let Some(value) = assignment(rest) {
        return value;
    }
    let member = rest.strip_prefix('.')?.trim_start();
    if let Some(rest) = member.strip_prefix("href") {
        return assignment(rest.trim_start())?;
    }
    let call = ["assign", "replace"].iter().find_map(|name| member.strip_prefix(name))?;
    let (value, rest) = string_literal(call.trim_start().strip_prefix('(')?.trim_start())?;
    rest.trim_start().starts_with(')').then_some(value)
}

/// The value after `=`: outer `None` if this is no assignment, inner if its value is no constant.
fn assignment(code: &str) -> Option<Option<String>> {
    let value = code.strip_prefix('=').filter(|v| !v.starts_with('='))?;
    let constant = string_literal(value.trim_start()).filter(|(_, rest)| ends_statement(rest)).map(|(value, _)| value);
    Some(constant)
}

/// Whether an expression can end here: at a delimiter, or at a line break before a name.
fn ends_statement(rest: &str) -> bool {
    let next = rest.trim_start();
    let broken = rest[..rest.len() - next.len()].contains(['\n', '\r']);
    match next.chars().next() {
        None | Some(';' | '}' | ')' | ',') => true,
        Some(c) => broken && is_name_char(c),
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Reads a quoted JavaScript string (ECMA-262, 12.9.4): its value and the code after it.
fn string_literal(code: &str) -> Option<(String, &str)> {
    let quote = code.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut units: Vec<u16> = Vec::new();
    let mut rest = &code[1..];
    loop {
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, &mut units)?,
            '\n' | '\r' => return None,
            c if c == quote => return Some((String::from_utf16_lossy(&units), rest)),
            c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }
}

/// Reads what follows a backslash. Units, not characters: an escape may be half a surrogate pair.
fn escape<'c>(code: &'c str, units: &mut Vec<u16>) -> Option<&'c str> {
    let c = code.chars().next()?;
    let rest = &code[c.len_utf8()..];
    let plain = match c {
        'u' if rest.starts_with('{') => {
            // Six digits at most; without the bound a long attribute would be searched again and again.
            let end = rest.bytes().take(8).position(|b| b == b'}')?;
            let point = u32::from_str_radix(&rest[1..end], 16).ok()?;
            units.extend_from_slice(char::from_u32(point)?.encode_utf16(&mut [0; 2]));
            return Some(&rest[end + 1..]);
        }
        'u' | 'x' => {
            let digits = if c == 'u' { 4 } else { 2 };
            let hex = rest.get(..digits)?;
            units.push(u16::from_str_radix(hex, 16).ok()?);
            return Some(&rest[digits..]);
        }
        '\r' => return Some(rest.strip_prefix('\n').unwrap_or(rest)),
        '\n' => return Some(rest),
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        c => c,
    };
    units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expect: &[&str]) {
        assert_eq!(locations(code), expect, "{code:?}");
    }

    #[test]
    fn constant_locations_are_found() {
        check("location='/a'", &["/a"]);
        check("location.href=\"/a\";", &["/a"]);
        check("document.location = '/a'; return false", &["/a"]);
        check("document.location.href='/a'", &["/a"]);
        check("window.location='/a'", &["/a"]);
        check("window.location.href = '/a'", &["/a"]);
        check("self.location='/a'", &["/a"]);
        check("top.location.href='/a'", &["/a"]);
        check("parent.location='/a'", &["/a"]);
        check("window.top.location='/a'", &["/a"]);
        check("location.assign('/a')", &["/a"]);
        check("location.replace( \"/a\" );", &["/a"]);
        check("if(x){location='/a'}else{location='/b'}", &["/a", "/b"]);
        check("(location='/a')", &["/a"]);
        check("javascript:location.href='/a'", &["/a"]);
        check("location='/a'\nreturn false", &["/a"]);
        check("location\n.\nhref\n=\n'/a'", &["/a"]);
    }

    #[test]
    fn escapes_are_decoded() {
        check(r"location='\/a\'b\\c'", &["/a'b\\c"]);
        check(r#"location="\"a""#, &["\"a"]);
        check(r"location='\x2fa\u002Fb\u{2f}c'", &["/a/b/c"]);
        check(r"location='\uD83D\uDE00'", &["\u{1f600}"]);
        check("location='/a\\\nb'", &["/ab"]);
        check(r"location='\x2'", &[]);
        check(r"location='\u{110000}'", &[]);
        check("location='\\u{é}'", &[]);
    }

    #[test]
    fn everything_else_is_ignored() {
        check("", &[]);
        check("location", &[]);
        check("location=", &[]);
        check("location='/a", &[]);
        check("location='/a'+x", &[]);
        check("location='/a' + x", &[]);
        check("location='/a'\n+ x", &[]);
        check("location='/a'.concat(x)", &[]);
        check("location=x+'/a'", &[]);
        check("location==='/a'", &[]);
        check("location!='/a'", &[]);
        check("mylocation='/a'", &[]);
        check("locations='/a'", &[]);
        check("my.location='/a'", &[]);
        check("my.window.location='/a'", &[]);
        check("é.location='/a'", &[]);
        check("location.hash='/a'", &[]);
        check("location.hrefs='/a'", &[]);
        check("location.assign(x)", &[]);
        check("location.assign('/a'+x)", &[]);
        check("location=`/a`", &[]);
    }
}
