//! Which URLs an export is about.

use std::fmt;

use dataset::Row;
use model::{MediaRange, Outcome, Timestamp};
use weburl::Site;

/// A choice of rows: each list that is not empty must have a match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    sites: Vec<String>,
    outcomes: Vec<String>,
    content_types: Vec<MediaRange>,
    since: Option<Timestamp>,
}

/// A filter that cannot be used: what was given, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FilterError(String);

impl Filter {
    /// Reads a filter.
    ///
    /// - `sites`: a site (`https://example.com`, `http://example.com:8080`) or a host (`example.com`, whatever scheme and port).
    /// - `outcomes`: words of `docs/rows.md`, except `not_modified`.
    /// - `content_types`: media ranges.
    /// - `since`: a date (`2026-11-21`) or a time (`2026-11-21T08:30:00Z`), UTC; what was fetched then or later.
    ///
    /// # Errors
    /// One of them cannot be read; the message says which, and what could stand there.
    pub fn new(
        sites: &[String],
        outcomes: &[String],
        content_types: &[String],
        since: Option<&str>,
    ) -> Result<Self, FilterError> {
        let sites = sites.iter().map(|site| read_site(site)).collect::<Result<_, _>>()?;
        let outcomes = outcomes.iter().map(|outcome| read_outcome(outcome)).collect::<Result<_, _>>()?;
        let content_type = |text: &String| {
            MediaRange::parse(text).ok_or_else(|| {
                FilterError(format!("--content-type {text}: is not a media type such as text/html or image/*"))
            })
        };
        let content_types = content_types.iter().map(content_type).collect::<Result<_, _>>()?;
        let since = since.map(read_time).transpose()?;
        Ok(Filter { sites, outcomes, content_types, since })
    }

    /// True if nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Filter::default()
    }

    /// The sites, or hosts, to which it is limited; none if it is not.
    #[must_use]
    pub fn sites(&self) -> &[String] {
        &self.sites
    }

    /// Whether a row is chosen.
    #[must_use]
    pub fn admits(&self, row: &Row) -> bool {
        let content_type = row.content_type.as_deref().unwrap_or_default();
        let has = |list: &[String], test: &dyn Fn(&str) -> bool| list.is_empty() || list.iter().any(|item| test(item));
        has(&self.sites, &|site| names(site, &row.site))
            && has(&self.outcomes, &|outcome| outcome == row.outcome)
            && (self.content_types.is_empty() || self.content_types.iter().any(|range| range.contains(content_type)))
            && self.since.is_none_or(|since| row.at.is_some_and(|at| at >= since))
    }
}

/// The options that make it, for those who find what was made with it.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sites = self.sites.iter().map(|site| format!("--site {site}"));
        let outcomes = self.outcomes.iter().map(|outcome| format!("--outcome {outcome}"));
        let content_types = self.content_types.iter().map(|range| format!("--content-type {range}"));
        let since = self.since.map(|since| format!("--since {since}"));
        f.write_str(&sites.chain(outcomes).chain(content_types).chain(since).collect::<Vec<_>>().join(" "))
    }
}

/// Whether a filter's site, host, or host and port is this site.
#[must_use]
pub fn names(filtered: &str, site: &str) -> bool {
    let authority = site.split_once("://").map_or("", |(_, authority)| authority);
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let host = if authority.ends_with(']') { authority } else { host };
    [site, authority, host].contains(&filtered)
}

fn read_site(text: &str) -> Result<String, FilterError> {
    if !text.contains("://") {
        let host = text.trim_end_matches('/').to_ascii_lowercase();
        let is_host = !host.is_empty() && !host.contains(['/', '?', '#', ' ']);
        return if is_host { Ok(host) } else { Err(FilterError(format!("--site {text}: no host and no site"))) };
    }
    let url = weburl::CanonicalUrl::parse(text, &weburl::CanonicalRules::default());
    let url = url.map_err(|error| FilterError(format!("--site {text}: {error}")))?;
    if url.path_and_query() != "/" {
        return Err(FilterError(format!("--site {text}: a site is scheme, host and port, without a path")));
    }
    let site: Site = url.site();
    Ok(site.as_str().to_owned())
}

fn read_outcome(text: &str) -> Result<String, FilterError> {
    // A row describes what is there. No 304 does (`store::current_visit`).
    let confirmed = Outcome::NotModified.as_str();
    if text == confirmed {
        return Err(FilterError(format!(
            "--outcome {text}: an unchanged page has the row and the outcome of the visit that recorded its content; \
             `argiope ui DIR` lists the URLs that were {confirmed} last, and the dataset's table `pages` has every visit"
        )));
    }
    let outcomes = Outcome::ALL.iter().map(|outcome| outcome.as_str()).filter(|outcome| *outcome != confirmed);
    let words: Vec<&str> = outcomes.chain([dataset::rows::FRONTIER]).collect();
    if words.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(FilterError(format!("--outcome {text}: is none of {}", words.join(", "))))
}

fn read_time(text: &str) -> Result<Timestamp, FilterError> {
    Timestamp::from_rfc3339(text)
        .ok_or_else(|| FilterError(format!("--since {text}: is no date such as 2026-11-21 or 2026-11-21T08:30:00Z")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_named_by_its_host_or_with_its_port_or_in_full() {
        for (site, named, not_named) in [
            (
                "http://a.test:81",
                &["a.test", "a.test:81", "http://a.test:81"][..],
                &["a.test:80", "b.test", "http://a.test"][..],
            ),
            ("https://a.test", &["a.test", "https://a.test"], &["a.test:443", "http://a.test"]),
            ("http://[::1]:8080", &["[::1]", "[::1]:8080", "http://[::1]:8080"], &["[:", "::1"]),
            ("http://[::1]", &["[::1]"], &["[::1]:80"]),
        ] {
            assert!(named.iter().all(|name| names(name, site)), "{site}");
            assert!(!not_named.iter().any(|name| names(name, site)), "{site}");
        }
    }
}
