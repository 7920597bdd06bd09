//! The story of a host for people.

use std::time::Duration;

use printable::Printable;

use super::site::{HostStory, RobotsStory, SiteStory};
use super::standing::shown;
use super::survey::NearLimit;
use super::url_text::line;
use printable::counted;

impl HostStory {
    /// The story, a label and a value a line, the sites one after the other.
    pub(super) fn to_text(&self) -> String {
        let mut out = String::new();
        if self.sites.is_empty() {
            line(&mut out, "host", Printable(&self.host));
            self.why.iter().for_each(|why| line(&mut out, "", Printable(why)));
        }
        for (at, site) in self.sites.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            site.tell(&mut out);
        }
        out
    }
}

impl SiteStory {
    fn tell(&self, out: &mut String) {
        line(out, "site", Printable(&self.site));
        for (at, why) in self.why.iter().enumerate() {
            line(out, if at == 0 { "now" } else { "" }, Printable(why));
        }
        for (at, change) in self.changes.iter().enumerate() {
            line(out, if at == 0 { "steered" } else { "" }, Printable(change));
        }
        line(out, "address", self.address.as_deref().unwrap_or("not looked up yet"));
        self.robots.tell(out);
        line(out, "delay", format_args!("{} ({})", seconds(self.delay_s), self.delay_why));
        if self.ip_delay_s > 0.0 {
            line(out, "", format_args!("{} between visits to the address (--ip-delay)", seconds(self.ip_delay_s)));
        }
        if self.response_time_s > 0.0 {
            line(out, "last answer", format_args!("took {}", seconds(self.response_time_s)));
        }
        if self.failures_in_a_row > 0 {
            line(out, "failures", format_args!("{} in a row", self.failures_in_a_row));
        }
        if let Some(given_up) = &self.given_up {
            line(out, "given up", Printable(given_up));
        }
        match self.pages_max {
            Some(max) => {
                line(out, "fetched", format_args!("{} of {max} pages (--max-pages-per-site)", self.pages_fetched));
            }
            None => line(out, "fetched", counted(self.pages_fetched, "page")),
        }
        if self.sitemaps_read > 0 {
            line(out, "", counted(self.sitemaps_read.into(), "sitemap"));
        }
        self.tell_urls(out);
    }

    fn tell_urls(&self, out: &mut String) {
        let outcomes: Vec<String> = self.outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
        let more = if self.counted_in_part { ", and more that were not counted" } else { "" };
        line(out, "URLs", format_args!("{}{more}", outcomes.join(", ")));
        for (at, url) in self.next.iter().enumerate() {
            line(out, if at == 0 { "next" } else { "" }, Printable(url));
        }
        for (at, NearLimit { example, fetched, max, .. }) in self.near_limits.iter().enumerate() {
            let label = if at == 0 { "trap rules" } else { "" };
            line(out, label, format_args!("{fetched} of {max} pages like {} brought nothing new", Printable(example)));
        }
    }
}

impl RobotsStory {
    fn tell(&self, out: &mut String) {
        if self.ignored {
            return line(out, "robots.txt", "ignored (--robots ignore)");
        }
        let tries = match self.failed_tries {
            0 => String::new(),
            tries => format!(", {} in a row failed", counted(tries.into(), "request")),
        };
        let at = self.asked_at.as_ref().map_or_else(String::new, |at| format!(", {at}"));
        line(out, "robots.txt", format_args!("{}{at}{tries}", Printable(&self.answer)));
        let mut words: Vec<String> = self.meaning.iter().cloned().collect();
        words.extend(self.crawl_delay_s.map(|delay| format!("Crawl-delay {}", seconds(delay))));
        words.extend(self.is_cut.then(|| "longer than the part that is read".to_owned()));
        words.extend((self.sitemaps > 0).then(|| counted(self.sitemaps as u64, "sitemap")));
        if !words.is_empty() {
            line(out, "", words.join(", "));
        }
        if let Some(expires_at) = &self.expires_at {
            line(out, "", format_args!("requested again after {expires_at}"));
        }
    }
}

fn seconds(seconds: f64) -> String {
    shown(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
