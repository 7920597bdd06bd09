//! `argiope inspect robots`: what a robots.txt says about URLs, and which line says it.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use ::robots::{Decision, Lifetime, Matching, Reason, RobotsFetch, RobotsTxt};
use clap::{Args, ValueEnum};
use printable::Printable;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl};

use super::input::{Content, Input};
use super::output::Output;
use super::product_token::product_token;
use super::request::Request;

const USER_AGENT_DEFAULT: &str = extract::robots_tag::PRODUCT_TOKEN;

/// The arguments of `argiope inspect robots`.
#[derive(Debug, Args)]
pub(super) struct RobotsArgs {
    /// The robots.txt; - reads standard input
    file: PathBuf,
    /// URLs to judge, absolute or from the path on; without any, delay and sitemaps are shown
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    #[command(flatten)]
    question: Question,
}

/// Who asks, and how the answer is found.
#[derive(Debug, Args)]
struct Question {
    /// The User-Agent of the crawler, or its product token. The token is what stands before the first / or white space;
    /// of `Mozilla/5.0 (compatible; Foo/1.0; ...)` it is Foo
    #[arg(long, value_name = "UA", default_value = USER_AGENT_DEFAULT)]
    user_agent: String,
    /// How rules are weighed: the longest that matches, with * and $, or the first that matches, as plain prefixes
    #[arg(long = "match", value_name = "RULE", value_enum, default_value = "rfc9309")]
    matching: MatchRule,
    /// How the server answered the request for robots.txt: a status code, `unreachable` or `too-many-redirects`
    #[arg(long, value_name = "N", default_value = "200")]
    status: Answered,
}

/// How the rules of a group are weighed.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum MatchRule {
    /// The longest rule that matches (RFC 9309)
    Rfc9309,
    /// The first rule that matches
    FirstMatch,
}

/// How the server answered.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answered {
    TooManyRedirects,
    Unreachable,
    #[serde(untagged)]
    Status(u16),
}

/// What the file says about one URL, or in general.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "robots")]
pub(super) struct RobotsAnswer {
    url: Option<String>,
    allowed: Option<bool>,
    reason: Option<String>,
    line_number: Option<u32>,
    line: Option<String>,
    product_token: String,
    #[serde(rename = "match")]
    matching: MatchRule,
    status: Answered,
    access: &'static str,
    lifetime: &'static str,
    crawl_delay_s: Option<f64>,
    sitemaps: Vec<String>,
    truncated: bool,
}

/// A robots.txt that was read for somebody.
struct ReadRobots<'a> {
    question: &'a Question,
    rules: RobotsTxt,
    lifetime: Lifetime,
    is_cut: bool,
}

pub(super) fn run(args: RobotsArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let content = read(Input::named(args.file))?;
    let asked = ReadRobots::new(&args.question, &content);
    if output.is_json() {
        if args.urls.is_empty() {
            output.json(&asked.answer(None))?;
        }
        for url in &args.urls {
            output.json(&asked.answer(Some(url)))?;
        }
    } else {
        asked.write_text(output)?;
        for url in &args.urls {
            asked.answer(Some(url)).write_line(output)?;
        }
    }
    Ok(())
}

pub(super) fn answer_request(mut request: Request) -> anyhow::Result<RobotsAnswer> {
    let input = request.input()?;
    let url = request.text("url")?;
    let question = Question {
        user_agent: request.text("user_agent")?.unwrap_or_else(|| USER_AGENT_DEFAULT.to_owned()),
        matching: request.parsed("match")?.unwrap_or(MatchRule::Rfc9309),
        status: request.parsed("status")?.unwrap_or(Answered::Status(200)),
    };
    request.end()?;
    Ok(ReadRobots::new(&question, &read(input)?).answer(url.as_deref()))
}

fn read(input: Input) -> anyhow::Result<Content> {
    input.read(::robots::ROBOTS_BYTES_MAX as u64)
}

impl<'a> ReadRobots<'a> {
    fn new(question: &'a Question, content: &Content) -> Self {
        let fetch = match question.status {
            Answered::Status(code) => RobotsFetch::Status { code, body: &content.bytes },
            Answered::TooManyRedirects => RobotsFetch::TooManyRedirects,
            Answered::Unreachable => RobotsFetch::Unreachable,
        };
        let access = ::robots::access(fetch, product_token(&question.user_agent));
        ReadRobots { question, rules: access.rules, lifetime: access.lifetime, is_cut: content.is_cut }
    }

    fn answer(&self, url: Option<&str>) -> RobotsAnswer {
        let decision = url.map(|url| self.decide(url));
        let (allowed, reason, line) = match decision {
            None => (None, None, None),
            Some(Err(reason)) => (Some(false), Some(reason), None),
            Some(Ok(decision)) => (Some(decision.allowed), Some(decision.reason.to_string()), decision.rule),
        };
        RobotsAnswer {
            url: url.map(str::to_owned),
            allowed,
            reason,
            line_number: line.as_ref().map(|line| line.line_number),
            line: line.map(|line| line.text),
            product_token: product_token(&self.question.user_agent).to_owned(),
            matching: self.question.matching,
            status: self.question.status,
            access: self.access(),
            lifetime: match self.lifetime {
                Lifetime::Final => "final",
                Lifetime::Temporary => "temporary",
            },
            crawl_delay_s: self.rules.crawl_delay().map(|delay| delay.as_secs_f64()),
            sitemaps: self.rules.sitemaps().to_vec(),
            truncated: self.is_cut,
        }
    }

    /// Judges a URL as a crawl does: by path and query of its canonical form. The reason why it is no such URL is the error.
    fn decide(&self, url: &str) -> Result<Decision, String> {
        // Of a URL without scheme and host only the path counts, so any site will do.
        let absolute = if url.starts_with('/') { format!("http://site.invalid{url}") } else { url.to_owned() };
        let url = CanonicalUrl::parse(&absolute, &CanonicalRules::default());
        let url = url.map_err(|error| format!("not crawled: {error}"))?;
        let matching = match self.question.matching {
            MatchRule::Rfc9309 => Matching::LongestMatch,
            MatchRule::FirstMatch => Matching::FirstMatch,
        };
        Ok(self.rules.decide(url.path_and_query(), matching))
    }

    /// Where the rules come from, in a word.
    fn access(&self) -> &'static str {
        match self.rules.decide("/", Matching::LongestMatch).reason {
            Reason::NoRobotsTxt => "allow_all",
            Reason::Undefined(_) => "disallow_all",
            _ => "rules",
        }
    }

    fn write_text(&self, output: &mut Output<impl Write>) -> io::Result<()> {
        let about = self.answer(None);
        output.field("agent", Printable(&about.product_token))?;
        output.field("match", about.matching)?;
        output.field("access", format_args!("{}, {} (status {})", about.access, about.lifetime, about.status))?;
        match about.crawl_delay_s {
            Some(delay) => output.field("crawl delay", format_args!("{delay} s"))?,
            None => output.field("crawl delay", "none")?,
        }
        output.field("sitemaps", about.sitemaps.len())?;
        for sitemap in &about.sitemaps {
            output.line(format_args!("  {}", Printable(sitemap)))?;
        }
        if about.truncated {
            output.field("truncated", format_args!("only the first {} bytes count", ::robots::ROBOTS_BYTES_MAX))?;
        }
        Ok(())
    }
}

impl RobotsAnswer {
    fn write_line(&self, output: &mut Output<impl Write>) -> io::Result<()> {
        let verdict = if self.allowed == Some(true) { "allowed" } else { "disallowed" };
        let url = Printable(self.url.as_deref().unwrap_or_default());
        match (self.line_number, &self.line, &self.reason) {
            (Some(number), Some(line), _) => {
                output.field(verdict, format_args!("{url}  (line {number}: {})", Printable(line)))
            }
            (_, _, reason) => {
                output.field(verdict, format_args!("{url}  ({})", Printable(reason.as_deref().unwrap_or_default())))
            }
        }
    }
}

impl fmt::Display for MatchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MatchRule::Rfc9309 => "rfc9309",
            MatchRule::FirstMatch => "first-match",
        })
    }
}

impl FromStr for MatchRule {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        <MatchRule as ValueEnum>::from_str(text, false).map_err(|_| "neither rfc9309 nor first-match")
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answered::Status(code) => code.fmt(f),
            Answered::TooManyRedirects => f.write_str("too-many-redirects"),
            Answered::Unreachable => f.write_str("unreachable"),
        }
    }
}

impl FromStr for Answered {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "unreachable" => Ok(Answered::Unreachable),
            "too-many-redirects" => Ok(Answered::TooManyRedirects),
            _ => text
                .parse()
                .ok()
                .filter(|code| (100..=999).contains(code))
                .map(Answered::Status)
                .ok_or("neither a status code nor unreachable nor too-many-redirects"),
        }
    }
}
