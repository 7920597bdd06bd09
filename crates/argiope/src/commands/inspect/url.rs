//! `argiope inspect url`: what a reference is to the crawler.

use std::io::{self, Write};

use clap::Args;
use frontier::{ShapeRule, TrapRules};
use printable::Printable;
use serde::Serialize;
use weburl::CanonicalUrl;

use super::canonical_flags::{CanonicalFlags, by_rules, page_url};
use super::output::Output;
use super::reference::Resolver;
use super::request::Request;

/// The arguments of `argiope inspect url`.
#[derive(Debug, Args)]
pub(super) struct UrlArgs {
    /// A URL, or a reference to be resolved against --base
    href: String,
    /// The URL of the page that the reference stands on
    #[arg(long, value_name = "URL", value_parser = page_url)]
    base: Option<CanonicalUrl>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

/// What a reference is to the crawler.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "url")]
pub(super) struct UrlAnswer {
    href: String,
    base: Option<String>,
    /// It is a URL that is crawled: http or https, not too long, and no trap by its form.
    crawlable: bool,
    /// Why it is not.
    reason: Option<String>,
    #[serde(flatten)]
    parts: Parts,
}

/// A canonical URL in its parts; all `None` where there is no such URL.
#[derive(Debug, Default, Serialize)]
struct Parts {
    url: Option<String>,
    site: Option<String>,
    scheme: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    domain: Option<String>,
    path: Option<String>,
    query: Option<String>,
    surt: Option<String>,
    key: Option<String>,
    site_key: Option<String>,
    trap: Option<String>,
    counted_as: Option<&'static str>,
    counted_max: Option<u32>,
}

pub(super) fn run(args: &UrlArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let answer = answer(args);
    if output.is_json() {
        output.json(&answer)?;
    } else {
        answer.write_text(output)?;
    }
    Ok(())
}

pub(super) fn answer_request(mut request: Request) -> anyhow::Result<UrlAnswer> {
    let args = UrlArgs {
        href: request.needed_text("href")?,
        base: request.page_url("base")?,
        flags: CanonicalFlags::take(&mut request)?,
    };
    request.end()?;
    Ok(answer(&args))
}

fn answer(args: &UrlArgs) -> UrlAnswer {
    let rules = args.flags.rules();
    let base = args.base.as_ref().map(|base| by_rules(base, &rules));
    let resolver = Resolver::new(base, &rules);
    let (parts, reason) = match resolver.join(&args.href) {
        Err(error) => (Parts::default(), Some(error.to_string())),
        Ok(url) => {
            let parts = Parts::of(&url);
            let reason = parts.trap.as_ref().map(|rule| format!("trap: {rule}"));
            (parts, reason)
        }
    };
    UrlAnswer {
        href: args.href.clone(),
        base: resolver.base.map(|base| base.to_string()),
        crawlable: reason.is_none(),
        reason,
        parts,
    }
}

impl Parts {
    fn of(url: &CanonicalUrl) -> Self {
        let site = url.site();
        let traps = TrapRules::default();
        let shape = traps.shape(url).map(|(_, rule)| rule);
        Parts {
            url: Some(url.to_string()),
            site: Some(site.to_string()),
            scheme: Some(site.scheme().to_owned()),
            host: Some(url.host().to_owned()),
            port: Some(site.port()),
            domain: Some(url.domain().to_owned()),
            path: Some(url.path().to_owned()),
            query: url.query().map(str::to_owned),
            surt: Some(weburl::surt(url)),
            key: Some(url.key().to_string()),
            site_key: Some(site.key().to_string()),
            trap: traps.broken_by(url).map(|(_, reason)| reason),
            counted_as: shape.map(shape_name),
            counted_max: shape.and_then(|rule| traps.fetched_max(rule)),
        }
    }
}

/// The rule that counts URLs of this shape, in a word.
fn shape_name(rule: ShapeRule) -> &'static str {
    match rule {
        ShapeRule::Calendar => "calendar",
        ShapeRule::Session => "session",
        ShapeRule::Queries => "queries",
        ShapeRule::SimpleQueries => "simple_queries",
    }
}

impl UrlAnswer {
    fn write_text(&self, output: &mut Output<impl Write>) -> io::Result<()> {
        let parts = &self.parts;
        output.field("href", Printable(&self.href))?;
        output.web_field("base", self.base.as_deref())?;
        match &self.reason {
            None => output.field("crawlable", "yes")?,
            Some(reason) => output.field("crawlable", format_args!("no: {}", Printable(reason)))?,
        }
        for (label, value) in [
            ("url", &parts.url),
            ("site", &parts.site),
            ("host", &parts.host),
            ("domain", &parts.domain),
            ("path", &parts.path),
            ("query", &parts.query),
            ("surt", &parts.surt),
            ("key", &parts.key),
            ("site key", &parts.site_key),
        ] {
            output.web_field(label, value.as_deref())?;
        }
        match (parts.counted_as, parts.counted_max) {
            (Some(rule), Some(max)) => output.field("counted as", format_args!("{rule}, at most {max} of one shape")),
            _ => Ok(()),
        }
    }
}
