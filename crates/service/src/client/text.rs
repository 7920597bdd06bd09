//! Answers as text, in the form that the local commands have.

use std::io::{Result, Write};

use api::{
    AddSeedsResponse, AgainResponse, ChangeRate, Changed, ChangesResponse, CrawlResponse, Domain, DomainsResponse,
    DrainResponse, ExplainHostResponse, ExplainResponse, FreshnessResponse, GetWorkersResponse, HistoryResponse,
    InOrder, InTrouble, JournalResponse, Journaled, Link, LinksResponse, Moment, OverlapResponse, PageChange,
    PageRankResponse, PastVisit, PathResponse, PauseResponse, PictureResponse, ResumeResponse, SearchResponse,
    SiteState, SiteUrls, StatsResponse, SteerCount, SteerResponse, SteeredSite, UndoResponse, Unowned, Url,
    UrlsResponse, Wait, Worker,
};
use ask::changes::NO_PLACE;
use ask::freshness::{Freshness, Rate};
use ask::path::Path;
use ask::rank::digits;
use crawl::Affected;
use engine::clock::Clock;
use model::{Change, Timestamp};
use printable::Printable;

use printable::counted;
use settings::units::human_bytes;

/// What can be shown to people.
pub trait Text {
    /// Writes it as lines of text.
    ///
    /// # Errors
    /// It cannot be written.
    fn write_text(&self, out: &mut dyn Write) -> Result<()>;
}

impl Text for GetWorkersResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for (at, worker) in self.workers.iter().enumerate() {
            let owned = [counted(worker.groups, "group"), counted(worker.sites, "site")].join(", ");
            let leaving = if worker.leaving { ", leaving" } else { "" };
            // An earlier server does not tell it.
            let lease = self.leases_left.get(at).map(|left| format!(", lease {left:.0} s")).unwrap_or_default();
            writeln!(out, "{}  {}  {owned}{leaving}{lease}", worker.id, Printable(&worker.name))?;
        }
        for Unowned { group, seconds } in &self.unowned {
            writeln!(out, "{}  without an owner for {seconds:.0} s", Printable(group))?;
        }
        writeln!(out, "{}", counted(self.workers.len() as u64, "worker"))
    }
}

impl Text for CrawlResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        write_outcome(out, &self.outcome, &self.reason)?;
        writeln!(out, "in its scope so far: {} fetched, {} failed", self.fetched, self.failed)?;
        if self.waiting > 0 {
            writeln!(out, "{} left in the queue: {} is spent", counted(self.waiting, "URL"), self.waits_for)?;
        }
        self.owner.as_ref().map_or(Ok(()), |owner| write_owner(out, owner))
    }
}

impl Text for HistoryResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for Moment { at, pages, bytes, sites_aside, workers, paused } in &self.moments {
            let date = Timestamp(at.saturating_mul(1_000_000)).to_rfc3339();
            let (workers, bytes) = (counted(*workers, "worker"), human_bytes(*bytes));
            let trouble = if *sites_aside > 0 { format!(", {sites_aside} in trouble") } else { String::new() };
            let paused = if *paused { ", paused" } else { "" };
            writeln!(out, "{date} {pages:>12} fetched, {bytes}, {workers}{trouble}{paused}")?;
        }
        writeln!(out, "{}", counted(self.moments.len() as u64, "moment"))
    }
}

impl Text for AddSeedsResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{} added", counted(self.added, "seed"))
    }
}

impl Text for AgainResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        let (round, urls) = (self.round, counted(self.urls, "URL"));
        match (self.begun, self.urls) {
            (true, _) => writeln!(out, "round {round} begins: {urls} to be visited again"),
            (false, 0) => writeln!(out, "no page is to be visited again by what is given"),
            (false, _) if self.would_begin && self.on_hold > 0 => {
                writeln!(
                    out,
                    "round {round} would visit {urls} again, {} of them when their sites are released",
                    self.on_hold
                )
            }
            (false, _) if self.would_begin => writeln!(out, "round {round} would visit {urls} again"),
            (false, _) => writeln!(out, "round {round} goes on: {urls} left"),
        }?;
        self.by_site.iter().try_for_each(|SiteUrls { site, urls }| writeln!(out, "{urls:>9}  {}", Printable(site)))
    }
}

impl Text for DomainsResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for domain in &self.domains {
            let Domain { site, waiting, fetched, state, trouble, .. } = domain;
            let state = match (state.as_str(), trouble.as_str()) {
                ("active" | "", _) => String::new(),
                (state, "") => format!("  {state}"),
                (state, trouble) => format!("  {state}: {trouble}"),
            };
            writeln!(out, "{fetched:>9} fetched {waiting:>9} waiting  {}{}", Printable(site), Printable(&state))?;
        }
        writeln!(out, "{}", counted(self.domains.len() as u64, "site"))
    }
}

impl Text for OverlapResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{}", self.overlap)?;
        for ((domain, pages), links) in self.domains.iter().zip(&self.reachable).zip(&self.links) {
            let (links, pages) = (counted(*links, "link"), counted(*pages, "page"));
            writeln!(out, "  {links} from {pages} of {} in reach", Printable(domain))?;
        }
        for edge in &self.edges {
            writeln!(out, "    {} -> {}", Printable(&edge.source), Printable(&edge.target))?;
        }
        Ok(())
    }
}

impl Text for PageRankResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        let noun = match self.by.as_str() {
            "sites" => "site",
            "domains" => "domain",
            _ => "URL",
        };
        let (vertices, edges) = (counted(self.vertices, noun), counted(self.edges, "link"));
        writeln!(out, "PageRank of {vertices} by {edges}, {}", counted(u64::from(self.rounds), "round"))?;
        for row in &self.ranked {
            if row.place == 0 {
                writeln!(out, "    -               -  {}  (not visited)", Printable(&row.url))?;
                continue;
            }
            writeln!(out, "{:>5}  {:>14}  {}", row.place, digits(row.rank), Printable(&row.url))?;
        }
        Ok(())
    }
}

impl Text for SearchResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for found in &self.found {
            writeln!(out, "{:>7}  {}", found.occurrences, Printable(&found.url))?;
            if !found.context.is_empty() {
                writeln!(out, "         {}", Printable(&found.context))?;
            }
        }
        writeln!(out, "{}, {}", counted(self.pages, "page"), counted(self.occurrences, "occurrence"))
    }
}

impl Text for LinksResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for link in &self.from {
            write_link(out, "->", &link.target, link)?;
        }
        writeln!(out, "{} from the page", counted(self.from.len() as u64, "link"))?;
        for link in &self.to {
            write_link(out, "<-", &link.source, link)?;
        }
        writeln!(out, "{} to the page", counted(self.to.len() as u64, "link"))
    }
}

impl Text for PathResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        let texts = self.texts.iter().map(|text| Some(text.clone()).filter(|text| !text.is_empty())).collect();
        let path = Path { links: self.texts.len(), urls: self.urls.clone(), texts };
        writeln!(out, "{path}{}", counted(path.links as u64, "link"))
    }
}

impl Text for ExplainResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "{}", Printable(&self.url))?;
        let state = if self.status > 0 { format!("{} {}", self.state, self.status) } else { self.state.clone() };
        write_outcome(out, &state, &self.reason)?;
        if !self.excluded_by.is_empty() {
            writeln!(out, "it ends as excluded: {}", Printable(&self.excluded_by))?;
        }
        for Wait { text, .. } in &self.waits {
            writeln!(out, "waits: {}", Printable(text))?;
        }
        for Changed { at, change } in &self.changes {
            writeln!(out, "steered: {at} {}", Printable(change))?;
        }
        if self.state != "unknown" {
            writeln!(out, "depth {}", self.depth)?;
        }
        if !self.found_on.is_empty() {
            writeln!(out, "found on {}", Printable(&self.found_on))?;
        }
        if !self.group.is_empty() {
            writeln!(out, "its site is in the group {}", Printable(&self.group))?;
        }
        if let Some(owner) = &self.owner {
            write_owner(out, owner)?;
        }
        self.site.as_ref().map_or(Ok(()), |site| write_site(out, site))?;
        let more = if self.waiting_in_part { " at least" } else { "" };
        writeln!(out, "{} of its site waiting{more}", counted(self.waiting_on_site, "URL"))?;
        // Of a single visit the state tells.
        if self.visits_before > 0 {
            writeln!(out, "{} before", counted(self.visits_before, "visit"))?;
        }
        for visit in self.visits.iter().filter(|_| self.visits.len() > 1) {
            let PastVisit { at, round, outcome, status, change } = visit;
            let change = if change.is_empty() { String::new() } else { format!("{change}: ") };
            let status = if *status > 0 { format!(" {status}") } else { String::new() };
            writeln!(out, "{}  round {round}  {}{status}", Printable(at), Printable(&(change + outcome)))?;
        }
        Ok(())
    }
}

fn write_site(out: &mut dyn Write, site: &SiteState) -> Result<()> {
    let SiteState { delay, delay_rule, ip_delay, .. } = site;
    match site.due_at {
        due if due <= 0.0 => {}
        due if due > now() => writeln!(out, "no visit of its site before {}", date(due))?,
        due => writeln!(out, "its site is due since {}", date(due))?,
    }
    writeln!(out, "a visit every {delay} s ({delay_rule}), of its address every {ip_delay} s")?;
    let verdict = if site.allowed { "allowed" } else { "disallowed" };
    let asked = format_args!("robots.txt: {}, requested {}", Printable(&site.robots), date(site.robots_fetched_at));
    match (site.robots.as_str(), site.allowed_by.as_str()) {
        ("", _) => writeln!(out, "robots.txt was not requested yet")?,
        (_, "") => writeln!(out, "{asked}")?,
        (_, by) => writeln!(out, "{asked}; {verdict}: {}", Printable(by))?,
    }
    if let Some(max) = site.pages_max.filter(|max| site.pages_fetched >= *max) {
        let fetched = counted(site.pages_fetched, "page");
        writeln!(
            out,
            "its budget is spent: {fetched} fetched, max-pages-per-site = {max}: its URLs wait for a larger one"
        )?;
    }
    match (site.trouble.as_str(), site.given_up) {
        ("", _) if site.failures_in_a_row > 0 => {
            writeln!(out, "{} in a row", counted(site.failures_in_a_row.into(), "failure"))
        }
        ("", _) => Ok(()),
        (trouble, true) => writeln!(out, "the site is given up: {}", Printable(trouble)),
        (trouble, false) => {
            writeln!(out, "the site is in trouble until {}: {}", date(site.aside_until), Printable(trouble))
        }
    }
}

/// Now, as a time of the API.
#[expect(clippy::cast_precision_loss, reason = "a date in microseconds")]
fn now() -> f64 {
    Clock::start().date().0 as f64 / 1e6
}

/// A time of the API as a date.
fn date(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a date, which the server had as an integer"
    )]
    let at = Timestamp((seconds.max(0.0) * 1e6).round() as u64);
    at.to_rfc3339()
}

impl Text for ExplainHostResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        out.write_all(self.text.as_bytes())
    }
}

impl Text for ChangesResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        if !self.document.is_empty() {
            return out.write_all(self.document.as_bytes());
        }
        for PageChange { change, url, target, probable, .. } in &self.changes {
            let to = match target.as_str() {
                "" if change == Change::Moved.as_str() => format!(" ({NO_PLACE})"),
                "" => String::new(),
                target => format!(" to {target}"),
            };
            let why = if *probable { " (the same content, no redirect)" } else { "" };
            writeln!(out, "{change:<8} {}{}{why}", Printable(url), Printable(&to))?;
        }
        let counts: Vec<String> = self.counts.iter().map(|(change, count)| format!("{count} {change}")).collect();
        let more = if self.left_out > 0 { format!("; {} more", self.left_out) } else { String::new() };
        writeln!(out, "{} visited: {}{more}", counted(self.counts.values().sum(), "URL"), counts.join(", "))
    }
}

impl Text for Url {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        write!(out, "{:>16}  {}", self.state, Printable(&self.url))?;
        match self.reason.as_str() {
            "" => writeln!(out),
            reason => writeln!(out, "  ({})", Printable(reason)),
        }
    }
}

impl Text for UrlsResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        self.urls.iter().try_for_each(|url| url.write_text(out))?;
        write!(out, "{}", counted(self.urls.len() as u64, "URL"))?;
        match (&self.in_order, self.next.as_str()) {
            (Some(InOrder { found, kept, .. }), _) if self.urls.len() as u64 != *found => {
                let why = if kept < found { format!("; the first {kept} can be shown") } else { String::new() };
                writeln!(out, " of {found}{why}")
            }
            (Some(_), _) | (None, "") => writeln!(out),
            (None, next) => writeln!(out, "; there may be more: --after {}", Printable(next)),
        }
    }
}

impl Text for FreshnessResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        if self.pages == 0 {
            return writeln!(out, "no page was visited a second time: nothing is known of changes");
        }
        let FreshnessResponse { pages, read, fresh, visited_days_ago, age_days, visits_again, changes, .. } = *self;
        let sites = self.sites.iter().cloned().map(|rate| {
            let ChangeRate { of, pages, days_between_changes, fresh, visits_again, changes } = rate;
            Rate { of, pages, days_between_changes, fresh, visits_again, changes }
        });
        let (sites, paths) = (sites.collect(), Vec::new());
        let estimate =
            Freshness { pages, read, fresh, visited_days_ago, age_days, visits_again, changes, sites, paths };
        write!(out, "{estimate}")
    }
}

impl Text for StatsResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        if self.paused {
            writeln!(out, "paused")?;
        }
        if !self.budgets_spent.is_empty() {
            let budgets = self.budgets_spent.join(", ");
            writeln!(out, "the budget is spent: {budgets}; a larger one lets the workers go on")?;
        }
        writeln!(out, "{}, {} waiting", counted(self.urls, "URL"), self.waiting)?;
        if self.round > 1 {
            writeln!(out, "round {}, {} left of it", self.round, counted(self.left_of_round, "URL"))?;
        }
        for (outcome, count) in &self.outcomes {
            writeln!(out, "{count:>12}  {outcome}")?;
        }
        writeln!(out, "{}, {}", counted(self.sites, "site"), human_bytes(self.bytes))?;
        let open = format!("{} being written", self.segments_open);
        writeln!(out, "{} sealed, {open}", counted(self.segments_sealed, "segment"))?;
        if self.sites_aside > 0 {
            writeln!(out, "{} in trouble", counted(self.sites_aside, "site"))?;
        }
        for InTrouble { site, due, reason } in &self.in_trouble {
            let due = date(*due);
            writeln!(out, "  {} not before {due}: {}", Printable(site), Printable(reason))?;
        }
        if self.sites_spent > 0 {
            let sites = counted(self.sites_spent, "site");
            writeln!(out, "{sites} with URLs left, whose max-pages-per-site is spent")?;
        }
        if !self.hold.is_empty() {
            writeln!(out, "on hold: {}", Printable(&self.hold.join(" ")))?;
        }
        writeln!(out, "{}", counted(self.workers, "worker"))?;
        let groups = counted(self.groups_without_owner, "group");
        writeln!(out, "{groups} without an owner, {} without a group", counted(self.sites_without_group, "site"))?;
        for Changed { at, change } in &self.changes {
            writeln!(out, "steered: {at} {}", Printable(change))?;
        }
        Ok(())
    }
}

/// From when on a change counts, by the live workers that go by it and those that do not yet.
fn write_going_by(out: &mut dyn Write, workers: u64, workers_behind: u64) -> Result<()> {
    match (workers, workers_behind) {
        (0, 0) => writeln!(out, "noted; it counts for the workers that join"),
        (going, 0) => writeln!(out, "in force with {}", counted(going, "worker")),
        (going, behind) => writeln!(out, "noted; in force with {}, not yet with {behind}", counted(going, "worker")),
    }
}

impl Text for PictureResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for (place, drawn) in (1..).zip(&self.vertices) {
            let (rank, community) = (digits(drawn.rank), drawn.community + 1);
            writeln!(out, "{place:>5}  {rank:>14}  community {community:>4}  {}", Printable(&drawn.name))?;
        }
        let (vertices, links) = (self.vertices.len() as u64, self.links.len() as u64);
        writeln!(out, "{}, {}, communities: {}", counted(vertices, "point"), counted(links, "link"), self.communities)
    }
}

impl Text for JournalResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        for Journaled { at, change, undo, no_undo } in &self.changes {
            writeln!(out, "{at} {}", Printable(change))?;
            match no_undo.as_str() {
                "" => undo.iter().try_for_each(|back| writeln!(out, "  undo: {}", Printable(back)))?,
                why => writeln!(out, "  no undo: {why}")?,
            }
        }
        writeln!(out, "{}", counted(self.changes.len() as u64, "change"))
    }
}

impl Text for UndoResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        self.undo.iter().try_for_each(|back| writeln!(out, "{}", Printable(back)))?;
        match self.done {
            true => write_going_by(out, self.workers, self.workers_behind),
            false => writeln!(out, "nothing was done yet"),
        }
    }
}

impl Text for SteerResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        if self.at.is_empty() {
            let affected =
                Affected { queued: self.queued, fetched: self.fetched, again: self.again, added: self.added };
            writeln!(out, "{affected}")?;
            if let Some(SteerCount { looked_at, known }) = self.so_far {
                writeln!(out, "so far: {looked_at} of {} looked at", counted(known, "URL"))?;
            }
            for SteeredSite { site, queued, fetched, again } in &self.by_site {
                writeln!(out, "{queued:>9} {fetched:>9} {again:>9}  {}", Printable(site))?;
            }
        } else {
            write_going_by(out, self.workers, self.workers_behind)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(out, "{}", Printable(note)))
    }
}

impl Text for PauseResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "paused")
    }
}

impl Text for ResumeResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "resumed")
    }
}

impl Text for DrainResponse {
    fn write_text(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(out, "leaving")
    }
}

fn write_outcome(out: &mut dyn Write, outcome: &str, reason: &str) -> Result<()> {
    match reason {
        "" => writeln!(out, "{outcome}"),
        reason => writeln!(out, "{outcome}: {}", Printable(reason)),
    }
}

fn write_owner(out: &mut dyn Write, owner: &Worker) -> Result<()> {
    writeln!(out, "owned by worker {} at {}", owner.id, Printable(&owner.name))
}

fn write_link(out: &mut dyn Write, arrow: &str, end: &str, link: &Link) -> Result<()> {
    write!(out, "{arrow} {}", Printable(end))?;
    if !link.text.is_empty() {
        write!(out, "  \"{}\"", Printable(&link.text))?;
    }
    match (link.kind.as_str(), link.rel.as_str()) {
        ("anchor", "") => writeln!(out),
        (kind, "") => writeln!(out, "  ({kind})"),
        (kind, rel) => writeln!(out, "  ({kind}, {rel})"),
    }
}
