//! Settings that contradict each other: one of them would have no effect.

use std::collections::HashMap;

use frontier::Politeness;
use weburl::{CanonicalRules, CanonicalUrl, SiteKey, UserInfo, without_user_info};

use crate::options::Options;
use crate::site_name::SiteDelay;
use crate::units::Span;
use crate::usage;

/// Refuses complete options of which one would have no effect.
///
/// # Errors
/// There is such an option. The message names it, and what it contradicts.
pub(super) fn refuse(options: &Options, politeness: &Politeness) -> anyhow::Result<()> {
    info_url(options)?;
    if let Some(flag) = options.needs_jar().filter(|_| options.cookie_jar == Some(false)) {
        return Err(usage(format!("--{flag} needs the jar that --cookie-jar=false leaves out: give one of them")));
    }
    browser(options)?;
    let (backoff, longest) = (politeness.backoff, politeness.backoff_max);
    if backoff > longest {
        let [backoff, longest] = [backoff, longest].map(Span);
        return Err(usage(format!("--backoff {backoff} is longer than --max-backoff {longest}: change one of them")));
    }
    delays(&options.delay_for)
}

/// The page about the crawl is a URL, and the User-Agent names it.
fn info_url(options: &Options) -> anyhow::Result<()> {
    let Some(page) = &options.info_url else { return Ok(()) };
    let rules = CanonicalRules::default();
    let shown = without_user_info(page);
    CanonicalUrl::parse(page, &rules).map_err(|error| usage(format!("--info-url `{shown}`: {error}")))?;
    if UserInfo::of(page).is_some() {
        return Err(usage(format!(
            "--info-url `{shown}` has a user name or password, which every server would see: leave it out"
        )));
    }
    match &options.user_agent {
        Some(user_agent) if !user_agent.contains(page.as_str()) => Err(usage(format!(
            "--info-url {page} is named in the default User-Agent only: write it into --user-agent `{user_agent}`"
        ))),
        _ => Ok(()),
    }
}

/// What is for rendered pages needs a browser.
fn browser(options: &Options) -> anyhow::Result<()> {
    let needs_browser = [
        ("hash-routes always", options.hash_routes.as_deref() == Some("always")),
        ("behaviour", !options.behaviour.is_empty()),
    ];
    match needs_browser.iter().find(|(_, needs)| *needs && options.render.as_deref() == Some("never")) {
        Some((flag, _)) => Err(usage(format!("--{flag} needs a browser: give --render auto or always"))),
        None => Ok(()),
    }
}

/// A site has one delay.
fn delays(given: &[SiteDelay]) -> anyhow::Result<()> {
    let mut of_sites: HashMap<SiteKey, &SiteDelay> = HashMap::new();
    for delay in given {
        for site in delay.site.keys() {
            let first = *of_sites.entry(site).or_insert(delay);
            if first.delay != delay.delay {
                return Err(usage(format!("--delay-for {first} and {delay} are two delays of one site: give one")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::behaviour::BehaviourOption;
    use crate::plan::Plan;

    #[test]
    fn what_would_have_no_effect_is_refused() {
        let delays = |texts: &[&str]| texts.iter().map(|text| text.parse().expect(text)).collect::<Vec<SiteDelay>>();
        let span = |seconds| Some(Span(Duration::from_secs(seconds)));
        let text = |text: &str| Some(text.to_owned());
        let none = Options::default;
        for (options, expect) in [
            (Options { info_url: text("notaurl"), ..none() }, "--info-url `notaurl`: "),
            (Options { info_url: text("ftp://a.test/"), ..none() }, "--info-url `ftp://a.test/`: "),
            (Options { info_url: text("ftp://ana:secret@a.test/"), ..none() }, "--info-url `ftp://***@a.test/`: "),
            (
                Options { info_url: text("http://ana:secret@a.test/"), ..none() },
                "--info-url `http://***@a.test/` has a user name or password, which every server would see: leave it out",
            ),
            (
                Options { info_url: text("http://a.test/"), user_agent: text("mine/1"), ..none() },
                "--info-url http://a.test/ is named in the default User-Agent only: write it into --user-agent `mine/1`",
            ),
            (Options { hash_routes: text("always"), ..none() }, "--hash-routes always needs a browser: "),
            (
                Options { hash_routes: text("perhaps"), ..none() },
                "--hash-routes perhaps: is none of never, auto, always",
            ),
            (
                Options {
                    behaviour: vec![BehaviourOption { name: "a.js".to_owned(), script: String::new() }],
                    ..none()
                },
                "--behaviour needs a browser: ",
            ),
            (
                Options { backoff: span(600), ..none() },
                "--backoff 10m is longer than --max-backoff 5m: change one of them",
            ),
            (
                Options { delay_for: delays(&["a.test=5s", "A.test=1s"]), ..none() },
                "--delay-for a.test=5s and a.test=1s are two delays of one site: give one",
            ),
            (
                Options { delay_for: delays(&["https://a.test=5s", "b.test=1s", "a.test=1s"]), ..none() },
                "--delay-for https://a.test=5s and a.test=1s are two delays of one site: give one",
            ),
        ] {
            let error = Plan::new(&options).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with(expect), "{error}");
        }
    }

    #[test]
    fn what_has_an_effect_is_taken() {
        let span = |seconds| Some(Span(Duration::from_secs(seconds)));
        let delays = ["a.test=5s", "a.test=5s", "a.test:81=1s", "b.test=1s"].map(|text| text.parse().expect(text));
        let page = "http://a.test/crawler";
        for options in [
            Options { info_url: Some(page.to_owned()), ..Options::default() },
            Options {
                info_url: Some(page.to_owned()),
                user_agent: Some(format!("mine/1 ({page})")),
                ..Options::default()
            },
            Options { backoff: span(600), max_backoff: span(600), ..Options::default() },
            Options { delay_for: delays.to_vec(), ..Options::default() },
        ] {
            let plan = Plan::new(&options).expect("a plan");
            // As a crawl that goes on reads them.
            Plan::new(&plan.options).expect("the same plan");
        }
    }
}
