//! Tables in orders for which the state has no index: all rows are looked at, and the first ones kept.
//!
//! A request looks at as many rows as an answer may. Where that is not all of them, a thread of its own looks on, and pages say how far it is;
//! the rows that it found stay for the pages behind the first, as long as they hold.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use anyhow::anyhow;
use ask::order::{First, Sorting};
use ask::urls::Listed;
use crawl::opened::{Opened, has_ended};
use engine::clock::Clock;
use model::Timestamp;
use store::{CrawlView, StoreError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Rows that are sorted: the first ones. The others are counted.
pub const SORTED_MAX: usize = 10_000;
/// Tables of a kind that are kept or looked for at a time.
const TABLES_MAX: usize = 4;
/// How long a request waits for rows that others are looked for. Then its page says how far that is.
const WAIT_MAX: Duration = Duration::from_millis(40);
/// A table holds so long at least, also if the crawl goes on: who follows links from page to page finds it sorted.
const HOLDS_FOR_MIN: Duration = Duration::from_secs(60);
/// Its pages behind the first hold so long at least: a reader goes on from page to page. Later, an old address shows no old rows.
const PAGED_FOR_MIN: Duration = Duration::from_secs(3_600);
/// It holds this many times as long as it took. So viewers read a crawl for a small part of the time only.
const HOLDS_TIMES: u32 = 10;

/// A crawl that is read.
pub trait Source: Send + Sync + 'static {
    /// Its state.
    fn view(&self) -> &dyn CrawlView;
}

impl Source for Opened {
    fn view(&self) -> &dyn CrawlView {
        self.view()
    }
}

/// Looks for the first rows of a table, part by part.
pub trait Looking: Send + 'static {
    /// A row.
    type Row: Send + Sync + 'static;

    /// Looks at some rows more, as many as an answer may.
    ///
    /// # Errors
    /// The state cannot be read.
    fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError>;

    /// Whether there is nothing more to look at.
    fn is_complete(&self) -> bool;

    /// How far it is.
    fn so_far(&self) -> SoFar;

    /// The first rows of those that it looked at.
    fn into_first(self) -> First<Self::Row>;
}

impl Looking for Sorting {
    type Row = Listed;

    fn look_on(&mut self, view: &dyn CrawlView) -> Result<(), StoreError> {
        self.look_on(view)
    }

    fn is_complete(&self) -> bool {
        self.is_complete()
    }

    fn so_far(&self) -> SoFar {
        SoFar { looked_at: self.looked_at(), found: self.found() }
    }

    fn into_first(self) -> First<Listed> {
        self.into_first()
    }
}

/// How far a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoFar {
    /// Rows that were looked at.
    pub looked_at: u64,
    /// Rows of the table among them.
    pub found: u64,
}

/// What comes of a request for a sorted table.
pub enum Stage<R> {
    /// It is there.
    Sorted(Arc<First<R>>),
    /// It is looked for.
    Looking(SoFar),
    /// As many tables as may be are looked for.
    Busy,
}

/// Tables by what was asked.
type Tables<Q, R, S> = VecDeque<(Q, Arc<Table<R, S>>)>;

/// The tables that were asked for last, by what was asked: `Q`. Their rows are read from `S`.
pub struct Sortings<Q, R, S> {
    tables: Mutex<Tables<Q, R, S>>,
    clock: Arc<Clock>,
    turns: Arc<Semaphore>,
    /// What looks on for a table stops when this is gone: the process ends.
    is_there: Arc<()>,
}

/// A table that took more than one answer may.
struct Table<R, S> {
    of: Weak<S>,
    began: Timestamp,
    state: Mutex<State<R>>,
    advanced: Condvar,
}

enum State<R> {
    Looking(SoFar),
    /// With the time when it was there.
    Sorted(Arc<First<R>>, Timestamp),
    Failed(Option<anyhow::Error>),
}

/// What there is of places for a table.
enum Place<R, S> {
    New(Arc<Table<R, S>>),
    /// It is looked for there.
    Taken(Arc<Table<R, S>>),
    /// All have tables that are looked for.
    None,
}

/// A table as long as it is looked for. However that ends, it is not looked for any more then: no place is lost by a panic.
struct LookedFor<R, S>(Arc<Table<R, S>>);

impl<R, S> LookedFor<R, S> {
    fn ends(&self, state: State<R>) {
        *self.0.state() = state;
        self.0.advanced.notify_all();
    }
}

impl<R, S> Drop for LookedFor<R, S> {
    fn drop(&mut self) {
        if self.0.is_looked_for() {
            self.ends(State::Failed(Some(anyhow!("internal error: the table was not sorted to its end"))));
        }
    }
}

impl<Q: Clone + PartialEq, R: Send + Sync + 'static, S: Source> Sortings<Q, R, S> {
    /// No table was asked for so far. Each part of one is read when it has its turn among `turns`.
    pub fn new(turns: Arc<Semaphore>) -> Self {
        Sortings { tables: Mutex::default(), clock: Arc::new(Clock::start()), turns, is_there: Arc::default() }
    }

    /// The table of `question`. `begin` begins to look for it. A page behind the first, `goes_on`, has the rows that the first had.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub fn of<L: Looking<Row = R>>(
        &self,
        crawl: &Arc<S>,
        question: &Q,
        goes_on: bool,
        begin: impl FnOnce() -> L,
    ) -> anyhow::Result<Stage<R>> {
        if let Some(table) = self.kept(crawl, question, goes_on) {
            match table.wait() {
                Ok(stage) => return Ok(stage),
                Err(error) => {
                    self.tables().retain(|(_, kept)| !Arc::ptr_eq(kept, &table));
                    // The crawl that was read has ended: it rests now.
                    if !has_ended(&error) {
                        return Err(error);
                    }
                }
            }
        }
        let mut looking = begin();
        looking.look_on(crawl.view())?;
        if looking.is_complete() {
            return Ok(Stage::Sorted(Arc::new(looking.into_first())));
        }
        match self.place(crawl, question, looking.so_far()) {
            Place::None => Ok(Stage::Busy),
            Place::Taken(table) => table.wait(),
            Place::New(table) => {
                self.look_on(LookedFor(table.clone()), looking, crawl.clone());
                table.wait()
            }
        }
    }

    /// Looks on for a table, on a thread of its own.
    fn look_on<L: Looking<Row = R>>(&self, table: LookedFor<R, S>, looking: L, crawl: Arc<S>) {
        let (runtime, turns, clock) = (Handle::current(), self.turns.clone(), self.clock.clone());
        let process = Arc::downgrade(&self.is_there);
        Handle::current().spawn_blocking(move || {
            let turn = || runtime.block_on(turns.acquire());
            match table.0.look(looking, crawl.view(), turn, || process.strong_count() > 0) {
                Ok(first) => table.ends(State::Sorted(Arc::new(first), clock.now())),
                Err(error) => table.ends(State::Failed(Some(error.into()))),
            }
        });
    }

    fn tables(&self) -> MutexGuard<'_, Tables<Q, R, S>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table of a question, if there is one that holds, or one that is looked for.
    fn kept(&self, crawl: &Arc<S>, question: &Q, goes_on: bool) -> Option<Arc<Table<R, S>>> {
        let tables = self.tables();
        let (_, table) = tables.iter().rev().find(|(asked, _)| asked == question)?;
        let holds = match &*table.state() {
            State::Looking(_) | State::Failed(_) => true,
            // Of a state in a database it is not known whether it is another by now.
            State::Sorted(_, ended) => {
                let holds_for_min = if goes_on { PAGED_FOR_MIN } else { HOLDS_FOR_MIN };
                let holds_for = (ended.since(table.began) * HOLDS_TIMES).max(holds_for_min);
                let is_of_this = || table.of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, crawl));
                self.clock.now() < *ended + holds_for || is_of_this()
            }
        };
        holds.then(|| table.clone())
    }

    /// A place for a table: that of the oldest one which is not looked for any more.
    fn place(&self, crawl: &Arc<S>, question: &Q, so_far: SoFar) -> Place<R, S> {
        let mut tables = self.tables();
        tables.retain(|(asked, table)| asked != question || table.is_looked_for());
        // Another request may have begun at the same time.
        if let Some((_, table)) = tables.iter().find(|(asked, _)| asked == question) {
            return Place::Taken(table.clone());
        }
        if tables.len() >= TABLES_MAX {
            match tables.iter().position(|(_, table)| !table.is_looked_for()) {
                Some(oldest) => drop(tables.remove(oldest)),
                None => return Place::None,
            }
        }
        let table = Arc::new(Table {
            of: Arc::downgrade(crawl),
            began: self.clock.now(),
            state: Mutex::new(State::Looking(so_far)),
            advanced: Condvar::new(),
        });
        tables.push_back((question.clone(), table.clone()));
        Place::New(table)
    }
}

impl<R, S> Table<R, S> {
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_looked_for(&self) -> bool {
        matches!(&*self.state(), State::Looking(_))
    }

    /// Looks at all rows that are left, each part while it holds a turn, as long as it `goes_on`. What has not come to its end is nobody's to see.
    fn look<L: Looking<Row = R>, T>(
        &self,
        mut looking: L,
        view: &dyn CrawlView,
        turn: impl Fn() -> T,
        goes_on: impl Fn() -> bool,
    ) -> Result<First<R>, StoreError> {
        while !looking.is_complete() && goes_on() {
            let _turn = turn();
            looking.look_on(view)?;
            *self.state() = State::Looking(looking.so_far());
        }
        Ok(looking.into_first())
    }

    /// How far it is, after a moment.
    ///
    /// # Errors
    /// The crawl could not be read. The first answer says so.
    fn wait(&self) -> anyhow::Result<Stage<R>> {
        let is_looking = |state: &mut State<R>| matches!(state, State::Looking(_));
        let mut state = self
            .advanced
            .wait_timeout_while(self.state(), WAIT_MAX, is_looking)
            .map_or_else(|poisoned| poisoned.into_inner().0, |woken| woken.0);
        match &mut *state {
            State::Looking(so_far) => Ok(Stage::Looking(*so_far)),
            State::Sorted(first, _) => Ok(Stage::Sorted(first.clone())),
            State::Failed(error) => {
                Err(error.take().unwrap_or_else(|| anyhow!("the crawl could not be read: ask again")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc::sync_channel;

    use crawl::CrawlDir;
    use engine::clock::Readings;
    use settings::options::Options;
    use tempfile::TempDir;
    use tokio::runtime::Runtime;

    use super::*;

    /// Longer than any of these takes; and so many times a request waits.
    const TIME_MAX: Duration = Duration::from_secs(20);
    const ASKED_MAX: u32 = 500;

    /// Looks for rows that never come to an end, or breaks off.
    struct Never {
        breaks_off: bool,
        looks: u64,
        _token: Arc<()>,
    }

    impl Looking for Never {
        type Row = ();

        fn look_on(&mut self, _: &dyn CrawlView) -> Result<(), StoreError> {
            self.looks += 1;
            assert!(!self.breaks_off || self.looks < 2, "it breaks off behind the request");
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }

        fn is_complete(&self) -> bool {
            false
        }

        fn so_far(&self) -> SoFar {
            SoFar { looked_at: self.looks, found: 0 }
        }

        fn into_first(self) -> First<()> {
            First { rows: Vec::new(), of: 0 }
        }
    }

    /// Looks for a row that is in the second part.
    struct Soon(u64);

    impl Looking for Soon {
        type Row = ();

        fn look_on(&mut self, _: &dyn CrawlView) -> Result<(), StoreError> {
            self.0 += 1;
            Ok(())
        }

        fn is_complete(&self) -> bool {
            self.0 > 1
        }

        fn so_far(&self) -> SoFar {
            SoFar { looked_at: self.0, found: 0 }
        }

        fn into_first(self) -> First<()> {
            First { rows: vec![()], of: 1 }
        }
    }

    static AWAKE: AtomicU64 = AtomicU64::new(0);

    /// A crawl, and its tables.
    struct Lab {
        _dir: TempDir,
        crawl: Arc<Opened>,
        tables: Arc<Sortings<u8, (), Opened>>,
        runtime: Runtime,
        token: Arc<()>,
    }

    impl Lab {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a directory");
            let dir = CrawlDir::at(root.path());
            dir.create().expect("made");
            dir.write_options(&Options::default()).expect("written");
            drop(dir.open_store(&Options::default()).expect("a state"));
            let crawl = Arc::new(Opened::new(root.path()).expect("a crawl"));
            let tables = Arc::new(Sortings::new(Arc::new(Semaphore::new(1))));
            Lab { _dir: root, crawl, tables, runtime: Runtime::new().expect("threads"), token: Arc::default() }
        }

        /// Asks for a table, on a thread for what blocks; where it begins to look, it waits for `both`.
        fn ask(
            &self,
            question: u8,
            breaks_off: bool,
            both: Option<Arc<Barrier>>,
        ) -> tokio::task::JoinHandle<anyhow::Result<Stage<()>>> {
            let (tables, crawl, token) = (self.tables.clone(), self.crawl.clone(), self.token.clone());
            self.runtime.spawn_blocking(move || {
                tables.of(&crawl, &question, false, || {
                    if let Some(both) = both {
                        both.wait();
                    }
                    Never { breaks_off, looks: 0, _token: token }
                })
            })
        }
    }

    #[test]
    fn what_is_looked_for_ends_with_the_process() {
        let lab = Lab::new();
        let asked = lab.runtime.block_on(lab.ask(1, false, None)).expect("no panic");
        assert!(matches!(asked, Ok(Stage::Looking(_))));
        let Lab { tables, runtime, .. } = lab;
        drop(tables);
        let (ended, end) = sync_channel(1);
        std::thread::spawn(move || {
            drop(runtime);
            ended.send(())
        });
        end.recv_timeout(TIME_MAX).expect("nothing is looked for any more");
    }

    #[test]
    fn a_table_that_breaks_off_takes_no_place() {
        let lab = Lab::new();
        for question in 0..=TABLES_MAX as u8 {
            let ask = |_| lab.runtime.block_on(lab.ask(question, true, None)).expect("no panic here").err();
            let error = (0..ASKED_MAX).find_map(ask).expect("it broke off").to_string();
            assert_eq!(error, "internal error: the table was not sorted to its end");
        }
    }

    #[test]
    fn requests_at_the_same_time_look_for_a_table_once() {
        let lab = Lab::new();
        let both = Arc::new(Barrier::new(2));
        let asked = [both.clone(), both].map(|both| lab.ask(1, false, Some(both)));
        for asked in asked {
            assert!(matches!(lab.runtime.block_on(asked).expect("no panic"), Ok(Stage::Looking(_))));
        }
        assert_eq!(lab.tables.tables().len(), 1);
        // One is ours.
        assert_eq!(Arc::strong_count(&lab.token), 2);
        drop(lab.tables);
    }

    #[test]
    fn pages_behind_the_first_are_of_its_table_for_a_while() {
        let lab = Lab::new();
        let readings = Readings { date: Timestamp::default, awake: || Duration::from_secs(AWAKE.load(SeqCst)) };
        let tables = Sortings::new(Arc::new(Semaphore::new(1)));
        let tables = Sortings { clock: Arc::new(Clock::reading(readings)), ..tables };
        // How many tables are begun until this page is there, of a state that may be another each time.
        let begun = |goes_on| {
            let begun = Cell::new(0);
            let begin = || {
                begun.set(begun.get() + 1);
                Soon(0)
            };
            let crawl = Arc::new(Opened::new(lab.crawl.dir.root()).expect("a crawl"));
            let _within = lab.runtime.enter();
            while !matches!(tables.of(&crawl, &1, goes_on, begin), Ok(Stage::Sorted(_))) {}
            begun.get()
        };
        assert_eq!([begun(false), begun(false), begun(true)], [1, 0, 0]);
        AWAKE.fetch_add(HOLDS_FOR_MIN.as_secs(), SeqCst);
        assert_eq!([begun(true), begun(false)], [0, 1]);
        AWAKE.fetch_add(PAGED_FOR_MIN.as_secs(), SeqCst);
        assert_eq!([begun(true), begun(true)], [1, 0]);
    }
}
