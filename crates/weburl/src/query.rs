//! The optional rules about parameters: sorting, session ids, tracking.

/// Parameters that carry a session (lower case; compared without regard to case).
const SESSION_IDS: [&str; 9] =
    ["jsessionid", "phpsessid", "sessionid", "session_id", "sid", "aspsessionid", "cfid", "cftoken", "zenid"];

/// Parameters that only tell a server where the visitor came from.
const TRACKING: [&str; 12] = [
    "gclid", "gclsrc", "dclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "yclid", "igshid", "_hsenc", "_hsmi", "twclid",
];

/// The path prefix before which servers put a session: `/page;jsessionid=1A2B`.
const SESSION_PATH: &str = ";jsessionid=";

/// True if a parameter of this name carries a session id.
#[must_use]
pub fn is_session_id(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SESSION_IDS.contains(&name.as_str()) || name.starts_with("aspsessionid")
}

/// True if the parameter `name` serves tracking only.
pub(crate) fn is_tracking(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TRACKING.contains(&name.as_str()) || name.starts_with("utm_")
}

/// The query without the parameters that `drop` names, and sorted by bytes if asked. `None` if nothing is left of it.
pub(crate) fn rewrite(query: &str, sort: bool, drop: impl Fn(&str) -> bool) -> Option<String> {
    let mut kept: Vec<&str> = query.split('&').filter(|pair| !drop(pair.split('=').next().unwrap_or(pair))).collect();
    if sort {
        kept.retain(|pair| !pair.is_empty());
        kept.sort_unstable();
    }
    let joined = kept.join("&");
    (!joined.is_empty()).then_some(joined)
}

/// The path without any `;jsessionid=…`. `None` if it has none.
pub(crate) fn without_session_path(path: &str) -> Option<String> {
    let lower = path.to_ascii_lowercase();
    let mut out = String::new();
    let mut kept = 0;
    while let Some(at) = lower[kept..].find(SESSION_PATH) {
        out.push_str(&path[kept..kept + at]);
        let value = kept + at + SESSION_PATH.len();
        kept = path[value..].find(['/', ';']).map_or(path.len(), |length| value + length);
    }
    (kept > 0).then(|| out + &path[kept..])
}
