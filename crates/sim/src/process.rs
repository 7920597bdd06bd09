//! One run of the crawler's program: another shell around `engine::State::step`, in virtual time.

mod explained;
mod steered;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::{Command, End, Event, Fetch, Pin, Recorder, Settings, Start, State, look_into};
use model::{FailureKind, FetchOutcome, FetchTask, Purpose, TaskId, Timestamp};
use store::{CrawlView as _, Store};
use weburl::{Site, SiteKey};

use self::explained::Said;
use self::steered::Steer;
use crate::exit::Exit;
use crate::oracle::{Check, Request, RequestEnd};
use crate::scenario::Sabotage;
use crate::server::Exchanged;
use crate::time::{SkewedClock, TrueTime};
use crate::watched::Watched;
use crate::web::RobotsReply;
use crate::world::World;
use crate::writer::{Order, Writer};

/// Events of one simulation, at most: a crawl that needs more does not end.
const STEPS_MAX: u64 = 300_000;

/// How long a crawl may take.
const TIME_MAX: Duration = Duration::from_secs(5 * 365 * 24 * 3600);

/// How often a request is tried where the network hammers.
const HAMMERED: u32 = 200;

/// Of so many answers one is lost, where some are.
const LOST_ONE_IN: u64 = 10;

/// What happens at some time.
enum Happening {
    Step(Event),
    Fetched(TaskId),
    WriterWorks,
    Alarm(u64),
    /// A site is given to another worker.
    HandOver(SiteKey),
    /// It comes back.
    TakeOver(Vec<SiteKey>),
    /// Somebody sets the machine's clock.
    ClockSet,
    /// Somebody steers the crawl.
    Steer(Steer),
}

/// A request under way.
struct UnderWay {
    request: Request,
    exchanged: Exchanged,
}

/// A running crawler.
pub(crate) struct Process<'w> {
    world: &'w mut World,
    settings: Settings,
    state: State,
    store: Arc<Watched>,
    writer: Writer,
    agenda: BTreeMap<(TrueTime, u64), Happening>,
    scheduled: u64,
    under_way: BTreeMap<TaskId, UnderWay>,
    /// The clock by which the crawler waits: nobody sets it.
    waiting: SkewedClock,
    alarm: u64,
    /// The writer's answers come in their order.
    last_answer: TrueTime,
    /// The addresses to which sites are pinned.
    pins: BTreeMap<SiteKey, IpAddr>,
    /// What the crawler said of its sites.
    said: Said,
    /// There is nothing left to do, and the crawler knows it.
    is_done: bool,
    end: Option<End>,
}

impl<'w> Process<'w> {
    /// Starts the program on a store.
    pub(crate) fn start(world: &'w mut World, store: Arc<Watched>, recorder: Recorder, resumed: bool) -> Self {
        let mut settings = world.scenario.settings();
        // As a session decides it: visits of another run are compared by all that is known of them.
        settings.labels |= store.totals().is_ok_and(|totals| !totals.outcomes.is_empty());
        let is_shared = world.scenario.troubles.hand_overs > 0;
        let start = match resumed {
            _ if is_shared => Start::Shared,
            true => Start::Resumed,
            false => Start::New,
        };
        let waiting = world.clock;
        let state = State::new(settings.clone(), waiting.at(world.now), start);
        let last_answer = world.now;
        let mut process = Process {
            world,
            settings,
            state,
            writer: Writer::new(store.clone(), recorder),
            store,
            agenda: BTreeMap::new(),
            scheduled: 0,
            under_way: BTreeMap::new(),
            waiting,
            alarm: 0,
            last_answer,
            pins: BTreeMap::new(),
            said: Said::default(),
            is_done: false,
            end: None,
        };
        process.ask_before_run(resumed);
        if process.world.scenario.troubles.stops > 0 {
            process.world.scenario.troubles.stops -= 1;
            let after = Duration::from_millis(process.world.misfortune.below(60_000));
            process.schedule(process.world.now + after, Happening::Step(Event::Stop));
        }
        if is_shared {
            process.share(resumed);
        }
        for _ in 0..process.world.scenario.troubles.steers {
            process.plan_to_steer();
        }
        for _ in 0..process.world.scenario.troubles.clock_jumps {
            let after = Duration::from_millis(process.world.misfortune.below(30_000));
            process.schedule(process.world.now + after, Happening::ClockSet);
        }
        process
    }

    /// Plans what other workers do. One that begins again owns nothing before it was quiet for a while.
    fn share(&mut self, resumed: bool) {
        let sites: Vec<SiteKey> = self
            .world
            .scenario
            .web
            .sites
            .keys()
            .filter_map(|site| Site::from_text(site))
            .map(|site| site.key())
            .collect();
        if resumed {
            self.store.set_away(sites.iter().copied(), true);
            let quiet = self.world.scenario.wishes.politeness.ip_delay;
            self.schedule(self.world.now + quiet, Happening::TakeOver(sites.clone()));
        }
        for _ in 0..self.world.scenario.troubles.hand_overs {
            let after = Duration::from_millis(self.world.misfortune.below(120_000));
            let site = self.world.misfortune.pick(&sites);
            self.schedule(self.world.now + after, Happening::HandOver(site));
        }
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self, begin: Event) -> Exit {
        let deadline = TrueTime::default() + TIME_MAX;
        self.schedule(self.world.now, Happening::Step(begin));
        while let Some(((at, _), happening)) = self.next() {
            self.world.now = at;
            self.world.steps += 1;
            if self.world.steps > STEPS_MAX || at > deadline {
                return Exit::Stuck;
            }
            if let Err(exit) = self.happen(happening) {
                return exit;
            }
            if let Some(end) = self.end.take() {
                return self.finish(end);
            }
        }
        Exit::Stuck
    }

    /// What happens next. Where other workers crawl too, the crawl has ended when nothing happens any more.
    fn next(&mut self) -> Option<((TrueTime, u64), Happening)> {
        if self.agenda.is_empty() && self.world.scenario.troubles.hand_overs > 0 && !self.is_done {
            self.is_done = true;
            self.schedule(self.world.now, Happening::Step(Event::Stop));
        }
        self.agenda.pop_first()
    }

    fn finish(mut self, end: End) -> Exit {
        // Sites on hold are left: the next run goes on.
        let is_held = !self.settings.held_sites.is_empty();
        let end = match self.is_done {
            true => End::Done,
            false if is_held && end == End::Done => End::Stopped,
            false => end,
        };
        self.world.note(format_args!("finished: {end:?}"));
        // What is ordered is still recorded.
        while self.writer.has_orders() {
            if let Err(exit) = self.work() {
                return exit;
            }
        }
        let finished = end != End::Stopped;
        if let Err(error) = self.writer.close(finished) {
            self.world.oracle.complain(Check::Archive, self.world.now, error.to_string());
        }
        Exit::Finished(end)
    }

    fn schedule(&mut self, at: TrueTime, happening: Happening) {
        self.scheduled += 1;
        self.agenda.insert((at, self.scheduled), happening);
    }

    fn happen(&mut self, happening: Happening) -> Result<(), Exit> {
        match happening {
            Happening::Step(event) => self.step(event),
            Happening::Fetched(id) if self.is_lost(id) => Ok(()),
            Happening::Fetched(id) => match self.under_way.remove(&id) {
                Some(under_way) => self.fetched(under_way),
                None => Ok(()),
            },
            Happening::WriterWorks => self.work(),
            Happening::Alarm(number) if number == self.alarm => self.step(Event::Wake),
            Happening::Alarm(_) => Ok(()),
            Happening::HandOver(site) => self.hand_over(site),
            Happening::Steer(steer) => self.steer(steer),
            Happening::ClockSet => {
                self.set_clock();
                Ok(())
            }
            Happening::TakeOver(sites) => {
                self.store.set_away(sites.iter().copied(), false);
                self.step(Event::SitesChanged { sites, taken_over: true })
            }
        }
    }

    /// Sets the clock while the crawler runs. By when a server wants to be asked again is said by its own, which nobody sets.
    fn set_clock(&mut self) {
        let by_date =
            |under_way: &UnderWay| matches!(under_way.exchanged.served, crate::Served::Busy { retry_after: Some(_) });
        if !self.under_way.values().any(by_date) && self.world.set_clock() {
            self.world.oracle.clock_set_forward_in_run();
        }
    }

    fn is_lost(&self, id: TaskId) -> bool {
        self.world.scenario.sabotage == Some(Sabotage::LoseAnswers) && id.0.is_multiple_of(LOST_ONE_IN)
    }

    fn has_one_clock(&self) -> bool {
        self.world.scenario.sabotage == Some(Sabotage::OneClock)
    }

    /// What the crawler's clocks show: that by which it waits, and that for dates.
    fn clocks(&self) -> (Timestamp, Timestamp) {
        let date = self.world.clock.at(self.world.now);
        (if self.has_one_clock() { date } else { self.waiting.at(self.world.now) }, date)
    }

    fn hand_over(&mut self, site: SiteKey) -> Result<(), Exit> {
        if self.store.is_away(site) {
            return Ok(());
        }
        self.world.interruptions += 1;
        self.store.set_away([site], true);
        if self.world.scenario.sabotage == Some(Sabotage::KeepSites) {
            return Ok(());
        }
        self.step(Event::Release(vec![site]))
    }

    /// Where a site may be asked. Where workers share addresses a site is pinned to one when it is let go of for it.
    fn pin(&self, site: SiteKey) -> Pin {
        let is_shared = self.world.scenario.troubles.hand_overs > 0;
        if !is_shared || self.settings.site_rules.politeness.ip_delay.is_zero() {
            return Pin::Anywhere;
        }
        self.pins.get(&site).map_or(Pin::Nowhere, |address| Pin::At(*address))
    }

    /// A site was let go of: another worker has it for a while.
    fn released(&mut self, site: SiteKey, address: Option<IpAddr>) {
        if let Some(address) = address {
            self.store.set_away([site], true);
            self.pins.insert(site, address);
        }
        let is_asked = self.under_way.values().any(|under_way| under_way.request.key.site == site);
        if is_asked || self.writer.has_records_of(site) {
            self.world.oracle.complain(Check::Owned, self.world.now, format!("site {site} is let go of too early"));
        }
        let after = Duration::from_millis(self.world.misfortune.below(30_000));
        self.schedule(self.world.now + after, Happening::TakeOver(vec![site]));
    }

    fn step(&mut self, event: Event) -> Result<(), Exit> {
        self.world.note(format_args!("{}", brief(&event)));
        let (now, date) = self.clocks();
        let said = self.ask_before_step(&event);
        let commands = self.state.step(now, date, event);
        self.check_what_was_said(said, &commands);
        self.check_bounds();
        for command in commands {
            self.maybe_crash()?;
            self.carry_out(command)?;
            self.maybe_crash()?;
        }
        Ok(())
    }

    fn maybe_crash(&mut self) -> Result<(), Exit> {
        if self.world.strikes() { Err(Exit::Crashed { torn: false }) } else { Ok(()) }
    }

    fn check_bounds(&mut self) {
        let concurrency = self.world.scenario.wishes.concurrency;
        let (in_flight, waiting) = (self.state.fetches_in_flight(), self.state.sites_waiting());
        if in_flight > concurrency || waiting > self.world.scenario.web.sites.len() + 1 {
            let detail = format!("{in_flight} fetches, {waiting} sites waiting");
            self.world.oracle.complain(Check::Bounded, self.world.now, detail);
        }
        let (bytes, summed) = (self.state.front_bytes(), self.state.front_bytes_summed());
        let max = self.world.scenario.wishes.front_bytes_max;
        let sites = self.state.sites_in_front();
        if (bytes > max && sites > 1) || bytes != summed {
            let detail = format!("{sites} sites in front take {bytes} bytes, in truth {summed}, and may take {max}");
            self.world.oracle.complain(Check::Front, self.world.now, detail);
        }
    }

    fn carry_out(&mut self, command: Command) -> Result<(), Exit> {
        match command {
            Command::Fetch(task) => self.fetch(&task),
            Command::FetchTarget(task) if self.store.is_away(task.url.key().site) => {
                self.schedule(self.world.now, Happening::Step(Event::NotAsked(task.id)));
            }
            Command::FetchTarget(task) => self.fetch(&task),
            Command::ResolveTarget { url } => {
                let key = url.key();
                let event = if self.store.is_away(key.site) {
                    Event::TargetElsewhere(key)
                } else {
                    let found = self.resolve(&url.site());
                    Event::TargetResolved { url: key, addresses: found.map(|found| found.addresses) }
                };
                let after = Duration::from_micros(self.world.network.between(100, 300_000));
                self.schedule(self.world.now + after, Happening::Step(event));
            }
            Command::ReadRobots { url } => self.order(Order::ReadRobots { url }),
            Command::FindRules { site } => self.order(Order::FindRules { site }),
            Command::ReadRules { site, code, body } => {
                let rules = Some(engine::read_rules(code, &body, &self.settings));
                let after = Duration::from_micros(self.world.network.between(100, 300_000));
                self.schedule(self.world.now + after, Happening::Step(Event::RulesRead { site, rules }));
            }
            Command::Resolve { site, unreachable } => {
                let pin = self.pin(site.key());
                let event = pin
                    .judge(site.key(), unreachable)
                    .unwrap_or_else(|| pin.judge_found(site.key(), self.resolve(&site)));
                let after = Duration::from_micros(self.world.network.between(100, 300_000));
                self.schedule(self.world.now + after, Happening::Step(event));
            }
            Command::Record(record) => self.order(Order::Record(record)),
            Command::Load { site, with_record, after, max } => {
                let wishes = &self.world.scenario.wishes;
                if max > frontier::window_urls(wishes.windows_urls_max, 1) {
                    self.world.oracle.complain(Check::Bounded, self.world.now, format!("a window of {max} URLs"));
                }
                self.order(Order::Load { site, with_record, after, max });
            }
            Command::FindSites { after } => self.order(Order::FindSites { after }),
            Command::WakeAt(at) => {
                self.alarm += 1;
                let clock = if self.has_one_clock() { self.world.clock } else { self.waiting };
                let at = clock.when(at).max(self.world.now);
                self.schedule(at, Happening::Alarm(self.alarm));
            }
            Command::Abandon => {
                self.under_way.clear();
                self.world.oracle.crawler_gone(self.world.now);
            }
            // Nobody else is there to have it.
            Command::Released { .. } if self.world.scenario.troubles.hand_overs == 0 => {}
            Command::Released { site, address } => self.released(site, address),
            Command::Finish(end) => self.end = Some(end),
        }
        Ok(())
    }

    fn order(&mut self, order: Order) {
        if self.writer.add(order) {
            let pause = self.pause();
            self.schedule(self.world.now + pause, Happening::WriterWorks);
        }
    }

    fn pause(&mut self) -> Duration {
        let longest = u64::try_from(self.world.troubles().store_pause.as_micros()).unwrap_or(1);
        Duration::from_micros(self.world.machine.between(1, longest.max(1)))
    }

    /// Lets the writer do what it does in one go.
    fn work(&mut self) -> Result<(), Exit> {
        let answers = self.writer.work(self.world)?;
        for event in answers {
            self.last_answer = self.last_answer.max(self.world.now) + Duration::from_micros(1);
            self.schedule(self.last_answer, Happening::Step(event));
        }
        if self.writer.goes_on() {
            let pause = self.pause();
            self.schedule(self.world.now + pause, Happening::WriterWorks);
        }
        Ok(())
    }

    fn resolve(&mut self, site: &Site) -> Result<model::Resolved, model::Failure> {
        let World { servers, scenario, oracle, now, .. } = &mut *self.world;
        oracle.looks_up(*now);
        servers.resolve(&scenario.web, site, *now)
    }

    fn fetch(&mut self, task: &FetchTask) {
        let request = self.request(task);
        if self.store.is_away(request.key.site) {
            let detail = format!("{} is asked for while its site is another's", request.url);
            self.world.oracle.complain(Check::Owned, self.world.now, detail);
        }
        if self.settings.paused || self.settings.held_sites.contains(&request.key.site) {
            let detail = format!("{} is asked for in a pause, or while its site is on hold", request.url);
            self.world.oracle.complain(Check::Steered, self.world.now, detail);
        }
        self.world.note(format_args!("fetch {} from {:?}", request.url, request.address));
        self.begin(&request);
        if self.world.scenario.sabotage == Some(Sabotage::AskTwice) && self.world.requests.is_multiple_of(5) {
            let took = Duration::from_micros(1);
            let ended = RequestEnd {
                served: crate::Served::Final,
                in_outage: false,
                end: self.world.now + took,
                waited: self.waiting.at(self.world.now + took),
                took,
            };
            self.world.oracle.ends(&self.world.scenario, &request, ended);
            self.begin(&request);
        }
        if self.world.scenario.sabotage == Some(Sabotage::FollowRobots) && task.purpose == Purpose::Robots {
            self.follow(&request);
        }
        let World { servers, scenario, network, now, clock, .. } = &mut *self.world;
        let exchanged = servers.fetch(&scenario.web, network, task, *now, *clock);
        if self.is_hammered(&exchanged) {
            (0..HAMMERED).for_each(|_| self.world.oracle.looks_up(self.world.now));
        }
        self.schedule(exchanged.end, Happening::Fetched(task.id));
        self.under_way.insert(task.id, UnderWay { request, exchanged });
    }

    fn is_hammered(&self, exchanged: &Exchanged) -> bool {
        self.world.scenario.sabotage == Some(Sabotage::Hammer) && exchanged.served == crate::Served::Refused
    }

    /// Asks where a robots.txt redirects to, as if that were part of the same request.
    fn follow(&mut self, request: &Request) {
        let web = &self.world.scenario.web;
        let Some((_, site)) = web.site_of(&request.url) else { return };
        let RobotsReply::RedirectTo(other) = &site.robots.reply else { return };
        let (url, address) =
            (format!("{other}/robots.txt"), web.sites.get(other).and_then(|site| site.addresses.first()));
        let Some(canonical) = weburl::CanonicalUrl::from_canonical(&url) else { return };
        let target =
            Request { site: other.clone(), url, key: canonical.key(), address: address.copied(), ..request.clone() };
        self.begin(&target);
        let (end, waited) = (self.world.now, request.waited);
        let ended = RequestEnd { served: crate::Served::Failed, in_outage: false, end, waited, took: Duration::ZERO };
        self.world.oracle.ends(&self.world.scenario, &target, ended);
    }

    fn begin(&mut self, request: &Request) {
        self.world.requests += 1;
        self.world.oracle.begins(&self.world.scenario, request);
    }

    fn request(&self, task: &FetchTask) -> Request {
        Request {
            site: task.url.site().as_str().to_owned(),
            url: task.url.as_str().to_owned(),
            key: task.url.key(),
            purpose: task.purpose,
            address: task.address,
            start: self.world.now,
            shown: self.world.clock.at(self.world.now),
            waited: self.waiting.at(self.world.now),
            validators: task.validators().cloned(),
        }
    }

    fn fetched(&mut self, under_way: UnderWay) -> Result<(), Exit> {
        let UnderWay { request, exchanged: Exchanged { end, mut outcome, served, in_outage } } = under_way;
        outcome.finished_at = self.clocks().0;
        if let (model::Fetched::Failed(failure), Some(Sabotage::BlameUrls)) =
            (&mut outcome.fetched, self.world.scenario.sabotage)
            && failure.kind == FailureKind::Connect
        {
            failure.kind = FailureKind::Internal;
        }
        let ended = RequestEnd { served, in_outage, end, waited: self.waiting.at(end), took: end.since(request.start) };
        self.world.oracle.ends(&self.world.scenario, &request, ended);
        self.world.oracle.answers(&request, &outcome.fetched);
        self.maybe_crash()?;
        let fetch = looked_into(outcome, request.purpose, &self.settings);
        self.step(Event::Fetched(Box::new(fetch)))
    }
}

/// As the shell does it: the body is gone afterwards, but for robots.txt.
fn looked_into(mut outcome: FetchOutcome, purpose: Purpose, settings: &Settings) -> Fetch {
    let content = look_into(&outcome, purpose, settings);
    if let (model::Fetched::Response(response), false) = (&mut outcome.fetched, purpose == Purpose::Robots) {
        response.body = bytes::Bytes::new();
    }
    Fetch { outcome, content }
}

/// An event in few words, the same in every run.
fn brief(event: &Event) -> String {
    match event {
        Event::Begin { seeds, known_seeds, round, pages, bytes, .. } => {
            let (new, known) = (seeds.len(), known_seeds.len());
            format!("begin round {round}: {new} seeds, {known} known, {pages} pages, {bytes} bytes")
        }
        Event::SitesFound { sites, all } => format!("{} sites found, all {all}", sites.len()),
        Event::Loaded { site, queue, all, .. } => format!("loaded {} of site {site}, all {all}", queue.len()),
        Event::RulesFound { site, record } => format!("found the rules of {site}: {}", record.is_some()),
        Event::RulesRead { site, rules } => format!("rules of {site} read: {}", rules.is_some()),
        Event::Resolved { site, found } => format!("resolved {site}: {found:?}"),
        Event::Elsewhere { site, address } => format!("site {site} is elsewhere: {address:?}"),
        Event::Fetched(fetch) => {
            let end = match &fetch.outcome.fetched {
                model::Fetched::Response(response) => response.status.to_string(),
                model::Fetched::Failed(failure) => format!("{:?}", failure.kind),
            };
            format!("fetched {}: {end}", fetch.outcome.url)
        }
        Event::Committed { records, committed } => {
            let (fresh, relaxed) = (committed.fresh.len(), committed.relaxed.len());
            format!("committed {}: {fresh} fresh, {relaxed} relaxed", records.len())
        }
        Event::SettingsChanged(_) => "other settings".to_owned(),
        Event::NewSeeds(seeds) => format!("{} new seeds", seeds.len()),
        Event::SitesChanged { sites, taken_over } => format!("{} sites changed, taken over {taken_over}", sites.len()),
        Event::SitesWaiting(sites) => format!("{} sites waiting", sites.len()),
        Event::SeedsAdded(seeds) => format!("{} seeds added", seeds.len()),
        Event::RoundBegan(round) => format!("round {round} began"),
        Event::SpentElsewhere(spent) => format!("others have spent {spent:?}"),
        Event::Release(sites) => format!("release {} sites", sites.len()),
        Event::RobotsRead { url, record } => format!("read the site of {url:?}: {}", record.is_some()),
        Event::TargetResolved { url, addresses } => format!("resolved target {url:?}: {addresses:?}"),
        Event::TargetElsewhere(url) => format!("target {url:?} is elsewhere"),
        Event::NotAsked(task) => format!("task {} not asked", task.0),
        Event::Lost { task, detail } => format!("lost task {}: {detail}", task.0),
        Event::Wake => "wake".to_owned(),
        Event::Stop => "stop".to_owned(),
    }
}

/// Reads what a new run must know, as the shell does.
pub(crate) fn begin_event(world: &World, store: &dyn Store) -> Result<(Event, bool), store::StoreError> {
    let totals = store.totals()?;
    let known_seeds = store.seeds()?;
    let rules = weburl::CanonicalRules::default();
    let seeds = world.scenario.web.seeds.iter().filter_map(|seed| weburl::CanonicalUrl::parse(seed, &rules).ok());
    let seeds = seeds.filter(|seed| !known_seeds.contains(seed)).collect();
    let resumed = !known_seeds.is_empty();
    Ok((Event::begin(seeds, known_seeds, &totals), resumed))
}
