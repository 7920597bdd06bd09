//! The story of a host for people.

use crate::explain::{HostStory, NearLimit, RobotsMeaning, RobotsStory, SiteStory};
use printable::{Printable, counted};

use super::At;
use super::url::line;
use super::why::{delay, seconds, words};

/// The story of a host of a crawl at this place, a label and a value a line, the sites one after the other.
pub(super) fn of(host: &HostStory, at: At<'_>) -> String {
    let mut out = String::new();
    if host.sites.is_empty() {
        line(&mut out, "host", Printable(&host.host));
        host.why.iter().for_each(|why| line(&mut out, "", Printable(&words(why, at))));
    }
    for (place, site) in host.sites.iter().enumerate() {
        if place > 0 {
            out.push('\n');
        }
        tell(site, at, &mut out);
    }
    if let Some(looked_at) = host.sites_looked_at {
        let of = counted(looked_at as u64, "site");
        line(&mut out, "other ports", format_args!("looked for among the first {of} of the crawl"));
    }
    out
}

fn tell(site: &SiteStory, at: At<'_>, out: &mut String) {
    line(out, "site", Printable(&site.site));
    for (place, why) in site.why.iter().enumerate() {
        line(out, if place == 0 { "now" } else { "" }, Printable(&words(why, at)));
    }
    for (at, change) in site.changes.iter().enumerate() {
        line(out, if at == 0 { "steered" } else { "" }, Printable(change));
    }
    if site.changes_earlier > 0 {
        line(out, "", format_args!("and {} before", counted(site.changes_earlier, "change")));
    }
    line(out, "address", site.address.as_deref().unwrap_or("not looked up yet"));
    tell_robots(&site.robots, out);
    line(out, "delay", format_args!("{} ({})", seconds(site.delay_s), delay(site.delay_rule)));
    if site.ip_delay_s > 0.0 {
        line(out, "", format_args!("{} between visits to the address (--ip-delay)", seconds(site.ip_delay_s)));
    }
    if site.response_time_s > 0.0 {
        line(out, "last answer", format_args!("took {}", seconds(site.response_time_s)));
    }
    if site.failures_in_a_row > 0 {
        line(out, "failures", format_args!("{} in a row", site.failures_in_a_row));
    }
    if let Some(given_up) = &site.given_up {
        line(out, "given up", Printable(given_up));
    }
    match site.pages_max {
        Some(max) => {
            line(
                out,
                "fetched",
                format_args!("{} of {} (--max-pages-per-site)", site.pages_fetched, counted(max, "page")),
            );
        }
        None => line(out, "fetched", counted(site.pages_fetched, "page")),
    }
    if site.sitemaps_read > 0 {
        line(out, "", counted(site.sitemaps_read.into(), "sitemap"));
    }
    tell_urls(site, out);
}

fn tell_urls(site: &SiteStory, out: &mut String) {
    let outcomes: Vec<String> = site.outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
    let more = match site.counted_in_part {
        true => format!(" of the first {}; the others were not counted", counted(site.counted as u64, "URL")),
        false => String::new(),
    };
    line(out, "URLs", format_args!("{}{more}", outcomes.join(", ")));
    for (at, url) in site.next.iter().enumerate() {
        line(out, if at == 0 { "next" } else { "" }, Printable(url));
    }
    for (at, NearLimit { example, fetched, max, .. }) in site.near_limits.iter().enumerate() {
        let label = if at == 0 { "trap rules" } else { "" };
        line(
            out,
            label,
            format_args!(
                "{fetched} of {} like {} brought nothing new",
                counted((*max).into(), "page"),
                Printable(example)
            ),
        );
    }
}

fn tell_robots(robots: &RobotsStory, out: &mut String) {
    if robots.ignored {
        return line(out, "robots.txt", "ignored (--robots ignore)");
    }
    let tries = match robots.failed_tries {
        0 => String::new(),
        tries => format!(", {} in a row failed", counted(tries.into(), "request")),
    };
    let at = robots.asked_at.as_ref().map_or_else(String::new, |at| format!(", {at}"));
    line(
        out,
        "robots.txt",
        format_args!("{}{at}{tries}", Printable(robots.answer.as_deref().unwrap_or("not requested yet"))),
    );
    let meaning = robots.meaning.map(|meaning| match meaning {
        RobotsMeaning::AllAllowed => "there is none: all is allowed".to_owned(),
        RobotsMeaning::AllDisallowed => "all is disallowed meanwhile".to_owned(),
        RobotsMeaning::Rules => format!("{} for us", counted(robots.rules.unwrap_or_default() as u64, "rule")),
    });
    let mut words: Vec<String> = meaning.into_iter().collect();
    words.extend(robots.crawl_delay_s.map(|delay| format!("Crawl-delay {}", seconds(delay))));
    words.extend(robots.is_cut.then(|| "longer than the part that is read".to_owned()));
    words.extend((robots.sitemaps > 0).then(|| counted(robots.sitemaps as u64, "sitemap")));
    if !words.is_empty() {
        line(out, "", words.join(", "));
    }
    for unread in &robots.unread {
        let (number, text) = (unread.line_number, Printable(&unread.line));
        line(out, "", format_args!("not read: line {number}: {text} ({})", unread.reason));
    }
    if robots.unread_more > 0 {
        line(out, "", format_args!("not read: {} more", robots.unread_more));
    }
    if let Some(expires_at) = &robots.expires_at {
        line(out, "", format_args!("requested again after {expires_at}"));
    }
}
