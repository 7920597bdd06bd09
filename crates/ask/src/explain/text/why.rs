//! What a URL or a site waits for, in words.

use std::time::Duration;

use super::At;
use crate::explain::Why;
use frontier::{DelayRule, Reason};
use printable::counted;
use settings::units::Span;

/// A reason in words, for a crawl at this place.
pub(super) fn words(why: &Why, at: At<'_>) -> String {
    match why {
        Why::Unfound => "no page, redirect or sitemap that was read leads to it".to_owned(),
        Why::Similar { url } => format!("known is {url}"),
        Why::DepthLimit { max } => format!("links of pages at depth {max} are not followed (--depth {max})"),
        Why::IfFound { refused_by } if refused_by.is_empty() => "if it were found, it would be fetched".to_owned(),
        Why::IfFound { refused_by } => {
            format!("if it were found, it would not be fetched, because of: {}", refused_by.join(", "))
        }
        Why::UnknownHost => "no URL of this host was found so far".to_owned(),
        Why::Root { url, excluded_by: None } => format!("{url} would be fetched if it were found"),
        Why::Root { url, excluded_by: Some(rule) } => format!("{url} would be excluded: {rule}"),
        Why::Again => "it is to be visited again in this round".to_owned(),
        Why::Kept { excluded_by } => {
            format!("its turn in this round ends without a request, and it keeps its last visit: {excluded_by}")
        }
        Why::Next => "it is the next of its site".to_owned(),
        Why::Queued { before: 1, .. } => "one URL of its site comes before it".to_owned(),
        Why::Queued { before, at_least: false } => format!("{before} URLs of its site come before it"),
        Why::Queued { before, at_least: true } => format!("more than {before} URLs of its site come before it"),
        Why::Tried { attempts, max, vanished_max, is_behind } => {
            let of = max.map_or_else(String::new, |max| format!(" of {max}"));
            let counted = match vanished_max {
                None => {
                    format!("failures that count against it: {attempts}{of} (those of the whole site count as one)")
                }
                Some(max) => format!(
                    "requests in this round that did not count: {attempts}{of}. They failed, or found it gone or moved, which counts \
                     from the {} on",
                    nth(*max)
                ),
            };
            format!(
                "{counted}; it will be tried again{}",
                if *is_behind { " after the others of its site" } else { "" }
            )
        }
        Why::LowYield { group } => {
            format!("{group} seems to bring only more of itself: most of its URLs wait behind all others of the site")
        }
        Why::GivenUp { detail } => format!("the site is given up: {detail}"),
        Why::InTrouble { detail, round, rounds } => {
            format!("the site is in trouble ({detail}): this is wait {round} of {rounds}, and its URLs stay open")
        }
        Why::Failures { in_a_row, max, unreached_max } => {
            let make = if *in_a_row == 1 { "makes" } else { "make" };
            let failures = counted((*in_a_row).into(), "failure");
            let sooner = if unreached_max < max {
                format!(" (at {unreached_max} if it is not reached, or if all its URLs fail)")
            } else {
                String::new()
            };
            format!("{failures} in a row {make} it wait longer; at {max}{sooner} it is put aside")
        }
        Why::Held { reason, until, wait_s } => match (until, wait_s) {
            (Some(until), Some(wait)) => format!("{}: not before {until}, in {}", held(*reason, at), seconds(*wait)),
            _ => held(*reason, at),
        },
        Why::Spent { budgets } => format!("spent is {}", budgets.join(", ")),
        Why::RobotsFirst { answer: None } => "robots.txt is requested first".to_owned(),
        Why::RobotsFirst { answer: Some(answer) } => format!("robots.txt could not be fetched yet ({answer})"),
        Why::Ends { outcome, reason } => format!("its turn ends it without a request, as {outcome}: {reason}"),
        Why::Pace { delay_s, rule, urls, at_least, takes_s } => format!(
            "one visit every {} ({}): {} {} about {}",
            seconds(*delay_s),
            delay(*rule),
            counted(*urls, "URL"),
            match (urls, at_least) {
                (1, false) => "takes",
                (_, false) => "take",
                (_, true) => "or more take",
            },
            seconds(*takes_s)
        ),
        Why::CannotBeAsked => "the crawl that is running cannot be asked what it does next".to_owned(),
        Why::NotRunning => match at.dir() {
            Some(dir) => format!("no crawl is running now: `argiope crawl -o {}` goes on", dir.display()),
            None => "no crawl is running now".to_owned(),
        },
        Why::OfWorkers => "several workers crawl: `argiope client workers` names those that are there".to_owned(),
        Why::NoWorker => "no worker is there: `argiope worker` goes on".to_owned(),
    }
}

/// A request by its number.
fn nth(number: u8) -> String {
    match number {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        more => format!("{more}th"),
    }
}

fn held(reason: Reason, at: At<'_>) -> String {
    match reason {
        Reason::Nothing => "nothing is left to do here".to_owned(),
        Reason::Hold => format!("the site is on hold: `{}` lets it go on", at.steer("release SITE")),
        Reason::Elsewhere => "another worker has the site".to_owned(),
        Reason::SiteBudget => "the budget of the site is spent: a larger --max-pages-per-site lets it go on".to_owned(),
        Reason::End => "the crawl ends".to_owned(),
        Reason::Paused => format!("the crawl is paused: `{}` lets it go on", at.steer("resume")),
        Reason::CrawlBudget => {
            let budgets = match at {
                At::Dir(_) => "--max-pages or --max-bytes",
                At::Archive(_) | At::Server => "max-pages, max-bytes or max-time",
            };
            format!("the budget of the crawl is spent: a larger {budgets} lets it go on")
        }
        Reason::Place => "other sites have their turns first: there is no place for it in memory".to_owned(),
        Reason::Aside => "the site is put aside".to_owned(),
        Reason::BackOff => "the site failed or asked to be left alone (back-off, Retry-After)".to_owned(),
        Reason::Vanished => {
            "pages of the site have vanished: they are requested again before they count as gone or moved".to_owned()
        }
        Reason::Delay => "the site waits for its delay".to_owned(),
        Reason::AddressDelay => "its address waits for its delay (--ip-delay)".to_owned(),
        Reason::Rate => "all sites together have as many requests as their rate allows (--rate)".to_owned(),
        Reason::Address => "other sites on its address come first".to_owned(),
        Reason::Network => "no site can be reached: this machine's network seems to be down".to_owned(),
        Reason::Name => "its name is being looked up".to_owned(),
        Reason::Robots => "its robots.txt is being requested or read".to_owned(),
        Reason::Share => {
            let many = "has as many requests under way as it may";
            format!(
                "its domain or its address {many}, or its domain as many look-ups of names; or the sites together that have not \
                 answered have as many requests"
            )
        }
        Reason::UnderWay => "a request to the site is under way, or its result is being stored".to_owned(),
        Reason::Busy => "the crawl has as many requests under way as it may (--concurrency)".to_owned(),
        Reason::Reader => "results wait to be stored until the reader of the stream takes more (--stream)".to_owned(),
    }
}

/// The rule behind a delay.
pub(super) fn delay(rule: DelayRule) -> String {
    match rule {
        DelayRule::Delay => "--delay".to_owned(),
        DelayRule::DelayFor => "--delay-for".to_owned(),
        DelayRule::CrawlDelay => "Crawl-delay in robots.txt".to_owned(),
        DelayRule::CrawlDelayMax { asked_s } => {
            format!("Crawl-delay {} in robots.txt, cut to --max-crawl-delay", seconds(asked_s))
        }
        DelayRule::IpDelay { sites: 1 } => "--ip-delay".to_owned(),
        DelayRule::IpDelay { sites } => format!("--ip-delay, with {sites} sites on its address"),
        DelayRule::DelayFactor { factor, response_s } => {
            format!("--delay-factor {factor} times the last response time {}", seconds(response_s))
        }
    }
}

/// Seconds as a duration for people: no finer than milliseconds, and seconds where it is long.
pub(super) fn seconds(seconds: f64) -> String {
    let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    if !duration.is_zero() && duration < Duration::from_millis(1) {
        return "less than 1ms".to_owned();
    }
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let rounded = if millis >= 10_000 { millis / 1000 * 1000 } else { millis };
    Span(Duration::from_millis(rounded)).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn web() -> At<'static> {
        At::Dir(Path::new("web"))
    }

    #[test]
    fn commands_are_those_that_work_where_the_crawl_is() {
        let held = |reason| Why::Held { reason, until: None, wait_s: None };
        for at in [At::Archive(Path::new("web")), At::Server] {
            let told =
                [held(Reason::Hold), held(Reason::Paused), Why::OfWorkers, Why::NoWorker].map(|why| words(&why, at));
            assert!(told[0].ends_with("`argiope client steer release SITE` lets it go on"), "{}", told[0]);
            assert!(told[1].ends_with("`argiope client steer resume` lets it go on"), "{}", told[1]);
            assert!(!told.concat().contains("argiope steer") && !told.concat().contains("argiope crawl"), "{told:?}");
        }
        assert!(words(&Why::NotRunning, web()).ends_with("`argiope crawl -o web` goes on"));
    }

    #[test]
    fn each_reason_says_what_is_waited_for_and_until_when() {
        let held = |reason, wait_s: Option<f64>| {
            let until = wait_s.map(|_| "2026-11-26T12:40:00.000Z".to_owned());
            words(&Why::Held { reason, until, wait_s }, web())
        };
        for (reason, wait_s, expect) in [
            (Reason::Delay, Some(0.5), "the site waits for its delay: not before 2026-11-26T12:40:00.000Z, in 500ms"),
            (
                Reason::AddressDelay,
                Some(0.25),
                "its address waits for its delay (--ip-delay): not before 2026-11-26T12:40:00.000Z, in 250ms",
            ),
            (
                Reason::Rate,
                Some(0.25),
                "all sites together have as many requests as their rate allows (--rate): not before \
                 2026-11-26T12:40:00.000Z, in 250ms",
            ),
            (Reason::Aside, Some(60.0), "the site is put aside: not before 2026-11-26T12:40:00.000Z, in 1m"),
            (Reason::Paused, None, "the crawl is paused: `argiope steer web resume` lets it go on"),
            (Reason::SiteBudget, None, "the budget of the site is spent: a larger --max-pages-per-site lets it go on"),
        ] {
            assert_eq!(held(reason, wait_s), expect);
        }
    }

    #[test]
    fn the_word_for_a_reason_is_that_of_its_json() {
        for reason in [
            Reason::Nothing,
            Reason::Hold,
            Reason::Elsewhere,
            Reason::SiteBudget,
            Reason::End,
            Reason::Paused,
            Reason::CrawlBudget,
            Reason::Place,
            Reason::Aside,
            Reason::BackOff,
            Reason::Vanished,
            Reason::Delay,
            Reason::AddressDelay,
            Reason::Rate,
            Reason::Address,
            Reason::Network,
            Reason::Name,
            Reason::Robots,
            Reason::Share,
            Reason::UnderWay,
            Reason::Busy,
            Reason::Reader,
        ] {
            assert_eq!(serde_json::to_value(reason).expect("JSON"), reason.as_str());
        }
    }

    #[test]
    fn what_is_not_known_exactly_is_not_said_exactly() {
        let pace = Why::Pace { delay_s: 0.4, rule: DelayRule::Delay, urls: 45, at_least: false, takes_s: 18.0 };
        // robots.txt may end some of them without a request.
        assert_eq!(words(&pace, web()), "one visit every 400ms (--delay): 45 URLs take about 18s");
        for (urls, at_least, expect) in
            [(1, false, "1 URL takes about 400ms"), (2, true, "2 URLs or more take about 400ms")]
        {
            let pace = Why::Pace { delay_s: 0.4, rule: DelayRule::Delay, urls, at_least, takes_s: 0.4 };
            assert_eq!(words(&pace, web()), format!("one visit every 400ms (--delay): {expect}"));
        }
        let failed = words(&Why::Failures { in_a_row: 2, max: 8, unreached_max: 6 }, web());
        assert_eq!(
            failed,
            "2 failures in a row make it wait longer; at 8 (at 6 if it is not reached, or if all its URLs fail) it is put aside"
        );
        let failed = words(&Why::Failures { in_a_row: 1, max: 5, unreached_max: 5 }, web());
        assert_eq!(failed, "1 failure in a row makes it wait longer; at 5 it is put aside");
        for (vanished_max, is_behind, expect) in [
            // It was requested more often, where its whole site failed.
            (
                None,
                true,
                "failures that count against it: 2 of 4 (those of the whole site count as one); it will be tried again after the others of \
                 its site",
            ),
            (
                Some(3),
                false,
                "requests in this round that did not count: 2 of 4. They failed, or found it gone or moved, which counts from the third \
                 on; it will be tried again",
            ),
        ] {
            let tried = Why::Tried { attempts: 2, max: Some(4), vanished_max, is_behind };
            assert_eq!(words(&tried, web()), expect);
        }
    }
}
