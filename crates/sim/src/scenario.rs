//! What is simulated: a web, what the user asks for, what goes wrong, and, to test the oracle itself, a broken rule.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::Settings;
use engine::settings::{LARGE_ROBOTS_BYTES, RULES_BYTES_MAX, RULES_READ_AT_ONCE_MAX};
use frontier::{Filter, Politeness, SiteRules, TrapRules};
use model::Limits;
use robots::Matching;
use weburl::{CanonicalRules, Pattern, Scope, ScopeKind};

use crate::outage::{Outage, outages};
use crate::rng::{Rng, mix};
use crate::rounds::Rounds;
use crate::web::{FARM_DEPTH_MAX, Web};

/// Fetches at once that a domain or an address may have.
const SHARES: [usize; 3] = [64, 1, 2];

/// Visits after which a site leaves its place to others.
const TURNS_IN_FRONT: [u32; 3] = [256, 3, 20];

/// Bytes that the sites in memory may take: often so few that they have room for some ten of them.
const FRONT_BYTES: [usize; 4] = [engine::settings::FRONT_BYTES_MAX, 30_000, 60_000, 150_000];

/// Links that are judged at once.
const LINKS_AT_ONCE: [usize; 3] = [4_096, 1, 5];

/// Sites in memory at once where there is a farm of hosts, which has more: enough for one of each site and of each address of the farm.
const PLACES_BESIDE_A_FARM: [usize; 4] = [12, 16, 24, 40];

/// Of so many seeds one has a farm of hosts.
const FARM_ONE_IN: u64 = 8;

/// Of so many seeds one fetches what pages need.
const REQUISITES_ONE_IN: u64 = 5;

/// Of so many seeds one has rounds after the first, in turn as `crawl --again` and as `watch` begin them.
const ROUNDS_ONE_IN: u64 = 7;

/// How often a watch looks for what is worth a visit.
const WATCH_EVERY: [Duration; 3] =
    [Duration::from_secs(600), Duration::from_secs(3_600), Duration::from_secs(12 * 3_600)];

/// Longer than any site is in trouble before it is given up.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Shorter than some outages: runs end, and others go on.
const LITTLE_PATIENCE: Duration = Duration::from_secs(600);

/// One simulation, complete.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The seed that all of it comes from.
    pub seed: u64,
    /// The web.
    pub web: Web,
    /// What the user asks for.
    pub wishes: Wishes,
    /// What goes wrong around the crawler.
    pub troubles: Troubles,
    /// What does not answer for a while.
    pub outages: Vec<Outage>,
    /// Where the state is kept.
    pub storage: StorageKind,
    /// An archive is written.
    pub has_archive: bool,
    /// The crawler is asked what it does next.
    pub explains: bool,
    /// The rule that is broken on purpose.
    pub sabotage: Option<Sabotage>,
}

/// What the user asks for. The oracle holds the crawler to it.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Politeness.
    pub politeness: Politeness,
    /// Fetches at once.
    pub concurrency: usize,
    /// Fetches at once from the sites of a domain and from an address.
    pub share: usize,
    /// How long a run goes on while all sites that are left fail.
    pub patience: Duration,
    /// Links from a seed, at most.
    pub depth_max: Option<u32>,
    /// URLs fetched with success, at most.
    pub pages_max: Option<u64>,
    /// URLs of a site fetched with success, at most.
    pub pages_per_site_max: Option<u64>,
    /// Only the hosts of the seeds; else everything.
    pub seed_hosts_only: bool,
    /// Sitemaps are read.
    pub sitemaps: bool,
    /// What pages need is fetched.
    pub requisites: bool,
    /// Known pages are visited again.
    pub rounds: Rounds,
    /// Files ending in `.pdf` and URLs with `/cgi-bin/` in them are excluded.
    pub excludes: bool,
    /// Pages of a calendar, at most.
    pub calendar_pages_max: u32,
    /// Sites in memory at once.
    pub sites_in_front_max: usize,
    /// Bytes that they may take.
    pub front_bytes_max: usize,
    /// Visits after which a site leaves its place in memory to others.
    pub turns_in_front_max: u32,
    /// URLs in the windows of all sites, where they are not as small as they can be.
    pub windows_urls_max: usize,
    /// URLs remembered, so that finding them again is not recorded.
    pub remembered_urls_max: usize,
}

/// What goes wrong around the crawler.
#[derive(Clone, Debug, Default)]
pub struct Troubles {
    /// Crashes and failed commits, at most.
    pub crashes_max: u32,
    /// In a million moments at which a crash is possible.
    pub crash_chance: u64,
    /// In a thousand restarts the clock was set meanwhile.
    pub clock_chance: u64,
    /// How often in a run somebody sets the clock.
    pub clock_jumps: u32,
    /// The user stops the crawl so often.
    pub stops: u32,
    /// So often in a run somebody pauses the crawl, or puts a site on hold, for a while.
    pub steers: u32,
    /// The crawler is one of several workers, and so often a site of its own is another's for a while.
    pub hand_overs: u64,
    /// The longest a commit or a read takes.
    pub store_pause: Duration,
}

/// Where the state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageKind {
    /// In memory, which a crash leaves alone.
    Memory,
    /// In the embedded store, on a disk that loses what was not acknowledged.
    Embedded,
}

/// A rule broken on purpose: the oracle must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// The crawler waits for nothing between two visits.
    NoDelay,
    /// The crawler knows no delay per address.
    NoAddressDelay,
    /// The crawler takes any Retry-After for zero.
    NoRetryAfter,
    /// The crawler opens one connection to a site too many.
    MoreConnections,
    /// The crawler lets one domain or address have all fetches.
    NoShares,
    /// The crawler ignores robots.txt.
    NoRobots,
    /// The crawler goes one link deeper than asked.
    DepthOffByOne,
    /// The crawler fetches more pages than asked.
    NoBudget,
    /// The store forgets some found URLs.
    ForgetFound,
    /// The store applies only half of some batches.
    HalfBatches,
    /// The store acknowledges before anything is kept, and a crash loses it.
    ForgetAcknowledged,
    /// The store forgets some outcomes, so that their URLs are fetched again.
    ForgetVisits,
    /// The store forgets what the delays of a site were.
    ForgetSites,
    /// The network sends some requests twice.
    AskTwice,
    /// A byte of the archive is changed.
    DamageArchive,
    /// The network follows redirects of robots.txt at once, and ignores turns.
    FollowRobots,
    /// The crawler waits by the clock that people set.
    OneClock,
    /// The crawler is not told that a site is another's for a while.
    KeepSites,
    /// The crawler is not told of changes.
    KeepCourse,
    /// The crawler fetches one more at once than asked.
    MoreFetches,
    /// The crawler does not wait for sites in trouble.
    NoPatience,
    /// The crawler gives a site up when it is in trouble for the first time.
    GiveUpAtOnce,
    /// The store forgets that a site is in trouble.
    ForgetAsides,
    /// The store takes some URLs to be further from the seeds than they are.
    FurtherAway,
    /// The store forgets what the payloads of some pages were.
    ForgetPayloads,
    /// The recorder commits some batches twice.
    CommitTwice,
    /// Some answers never reach the crawler.
    LoseAnswers,
    /// The network tries a request many times where nobody can be reached.
    Hammer,
    /// The crawler knows no limit on the bytes of the sites in memory.
    EndlessFront,
    /// The first sites in front keep their places.
    KeepPlaces,
    /// The network blames a URL where its site cannot be reached.
    BlameUrls,
    /// What is said of a site leaves out that its address may not be asked.
    ForgetAddresses,
    /// The store leaves some URLs out of a round.
    ForgetPages,
    /// The store forgets that a server is wrong about changes.
    Believe,
    /// The network says in place of all servers that nothing has changed.
    SayUnmodified,
    /// The store forgets the visits before the last.
    ForgetEarlier,
}

impl Scenario {
    /// The scenario of a seed.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        let mut rng = Rng::new(mix(seed ^ 0xA5A5_5A5A));
        let is_calm = rng.chance(200);
        let mut web = Web::generate(&mut rng.fork(), is_calm);
        let mut wishes = wishes(&mut rng, &web);
        // Not drawn: what was drawn for a seed before stays as it is.
        wishes.turns_in_front_max = TURNS_IN_FRONT[usize::try_from(seed / 3 % 3).unwrap_or_default()];
        wishes.front_bytes_max = FRONT_BYTES[usize::try_from(seed / 8 % 4).unwrap_or_default()];
        wishes.share = SHARES[usize::try_from(seed % 3).unwrap_or_default()];
        if seed % 5 == 4 {
            web.ask_for_robots_once();
        }
        let mut troubles = if is_calm { Troubles::default() } else { troubles(&mut rng) };
        let has_archive = rng.chance(100);
        if !is_calm && rng.chance(300) {
            troubles = Troubles { stops: 0, hand_overs: rng.between(1, 30), ..troubles };
        }
        // Where robots.txt is asked for once, one that is out of order at that moment counts as none: then outages change what is allowed.
        let has_outages = !is_calm && !web.robots_once;
        let outages = if has_outages { outages(&mut rng.fork(), &web) } else { Vec::new() };
        if seed % FARM_ONE_IN == 6 {
            // Not drawn either, and added last: outages are those of the others.
            let mut rng = Rng::new(mix(seed ^ 0x5A5A_A5A5));
            wishes.sites_in_front_max = rng.pick(&PLACES_BESIDE_A_FARM);
            wishes.seed_hosts_only = false;
            wishes.depth_max = wishes.depth_max.map(|depth| depth + FARM_DEPTH_MAX);
            web.add_farm(&mut rng, wishes.sites_in_front_max);
        }
        if seed % REQUISITES_ONE_IN == 2 && troubles.hand_overs == 0 {
            // Not drawn, and added to what there is. Of several workers, nobody reads sitemaps of a site that only has requisites.
            wishes.requisites = true;
            web.furnish(&mut Rng::new(mix(seed ^ 0x3C3C_C3C3)));
        }
        if seed % 4 == 1 && !is_calm && troubles.hand_overs == 0 {
            // Not drawn either.
            troubles.steers = 3;
        }
        let has_budget = wishes.pages_max.is_some() || wishes.pages_per_site_max.is_some();
        if seed % ROUNDS_ONE_IN == 3
            && seed % FARM_ONE_IN != 6
            && !web.robots_once
            && !has_budget
            && troubles.hand_overs == 0
        {
            let mut rng = Rng::new(mix(seed ^ 0xC3C3_3C3C));
            web.give_memory(&mut rng);
            wishes.rounds = match seed / ROUNDS_ONE_IN % 2 {
                0 => Rounds::Again(u32::try_from(rng.between(1, 3)).unwrap_or(1)),
                _ => Rounds::Watch {
                    times: u32::try_from(rng.between(4, 12)).unwrap_or(4),
                    every: rng.pick(&WATCH_EVERY),
                    by_depth: seed / ROUNDS_ONE_IN % 4 == 3,
                },
            };
            // How long a page is left alone goes by dates.
            (troubles.clock_chance, troubles.clock_jumps) = (0, 0);
        }
        Scenario {
            seed,
            web,
            wishes,
            troubles,
            outages,
            storage: StorageKind::Memory,
            has_archive,
            explains: false,
            sabotage: None,
        }
    }

    /// The same on another store.
    #[must_use]
    pub fn on(self, storage: StorageKind) -> Self {
        Scenario { storage, ..self }
    }

    /// The same, and the crawler is asked what it does next.
    #[must_use]
    pub fn explained(self) -> Self {
        Scenario { explains: true, ..self }
    }

    /// The same with little patience.
    #[must_use]
    pub fn impatient(mut self) -> Self {
        self.wishes.patience = LITTLE_PATIENCE;
        self
    }

    /// The same with a broken rule.
    #[must_use]
    pub fn broken_by(self, sabotage: Sabotage) -> Self {
        Scenario { sabotage: Some(sabotage), ..self }
    }

    /// The settings given to the crawler: the wishes, unless sabotaged.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let wishes = &self.wishes;
        let mut settings = Settings {
            filter: Filter {
                scope: Scope::new(if wishes.seed_hosts_only { ScopeKind::Host } else { ScopeKind::Any }),
                include: Vec::new(),
                exclude: if wishes.excludes { patterns() } else { Vec::new() },
            },
            site_rules: SiteRules {
                politeness: wishes.politeness.clone(),
                traps: TrapRules { calendar_pages_max: wishes.calendar_pages_max, ..TrapRules::default() },
                matching: Some(Matching::LongestMatch),
                pages_per_site_max: wishes.pages_per_site_max,
                sitemaps_per_site_max: Limits::default().sitemaps_per_site_max,
            },
            canonical: CanonicalRules::default(),
            limits: Limits::default(),
            robots_once: self.web.robots_once,
            product_token: "argiope".to_owned(),
            depth_max: wishes.depth_max,
            concurrency: wishes.concurrency,
            fetches_per_domain_max: wishes.share,
            fetches_per_address_max: wishes.share,
            paused: false,
            held_sites: BTreeSet::new(),
            pages_max: wishes.pages_max,
            patience: wishes.patience,
            time_max: None,
            bytes_max: None,
            sitemaps: wishes.sitemaps,
            head_first: false,
            sites_in_front_max: wishes.sites_in_front_max,
            front_bytes_max: wishes.front_bytes_max,
            pace: Duration::ZERO,
            turns_in_front_max: wishes.turns_in_front_max,
            places_part: engine::settings::PLACES_PART,
            windows_urls_max: wishes.windows_urls_max,
            // Not drawn. Often each robots.txt is read beside the step, and room is for the rules of one site.
            large_robots_bytes: if self.seed % 5 < 3 { 0 } else { LARGE_ROBOTS_BYTES },
            rules_bytes_max: if self.seed.is_multiple_of(2) { 0 } else { RULES_BYTES_MAX },
            rules_read_at_once_max: if self.seed % 3 < 2 { 1 } else { RULES_READ_AT_ONCE_MAX },
            remembered_urls_max: wishes.remembered_urls_max,
            // Not drawn either. Often so few that nearly every page is judged in parts.
            links_at_once: LINKS_AT_ONCE[usize::try_from(self.seed % 7 % 3).unwrap_or_default()],
            ignore_nofollow: false,
            changes_in_text: false,
            keep: None,
            images: false,
            requisites: wishes.requisites,
            render: None,
            archive: self.has_archive,
            details: false,
            labels: self.has_archive,
            structured: false,
            main_text: false,
            documents: None,
            rules: Default::default(),
        };
        let politeness = &mut settings.site_rules.politeness;
        match self.sabotage {
            Some(Sabotage::NoDelay) => politeness.delay = Duration::ZERO,
            Some(Sabotage::NoAddressDelay) => politeness.ip_delay = Duration::ZERO,
            Some(Sabotage::NoRetryAfter) => politeness.retry_after_max = Duration::ZERO,
            Some(Sabotage::MoreConnections) => {
                politeness.connections_per_site += 1;
                politeness.ip_delay = Duration::ZERO;
            }
            Some(Sabotage::NoShares) => {
                settings.fetches_per_domain_max = usize::MAX;
                settings.fetches_per_address_max = usize::MAX;
            }
            Some(Sabotage::NoRobots) => settings.site_rules.matching = None,
            Some(Sabotage::DepthOffByOne) => settings.depth_max = settings.depth_max.map(|depth| depth + 1),
            Some(Sabotage::NoBudget) => {
                settings.pages_max = None;
                settings.site_rules.pages_per_site_max = None;
            }
            Some(Sabotage::MoreFetches) => settings.concurrency += 1,
            Some(Sabotage::NoPatience) => settings.patience = Duration::ZERO,
            Some(Sabotage::EndlessFront) => settings.front_bytes_max = usize::MAX,
            Some(Sabotage::KeepPlaces) => {
                settings.places_part = 1;
                settings.turns_in_front_max = u32::MAX;
            }
            Some(Sabotage::GiveUpAtOnce) => politeness.give_up_after = Duration::ZERO,
            _ => {}
        }
        settings
    }

    /// The same with the limits and rules of the product, for measurements.
    #[must_use]
    pub fn like_the_product(&self) -> Settings {
        let mut settings = self.settings();
        settings.filter.exclude.clear();
        settings.site_rules.politeness = frontier::Politeness::default();
        settings.site_rules.traps = TrapRules::default();
        settings.site_rules.pages_per_site_max = None;
        settings.robots_once = false;
        settings.depth_max = None;
        settings.pages_max = None;
        settings.sitemaps = false;
        settings.archive = false;
        settings.patience = PATIENCE;
        settings.sites_in_front_max = engine::settings::SITES_IN_FRONT_MAX;
        settings.front_bytes_max = engine::settings::FRONT_BYTES_MAX;
        settings.places_part = engine::settings::PLACES_PART;
        settings.turns_in_front_max = engine::settings::TURNS_IN_FRONT_MAX;
        settings.windows_urls_max = engine::settings::WINDOWS_URLS_MAX;
        settings.large_robots_bytes = LARGE_ROBOTS_BYTES;
        settings.rules_bytes_max = RULES_BYTES_MAX;
        settings.rules_read_at_once_max = RULES_READ_AT_ONCE_MAX;
        settings.remembered_urls_max = engine::settings::REMEMBERED_URLS_MAX;
        settings.links_at_once = engine::settings::LINKS_AT_ONCE;
        settings
    }
}

fn patterns() -> Vec<Pattern> {
    ["*.pdf", "*/cgi-bin/*"].iter().filter_map(|text| Pattern::new(text).ok()).collect()
}

fn wishes(rng: &mut Rng, web: &Web) -> Wishes {
    let delay = Duration::from_millis(rng.pick(&[0, 100, 1_000, 1_000, 7_000]));
    let ip_delay = Duration::from_millis(rng.pick(&[0, 250, 250, 3_000]));
    let politeness = Politeness {
        delay,
        ip_delay,
        delay_factor: if rng.chance(150) { 3.0 } else { 0.0 },
        connections_per_site: if ip_delay.is_zero() { rng.pick(&[1, 1, 3]) } else { 1 },
        ..Politeness::default()
    };
    let budget = |rng: &mut Rng, chance: u64| rng.chance(chance).then(|| rng.between(1, 20));
    // What a seed redirects to is in scope from then on only: with other seeds beside it, the order would count.
    let seed_hosts_only = rng.chance(300) && web.seeds.iter().all(|seed| web.is_page(seed));
    Wishes {
        politeness,
        concurrency: rng.pick(&[1, 3, 64]),
        share: SHARES[0],
        patience: PATIENCE,
        depth_max: rng.chance(600).then(|| u32::try_from(rng.below(6)).unwrap_or(0)),
        pages_max: budget(rng, 60),
        pages_per_site_max: budget(rng, 60),
        seed_hosts_only,
        sitemaps: rng.chance(300),
        requisites: false,
        rounds: Rounds::None,
        excludes: rng.chance(500),
        calendar_pages_max: u32::try_from(rng.between(3, 20)).unwrap_or(3),
        front_bytes_max: FRONT_BYTES[0],
        turns_in_front_max: TURNS_IN_FRONT[0],
        // Often few enough that sites have to wait in the store.
        sites_in_front_max: rng.pick(&[1, 2, 3, 1_000]),
        windows_urls_max: rng.pick(&[0, 0, 400, 100_000]),
        remembered_urls_max: rng.pick(&[0, 1, 10, 1_000]),
    }
}

fn troubles(rng: &mut Rng) -> Troubles {
    Troubles {
        crashes_max: rng.pick(&[0, 1, 5, 12]),
        crash_chance: rng.pick(&[500, 5_000, 20_000]),
        clock_chance: rng.pick(&[0, 0, 500]),
        clock_jumps: rng.pick(&[0, 0, 0, 2, 10]),
        stops: rng.pick(&[0, 0, 0, 1, 3]),
        steers: 0,
        hand_overs: 0,
        store_pause: Duration::from_millis(rng.pick(&[1, 20, 20, 5_000])),
    }
}
