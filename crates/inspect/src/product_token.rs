//! The name by which robots.txt knows a crawler, taken from its User-Agent.

/// The product token of a User-Agent (RFC 9309 §2.2.1, RFC 9110 §10.1.5): what stands before the first `/` or white space.
///
/// Crawlers that pass for a browser give their own name behind the word `compatible`, as in
/// `Mozilla/5.0 (compatible; Foo/1.0; +http://foo.example/)`; then that is the token. Where there is no such part, it is
/// `Mozilla`.
pub(crate) fn product_token(user_agent: &str) -> &str {
    let user_agent = user_agent.trim();
    let first = token(user_agent);
    if first.eq_ignore_ascii_case("Mozilla") { behind_compatible(user_agent).unwrap_or(first) } else { first }
}

/// The token behind `compatible;`, if it is the name of a product and not part of a sentence.
fn behind_compatible(user_agent: &str) -> Option<&str> {
    const WORD: &str = "compatible;";
    let at = user_agent.to_ascii_lowercase().find(WORD)?;
    Some(token(user_agent[at + WORD.len()..].trim_start())).filter(|token| !token.is_empty())
}

fn token(text: &str) -> &str {
    text.split(|c: char| matches!(c, '/' | ';' | ')') || c.is_whitespace()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::product_token;

    #[test]
    fn the_token_is_the_crawlers_name() {
        for (user_agent, expect) in [
            ("argiope", "argiope"),
            ("argiope/0.1.0 (+http://a.test/)", "argiope"),
            ("  Foo Bar/1.0", "Foo"),
            ("cis5550-crawler", "cis5550-crawler"),
            ("", ""),
            ("Mozilla/5.0 (compatible; Foo/1.0; +http://foo.test/)", "Foo"),
            ("Mozilla/5.0 (Compatible;Foo)", "Foo"),
            ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Bar-Bot/1.0; +https://b.test)", "Bar-Bot"),
            ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101", "Mozilla"),
            ("Mozilla/5.0 (compatible; )", "Mozilla"),
            ("Foo/1.0 (compatible; Bar/1.0)", "Foo"),
        ] {
            assert_eq!(product_token(user_agent), expect, "{user_agent}");
        }
    }
}
