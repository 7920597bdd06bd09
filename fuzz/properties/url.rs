//! What holds for every URL, reference, scope and pattern.
//!
//! Input: the first line is a URL, the second a scope, the rest a reference that is resolved against the URL.

use weburl::{CanonicalRules, CanonicalUrl, HashRoutes, Pattern, Scope, ScopeKind, Site, surt};

/// The longest pattern and text that are also matched by the naive reference, in bytes.
const NAIVE_BYTES_MAX: usize = 48;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut parts = text.splitn(3, '\n');
    let mut next = || parts.next().unwrap_or_default();
    let (base, scope, reference) = (next(), next(), next());
    pattern_matches_as_the_naive_reference_does(scope, reference);
    let kind = ScopeKind::parse(scope);
    if let Ok(kind) = &kind {
        assert_eq!(ScopeKind::parse(&kind.to_string()).as_ref(), Ok(kind), "a scope reads back");
    }
    for rules in rule_sets() {
        let _ = CanonicalUrl::parse(reference, &rules).inspect(|url| canonical_form(url, &rules));
        let Ok(base) = CanonicalUrl::parse(base, &rules) else { continue };
        canonical_form(&base, &rules);
        joining(&base, &rules);
        seeds_are_in_their_scopes(&base);
        let Ok(joined) = base.join(reference, &rules) else { continue };
        canonical_form(&joined, &rules);
        scopes_contain_each_other(&base, &joined);
        if let Ok(ScopeKind::HostSuffix(suffix)) = &kind {
            let within = Scope::new(ScopeKind::HostSuffix(suffix.clone())).contains(&joined);
            assert_eq!(within, format!(".{}", joined.host()).ends_with(suffix.as_str()), "{suffix} {joined}");
        }
    }
}

/// The default, each optional rule alone, all of them, and a short limit.
fn rule_sets() -> Vec<CanonicalRules> {
    let default = CanonicalRules::default();
    let all = CanonicalRules {
        sort_query: true,
        strip_session_ids: true,
        strip_tracking: true,
        collapse_slashes: true,
        strip_www: true,
        hash_routes: HashRoutes::Always,
        ..default.clone()
    };
    vec![
        CanonicalRules { sort_query: true, ..default.clone() },
        CanonicalRules { strip_session_ids: true, ..default.clone() },
        CanonicalRules { strip_tracking: true, ..default.clone() },
        CanonicalRules { collapse_slashes: true, ..default.clone() },
        CanonicalRules { strip_www: true, ..default.clone() },
        CanonicalRules { hash_routes: HashRoutes::Always, ..default.clone() },
        CanonicalRules { url_bytes_max: 32, ..all.clone() },
        all,
        default,
    ]
}

fn canonical_form(url: &CanonicalUrl, rules: &CanonicalRules) {
    let text = url.as_str();
    assert!(text.len() <= rules.url_bytes_max, "{text} is longer than {}", rules.url_bytes_max);
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text:?}");
    assert_eq!(text.split_once('#').map(|(_, route)| route), url.route(), "{text}");
    assert!(url.route().is_none() || rules.hash_routes != HashRoutes::Never, "{text}");
    assert_eq!(CanonicalUrl::parse(text, rules).as_ref(), Ok(url), "the canonical form of a canonical form is itself");
    assert_eq!(CanonicalUrl::from_canonical(text).as_ref(), Some(url), "what a store kept reads back");
    escapes_have_one_spelling(text);

    let host = url.host();
    assert!(!host.is_empty() && !host.ends_with('.') && !host.contains('@'), "{text}: host {host:?}");
    assert_eq!(host, host.to_ascii_lowercase());
    assert!(url.path().starts_with('/'), "{text}: path {:?}", url.path());
    let domain = url.domain();
    assert!(host == domain || host.ends_with(&format!(".{domain}")), "{text}: domain {domain}");

    let site = url.site();
    assert_eq!(Site::from_text(site.as_str()).as_ref(), Some(&site), "a site reads back");
    assert_eq!(format!("{site}{}", url.path_and_query()), text);
    assert_eq!((site.key(), site.host()), (url.key().site, host));
    let default_port = if site.is_https() { 443 } else { 80 };
    let port = if site.port() == default_port { String::new() } else { format!(":{}", site.port()) };
    assert_eq!(site.as_str(), format!("{}://{host}{port}", site.scheme()));
    surt_is_the_url_in_another_order(url, &port);
}

fn escapes_have_one_spelling(text: &str) {
    for (at, _) in text.match_indices('%') {
        let Some(digits) = text.get(at + 1..at + 3) else { continue };
        let Ok(byte) = u8::from_str_radix(digits, 16) else { continue };
        if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            assert_eq!(digits, format!("{byte:02X}"), "{text}");
        }
    }
}

fn surt_is_the_url_in_another_order(url: &CanonicalUrl, port: &str) {
    let is_address = url.host().starts_with('[') || url.host().parse::<std::net::Ipv4Addr>().is_ok();
    let labels: Vec<&str> = if is_address { vec![url.host()] } else { url.host().rsplit('.').collect() };
    assert_eq!(surt(url), format!("{}{port}){}", labels.join(","), url.path_and_query()));
}

fn joining(base: &CanonicalUrl, rules: &CanonicalRules) {
    for reference in ["", "#", "#top", base.as_str()] {
        assert_eq!(base.join(reference, rules).as_ref(), Ok(base), "{base} joined with {reference:?}");
    }
    let Some((scheme, rest)) = base.as_str().split_once(':') else { panic!("{base}") };
    for spelling in [
        format!("{}:{rest}#f?#", scheme.to_ascii_uppercase()),
        format!(" {base}\n"),
        format!("{scheme}://user:pass@{}", rest.trim_start_matches('/')),
    ] {
        if !rest[2..].starts_with('/') {
            assert_eq!(CanonicalUrl::parse(&spelling, rules).as_ref(), Ok(base), "{spelling}");
        }
    }
}

fn seeds_are_in_their_scopes(seed: &CanonicalUrl) {
    for kind in [ScopeKind::Site, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Prefix] {
        let mut scope = Scope::new(kind);
        assert!(!scope.contains(seed), "{scope:?} has no seed yet");
        assert!(scope.add_seed(seed) && !scope.add_seed(seed), "{scope:?} is as wide after the second time");
        assert!(scope.contains(seed), "{scope:?} contains its seed");
    }
}

fn scopes_contain_each_other(seed: &CanonicalUrl, url: &CanonicalUrl) {
    let mut is_inside = false;
    for kind in [ScopeKind::Prefix, ScopeKind::Site, ScopeKind::Host, ScopeKind::Domain, ScopeKind::Any] {
        let mut scope = Scope::new(kind);
        scope.add_seed(seed);
        assert!(!is_inside || scope.contains(url), "{scope:?} leaves out {url}, which a narrower scope contains");
        is_inside = scope.contains(url);
    }
    assert!(is_inside);
}

fn pattern_matches_as_the_naive_reference_does(pattern: &str, text: &str) {
    let Ok(compiled) = Pattern::new(pattern) else { return };
    assert!(Pattern::new("*").is_ok_and(|all| all.matches(text)));
    let matches = compiled.matches(text);
    if pattern.len() <= NAIVE_BYTES_MAX && text.len() <= NAIVE_BYTES_MAX {
        assert_eq!(matches, naive_match(compiled.as_str().as_bytes(), text.as_bytes()), "{pattern:?} on {text:?}");
    }
}

/// Row by row: after which parts of the text the pattern so far can end.
fn naive_match(pattern: &[u8], text: &[u8]) -> bool {
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    for byte in pattern {
        let before = ends.clone();
        for end in 0..=text.len() {
            ends[end] = match byte {
                b'*' => before[..=end].contains(&true),
                _ => end > 0 && before[end - 1] && text[end - 1] == *byte,
            };
        }
    }
    ends[text.len()]
}
