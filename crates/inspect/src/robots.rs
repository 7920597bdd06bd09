//! What a robots.txt says about URLs, and which line says it.

use std::fmt;
use std::str::FromStr;

use ::robots::{Decision, Lifetime, Matching, Reason, RobotsFetch, RobotsTxt, UnreadLine, unread};
use clap::ValueEnum;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::input::{Content, Input};
use crate::product_token::product_token;
use crate::request::Request;

/// The product token of the crawler itself.
pub const USER_AGENT_DEFAULT: &str = extract::robots_tag::PRODUCT_TOKEN;

/// The client, and how the answer is found.
#[derive(Debug)]
pub struct Question {
    /// The User-Agent of the crawler, or its product token.
    pub user_agent: String,
    /// How rules are weighed.
    pub matching: MatchRule,
    /// How the server answered the request for robots.txt.
    pub status: Answered,
}

/// How the rules of a group are weighed.
#[derive(Debug, Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchRule {
    /// The longest rule that matches (RFC 9309)
    Rfc9309,
    /// The first rule that matches
    FirstMatch,
}

/// How the server answered.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// By one redirect after another.
    TooManyRedirects,
    /// Not at all, or by an error of its own.
    Unreachable,
    /// With this status code.
    #[serde(untagged)]
    Status(u16),
}

/// What the file says about one URL, or in general.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "robots")]
pub struct RobotsAnswer {
    /// The URL; `None` for the answer in general.
    pub url: Option<String>,
    /// Whether it may be fetched.
    pub allowed: Option<bool>,
    /// Why, in words.
    pub reason: Option<String>,
    /// The number of the line that decides.
    pub line_number: Option<u32>,
    /// The line.
    pub line: Option<String>,
    /// The name by which the file knows the crawler.
    pub product_token: String,
    /// How the rules were weighed.
    #[serde(rename = "match")]
    pub matching: MatchRule,
    /// How the server answered.
    pub status: Answered,
    /// Where the rules come from: `rules`, `allow_all`, `disallow_all`.
    pub access: &'static str,
    /// Whether the rules hold until the file is due again (`final`), or are asked for earlier (`temporary`).
    pub lifetime: &'static str,
    /// The Crawl-delay, in seconds.
    pub crawl_delay_s: Option<f64>,
    /// The sitemaps that the file names.
    pub sitemaps: Vec<String>,
    /// Lines for this crawler that could not be read, the first of them.
    pub unread: Vec<Unread>,
    /// How many more there are.
    pub unread_more: usize,
    /// The file is longer than what is read of it.
    pub truncated: bool,
}

/// A line of robots.txt that could not be read.
#[derive(Debug, Serialize)]
pub struct Unread {
    /// Counted from 1.
    pub line_number: u32,
    /// The line.
    pub line: String,
    /// Why, in words.
    pub reason: String,
}

impl From<UnreadLine> for Unread {
    fn from(UnreadLine { line_number, text, why }: UnreadLine) -> Self {
        Unread { line_number, line: text, reason: why.to_string() }
    }
}

impl RobotsAnswer {
    /// What could not be read, a text a line.
    pub fn unread_told(&self) -> impl Iterator<Item = String> {
        let more = (self.unread_more > 0).then(|| format!("{} more", self.unread_more));
        let lines = self.unread.iter();
        let lines = lines.map(|Unread { line_number, line, reason }| format!("line {line_number}: {line} ({reason})"));
        lines.chain(more)
    }
}

/// A robots.txt that was read for somebody.
struct ReadRobots<'a> {
    question: &'a Question,
    rules: RobotsTxt,
    body: &'a [u8],
    lifetime: Lifetime,
    is_cut: bool,
}

/// What a robots.txt says in general, and then about each of the URLs, which are absolute or begin with the path.
///
/// # Errors
/// The input cannot be read.
pub fn inspect(
    question: &Question,
    input: Input,
    urls: &[String],
) -> anyhow::Result<(RobotsAnswer, Vec<RobotsAnswer>)> {
    let content = read(input)?;
    let asked = ReadRobots::new(question, &content);
    Ok((asked.answer(None), urls.iter().map(|url| asked.answer(Some(url))).collect()))
}

pub(crate) fn answer_request(mut request: Request) -> anyhow::Result<RobotsAnswer> {
    let input = request.input()?;
    let url = request.text("url")?;
    let question = Question {
        user_agent: request.text("user_agent")?.unwrap_or_else(|| USER_AGENT_DEFAULT.to_owned()),
        matching: request.parsed("match")?.unwrap_or(MatchRule::Rfc9309),
        status: request.parsed("status")?.unwrap_or(Answered::Status(200)),
    };
    request.end()?;
    let content = read(input)?;
    Ok(ReadRobots::new(&question, &content).answer(url.as_deref()))
}

fn read(input: Input) -> anyhow::Result<Content> {
    input.read(::robots::ROBOTS_BYTES_MAX as u64)
}

impl<'a> ReadRobots<'a> {
    fn new(question: &'a Question, content: &'a Content) -> Self {
        // Only with such a status the bytes are those of a file.
        let body = if matches!(question.status, Answered::Status(200..=299)) { &content.bytes[..] } else { &[] };
        let fetch = match question.status {
            Answered::Status(code) => RobotsFetch::Status { code, body: &content.bytes },
            Answered::TooManyRedirects => RobotsFetch::TooManyRedirects,
            Answered::Unreachable => RobotsFetch::Unreachable,
        };
        let access = ::robots::access(fetch, product_token(&question.user_agent));
        ReadRobots { question, rules: access.rules, body, lifetime: access.lifetime, is_cut: content.is_cut }
    }

    fn answer(&self, url: Option<&str>) -> RobotsAnswer {
        let decision = url.map(|url| self.decide(url));
        let (allowed, reason, line) = match decision {
            None => (None, None, None),
            Some(Err(reason)) => (Some(false), Some(reason), None),
            Some(Ok(decision)) => (Some(decision.allowed), Some(decision.reason.to_string()), decision.rule),
        };
        let unread = unread(self.body, product_token(&self.question.user_agent));
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
            unread: unread.lines.into_iter().map(Unread::from).collect(),
            unread_more: unread.more,
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
