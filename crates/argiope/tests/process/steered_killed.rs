//! A busy crawl is changed in each of the thirteen ways, and killed: after a change is confirmed, and while it is made.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crawl::CrawlDir;
use model::Outcome;
use settings::options::Options;
use store::CrawlView;
use testweb::synthetic::{Settings, Synthetic};
use testweb::{Pages, Web};
use weburl::CanonicalUrl;

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

/// How often the crawl is killed.
const KILLS: usize = 100;
/// Longer than anything here takes.
const AGE_MAX: Duration = Duration::from_secs(120);
/// Requests after which the crawl counts as busy.
const BUSY: u64 = 10;
/// A change is cut off as soon as the settings have it; or after up to eight times this, from the start of its command.
const CUT_AFTER: Duration = Duration::from_millis(8);
/// URLs of a site for each kill.
const OF_KILL: [&str; 3] = ["a", "b", "c"];
/// More than the queue of such a site has.
const QUEUE_MAX: usize = 10_000;

/// The kinds of changes.
const KINDS: [&str; 13] = [
    "pause", "resume", "stop", "exclude", "include", "hold", "release", "delay", "seeds", "retry", "remove", "set",
    "unset",
];

/// What is killed, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kill {
    /// The crawl, when the change is confirmed.
    Confirmed,
    /// The crawl and the command that asks for the change, while it does.
    Both,
    /// The crawl, while the command asks for the change. The command makes it on the crawl that rests.
    Crawl,
}

/// A change, by the kill that it belongs to.
#[derive(Clone, Copy, Debug)]
struct Steered {
    kind: &'static str,
    kill: usize,
}

impl Steered {
    /// The arguments of the command.
    fn arguments(self) -> Vec<String> {
        let n = self.kill;
        let each = |form: &dyn Fn(&str) -> String| ["a", "b"].map(form).to_vec();
        let values = match self.kind {
            "exclude" | "include" => each(&|part| format!("*/{}-{n}{part}/*", self.kind)),
            "hold" | "release" => each(&|part| self.site(part)),
            "delay" => [vec!["7s".to_owned()], each(&|part| self.site(part))].concat(),
            "seeds" => each(&|part| format!("http://{}/", self.site(part))),
            "retry" => vec!["http_error".to_owned(), format!("http://lost.test/{n}/*")],
            "remove" => vec![format!("http://queued.test/{n}/*")],
            "set" => [("--max-pages", 1), ("--max-pages-per-site", 2)]
                .into_iter()
                .flat_map(|(key, more)| [key.to_owned(), self.budget(more).to_string()])
                .collect(),
            "unset" => ["max-pages", "max-pages-per-site"].map(str::to_owned).to_vec(),
            _ => Vec::new(),
        };
        [vec![self.kind.to_owned()], values].concat()
    }

    fn site(self, part: &str) -> String {
        format!("{}-{}{part}.test", self.kind, self.kill)
    }

    /// More than the crawl reaches.
    fn budget(self, more: u64) -> u64 {
        1_000_000 * more + self.kill as u64
    }

    /// What has to be so before, made while the crawl rests.
    fn prepared(self) -> Option<Vec<String>> {
        match self.kind {
            "resume" => Some(vec!["pause".to_owned()]),
            "release" => Some([vec!["hold".to_owned()], self.arguments().split_off(1)].concat()),
            "unset" => Some(Steered { kind: "set", ..self }.arguments()),
            _ => None,
        }
    }

    /// Which parts of the change hold.
    fn holds(self, options: &Options, view: Option<&dyn CrawlView>) -> Vec<bool> {
        let view = || view.unwrap();
        let page = |text: &str| CanonicalUrl::from_canonical(text).unwrap();
        let urls = |site: &str| OF_KILL.map(|part| page(&format!("http://{site}/{}/{part}", self.kill)));
        let sites = ["a", "b"].map(|part| self.site(part));
        let is_held = |site: &String| options.hold.iter().any(|held| held.to_string() == *site);
        match self.kind {
            "pause" => vec![options.paused == Some(true)],
            "resume" => vec![options.paused != Some(true)],
            "exclude" => self.arguments()[1..].iter().map(|pattern| options.exclude.contains(pattern)).collect(),
            "include" => self.arguments()[1..].iter().map(|pattern| options.include.contains(pattern)).collect(),
            "hold" => sites.iter().map(is_held).collect(),
            "release" => sites.iter().map(|site| !is_held(site)).collect(),
            "delay" => {
                let is_delayed = |site: &String| options.delay_for.iter().any(|one| one.site.to_string() == *site);
                sites.iter().map(is_delayed).collect()
            }
            "seeds" => {
                let seeds = view().seeds().unwrap();
                let urls = sites.map(|site| page(&format!("http://{site}/")));
                urls.iter().flat_map(|url| [seeds.contains(url), view().get(url.key()).unwrap().is_some()]).collect()
            }
            "retry" => {
                let queue = view().pending(page("http://lost.test/").key().site, None, QUEUE_MAX).unwrap();
                urls("lost.test").iter().map(|url| queue.iter().any(|queued| queued.candidate.url == *url)).collect()
            }
            "remove" => {
                let visit = |url: &CanonicalUrl| view().get(url.key()).unwrap().unwrap().visit;
                let is_out = |url| visit(url).is_some_and(|visit| visit.outcome == Outcome::Excluded);
                urls("queued.test").iter().map(is_out).collect()
            }
            "set" => {
                vec![options.max_pages == Some(self.budget(1)), options.max_pages_per_site == Some(self.budget(2))]
            }
            "unset" => vec![options.max_pages.is_none(), options.max_pages_per_site.is_none()],
            _ => Vec::new(),
        }
    }

    /// Whether it changes the state, not the settings.
    fn is_of_state(self) -> bool {
        ["seeds", "retry", "remove"].contains(&self.kind)
    }

    /// Whether no later change of the test undoes it.
    fn lasts(self) -> bool {
        ["exclude", "include", "hold", "release", "delay", "seeds", "retry", "remove"].contains(&self.kind)
    }
}

/// A crawl of many pages. Beside it a site of which pages are lost, and one that is never asked.
fn web() -> Web {
    let links = |site: &str| {
        let of_kill = |kill: usize| OF_KILL.map(|part| format!("<a href=http://{site}/{kill}/{part}>{part}</a>"));
        (0..KILLS).flat_map(of_kill).collect::<String>()
    };
    let lost = Pages::new().html("/", format!("{}{}", links("lost.test"), links("queued.test")));
    let many = Settings { seed: 29, sites: 40, pages: 60_000, degree: 6, text_bytes_mean: 1_000 };
    Web::new().site("*.synthetic.test", Synthetic::new(many).unwrap()).site("lost.test", lost)
}

/// A crawl in its directory, with the web that it crawls.
struct Killed {
    served: Served,
    root: PathBuf,
}

impl Killed {
    fn crawl(&self, more: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.args(["crawl", "--progress", "none"]).args(self.served.flags()).args(more).arg("-o").arg(&self.root);
        command
    }

    fn steer(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(BINARY);
        command.arg("steer").arg(&self.root).args(arguments);
        command
    }

    /// Makes a change to the crawl that rests.
    fn prepare(&self, arguments: &[String]) {
        Running::start(&mut self.steer(arguments)).end().expect_code(0);
    }

    /// Starts the crawl, and waits until it answers and has much to do; in a pause only until it answers.
    fn busy(&self) -> Running {
        let socket = self.root.join("live.socket");
        if socket.exists() {
            std::fs::remove_file(&socket).unwrap();
        }
        let before = self.served.requests();
        let running = Running::start(&mut self.crawl(&[]));
        let is_paused = self.options().paused == Some(true);
        while !socket.exists() || !is_paused && self.served.requests() < before + BUSY {
            assert!(running.age() < AGE_MAX, "it does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    fn options(&self) -> Options {
        CrawlDir::existing(&self.root).unwrap().options().unwrap()
    }

    /// Which parts of each change hold, of a crawl that rests.
    fn holds(&self, changes: &[Steered]) -> Vec<Vec<bool>> {
        let (dir, options) = (CrawlDir::existing(&self.root).unwrap(), self.options());
        // It takes some time to open a state.
        let is_read = changes.iter().any(|steered| steered.is_of_state());
        let view = is_read.then(|| dir.open_to_read(&options).unwrap());
        changes.iter().map(|steered| steered.holds(&options, view.as_deref())).collect()
    }

    /// The changes that are told.
    fn told(&self) -> usize {
        std::fs::read_to_string(self.root.join("changes.jsonl")).unwrap_or_default().lines().count()
    }

    fn settings(&self) -> String {
        std::fs::read_to_string(self.root.join("crawl.toml")).unwrap()
    }

    /// Waits until a change is about to be confirmed: for some time, or until the settings have it.
    fn wait_for_half(&self, steered: Steered, asking: &mut Running, before: &str) {
        if steered.kill.is_multiple_of(2) {
            std::thread::sleep(CUT_AFTER * u32::try_from(steered.kill % 10).unwrap());
            return;
        }
        while !asking.has_ended() && self.settings() == before {
            assert!(asking.age() < AGE_MAX, "{steered:?} is not made");
        }
    }

    /// Asks for a change and kills. True if it was confirmed.
    fn kill(&self, mut running: Running, steered: Steered, kill: Kill) -> bool {
        let before = self.settings();
        let mut asking = Running::start(&mut self.steer(&steered.arguments()));
        if kill == Kill::Confirmed {
            asking.end().expect_code(0);
            running.kill();
            return true;
        }
        self.wait_for_half(steered, &mut asking, &before);
        // A crawl that was told to stop may have ended.
        assert!(steered.kind == "stop" || !running.has_ended(), "{steered:?}");
        running.kill();
        if kill == Kill::Both && !asking.has_ended() {
            asking.kill();
            return false;
        }
        let Ended { status, stderr, .. } = asking.end();
        // These two are for a crawl that runs.
        let may_fail = ["stop", "seeds"].contains(&steered.kind);
        assert!(status.success() || may_fail, "{steered:?}: {stderr}");
        status.success()
    }
}

#[test]
fn every_confirmed_change_outlives_kill_9_and_others_are_made_as_a_whole_or_not() {
    let dirs = tempfile::tempdir().unwrap();
    let crawl = Killed { served: Served::start(web()), root: dirs.path().join("crawl") };
    let first = ["http://lost.test/", "--scope", "any", "--include", "*", "--ip-delay", "0", "--delay", "0"];
    let first = [&first[..], &["--hold", "queued.test", "--no-sitemaps"]].concat();
    Running::start(&mut crawl.crawl(&first)).end().expect_code(3);
    let hold = ["http://s0000.synthetic.test/p/0", "--hold", "queued.test", "--hold", "lost.test", "--delay", "50ms"];
    let begun = Running::start(&mut crawl.crawl(&hold));
    while crawl.served.requests() < 3 * KILLS as u64 + 2 * BUSY {
        assert!(begun.age() < AGE_MAX, "it does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(begun.kill());

    let (mut lasting, mut unconfirmed) = (Vec::new(), [0, 0]);
    for n in 0..KILLS {
        let steered = Steered { kind: KINDS[n % KINDS.len()], kill: n };
        let kill = [Kill::Confirmed, Kill::Both, Kill::Crawl][n / KINDS.len() % 3];
        if let Some(before) = steered.prepared() {
            crawl.prepare(&before);
        }
        let running = crawl.busy();
        // By now, the journal has a change of the kill before that only the settings had.
        let before = crawl.told();
        let is_confirmed = crawl.kill(running, steered, kill);
        let (holds, told) = (crawl.holds(&[steered]).concat(), crawl.told() - before);
        let (all, none) = (holds.iter().all(|holds| *holds), !holds.contains(&true));
        assert!(all || none, "{steered:?} {kill:?}: {holds:?}");
        assert!(told <= 1, "{steered:?} {kill:?}: the journal has it {told} times");
        if is_confirmed || told == 1 {
            assert!(all && (told == 1 || !is_confirmed), "{steered:?} {kill:?}: {holds:?}, told {told} times");
            lasting.extend(Some(steered).filter(|steered| steered.lasts()));
        } else {
            unconfirmed[usize::from(all)] += 1;
        }
        if crawl.options().paused == Some(true) {
            crawl.prepare(&["resume".to_owned()]);
        }
    }
    println!("not confirmed: {} were not made, {} were", unconfirmed[0], unconfirmed[1]);
    for (steered, holds) in lasting.iter().zip(crawl.holds(&lasting)) {
        assert!(!holds.contains(&false), "{steered:?}: a later kill has undone it");
    }
}
