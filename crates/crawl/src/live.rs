//! A running crawl answers other processes at a socket in its directory: about its state after the last commit, or by completing the files
//! of its dataset.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use engine::clock::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use settings::units::Span;
use settings::{Usage, usage};
use store::{CrawlView, StoreError};
use view_wire::{RemoteView, WireError};

use crate::held::Identity;
use crate::socket::{SOCKET, SOCKET_BEGUN, connect, socket_in, stopped};
use crate::steer::{Change, OrderId, TakeBack};
use crate::{LiveView, Scheduler, Unready};

pub use crate::socket::runs;

/// Asks for the files to be completed.
const PUBLISH: &str = "publish\n";
/// What one may do that got no answer to this, or to a question.
const TRY_LATER: &str = "try again later";
/// The reply when they are complete.
const PUBLISHED: &str = "published\n";
/// Asks for a view of the state.
const VIEW: &str = "view\n";
/// Begins a request to change the crawl; the name of the order and the change as JSON follow.
const STEER: &str = "steer ";
/// Begins a request to take a change back; the name of the order and the order as JSON follow.
const TAKE_BACK: &str = "take back ";
/// The reply when what takes it back is something else by now.
const OUTDATED: &str = "outdated\n";
/// The reply when the change is in force; or with the number of URLs behind it, if it is one of the queue.
const STEERED: &str = "steered\n";
const STEERED_URLS: &str = "steered ";
/// Begins the reply to a change that cannot be used; why follows.
const REFUSED: &str = "refused: ";
/// The longest request, in bytes: a change may have many seeds.
const REQUEST_BYTES_MAX: u64 = 1 << 20;
/// Processes that are answered at once. Each keeps a snapshot of the state. Others wait for their turn.
const ASKING_MAX: usize = 32;
/// How often a waiting process checks for a free place.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often, and how long each time, the end of a crawl waits for answers that are being written.
const LAST_LOOKS_MAX: u32 = 200;
const LAST_LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long a process may take to send its request after it connected.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a process may take to read an answer.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// How long a process with a view may send no request: it may be busy with a large answer.
const THINKS_MAX: Duration = Duration::from_secs(3_600);
/// The longest that a crawl may take to answer, and so to complete its files; and to send the rest of an answer that has begun.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(300);
const REST_TIME_MAX: Duration = Duration::from_secs(5);
/// How often is looked whether the process that is asked was stopped; and how long it may be stopped.
const LOOK_WHETHER_STOPPED_EVERY: Duration = Duration::from_secs(1);
const STOPPED_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest reply to a publish request, in bytes.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// The answers of a running crawl.
pub struct Answers {
    /// Makes a view of the state.
    pub view: Box<dyn Fn() -> Result<Box<dyn CrawlView>, StoreError> + Send + Sync>,
    /// Completes the files of the dataset; `None` without a dataset.
    pub publish: Option<Box<dyn Fn() -> anyhow::Result<()> + Send + Sync>>,
    /// Changes the crawl; `None` if it is changed elsewhere.
    pub steer: Option<Steer>,
    /// Asks the scheduler; `None` if it cannot be asked.
    pub scheduler: Option<Scheduler>,
}

/// An order to change a crawl.
#[derive(Debug)]
pub struct Order {
    /// Its name.
    pub id: OrderId,
    /// What it says.
    pub what: Ordered,
}

/// What an order says.
#[derive(Debug)]
pub enum Ordered {
    /// To make a change.
    Make(Change),
    /// To take one back.
    TakeBack(TakeBack),
}

/// Changes a crawl. Of a change of the queue it returns the number of URLs.
pub type Steer = Box<dyn Fn(&Order) -> anyhow::Result<Option<u64>> + Send + Sync>;

/// A change that is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InForce {
    /// The URLs that it changed in the queue, if that is what it does.
    pub urls: Option<u64>,
}

/// Listens until it is dropped.
pub struct Live {
    /// The directory, wherever it is now.
    dir: File,
    /// Of the socket.
    identity: Identity,
    /// The listening socket once more.
    listener: UnixStream,
    asking: Arc<Asking>,
    thread: Option<JoinHandle<()>>,
}

/// The open connections, and the answers until the crawl is over.
struct Asking {
    answers: Mutex<Option<Arc<Answers>>>,
    connections: Mutex<Connections>,
    /// A connection has ended.
    freed: Condvar,
}

#[derive(Default)]
struct Connections {
    next: u64,
    open: BTreeMap<u64, (UnixStream, Option<JoinHandle<()>>)>,
}

impl Live {
    /// Listens in a crawl's directory. Some network file systems cannot hold a socket. Then there is no listener, and for other processes
    /// the crawl is in use.
    #[must_use]
    pub fn listen(root: &Path, answers: Answers) -> Option<Self> {
        let dir = File::open(root).ok()?;
        let begun = socket_in(&dir, SOCKET_BEGUN);
        // What a process left that was killed; only one can have the crawl.
        let _ = std::fs::remove_file(&begun);
        let listener = UnixListener::bind(&begun).ok()?;
        let identity = Identity::of(&begun).ok()?;
        // A socket exists before it takes connections (bind(2), listen(2)). Under this name it always takes them.
        if std::fs::rename(&begun, socket_in(&dir, SOCKET)).is_err() {
            let _ = std::fs::remove_file(&begun);
            return None;
        }
        let woken_by = UnixStream::from(OwnedFd::from(listener.try_clone().ok()?));
        let answers = Mutex::new(Some(Arc::new(answers)));
        let asking = Arc::new(Asking { answers, connections: Mutex::default(), freed: Condvar::new() });
        let asked = asking.clone();
        let serve = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if locked(&asked.answers).is_none() {
                    return;
                }
                asked.take_up(stream);
            }
        };
        let thread = std::thread::Builder::new().name("live".to_owned()).spawn(serve).ok()?;
        Some(Live { dir, identity, listener: woken_by, asking, thread: Some(thread) })
    }
}

impl Asking {
    /// Answers on a thread of its own, as soon as there is a place. A connection that cannot have a thread is closed.
    fn take_up(self: &Arc<Self>, stream: UnixStream) {
        let mut connections = locked(&self.connections);
        loop {
            connections.open.retain(|_, (_, thread)| thread.as_ref().is_none_or(|thread| !thread.is_finished()));
            if connections.open.len() < ASKING_MAX {
                break;
            }
            if locked(&self.answers).is_none() {
                return;
            }
            let waited = self.freed.wait_timeout(connections, LOOK_EVERY);
            connections = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let Ok(closing) = stream.try_clone() else { return };
        let (asking, mut stream) = (self.clone(), stream);
        let answer = move || {
            asking.answer(&mut stream);
            // It is among the connections too.
            let _ = stream.shutdown(Shutdown::Both);
            asking.freed.notify_one();
        };
        let Ok(thread) = std::thread::Builder::new().name("live view".to_owned()).spawn(answer) else { return };
        let number = connections.next;
        connections.next += 1;
        connections.open.insert(number, (closing, Some(thread)));
    }

    /// Answers one connection. Write errors do not matter: the peer has gone.
    fn answer(&self, stream: &mut UnixStream) {
        let set =
            stream.set_read_timeout(Some(REQUEST_TIME_MAX)).and_then(|()| stream.set_write_timeout(Some(SILENCE_MAX)));
        let mut request = String::new();
        // Nothing behind the line is taken: it is the view's.
        let read = BufReader::with_capacity(1, (&mut *stream).take(REQUEST_BYTES_MAX)).read_line(&mut request);
        let Some(answers) = locked(&self.answers).clone().filter(|_| set.is_ok() && read.is_ok()) else { return };
        match (request.as_str(), &answers.publish) {
            (PUBLISH, Some(publish)) => {
                // While the database is away, the thread that completes the files would wait, and the question with it.
                let said = (answers.view)().map_err(|error| anyhow!("{error}")).and_then(|_| publish());
                let said = said.map_or_else(|error| format!("{error:#}\n"), |()| PUBLISHED.to_owned());
                let _ = stream.write_all(said.as_bytes());
            }
            (VIEW, _) => {
                // Looked at before: the view may lack a change that is made meanwhile.
                let scheduler = answers.scheduler.clone().map(|scheduler| (scheduler.changes(), scheduler));
                let Ok(view) = (answers.view)() else { return };
                // The view and the scheduler are enough from here on.
                drop(answers);
                let _ = stream.set_read_timeout(Some(THINKS_MAX));
                let answer = |asked: &str| scheduler.as_ref().and_then(|(changes, of)| of.answer(asked, *changes));
                let _ = view_wire::serve(stream, &*view, &answer);
            }
            _ => {
                let Some(request) = request.strip_suffix('\n') else { return };
                let Some(steered) = answers.steer(request) else { return };
                let said = match steered {
                    Ok(None) => STEERED.to_owned(),
                    Ok(Some(urls)) => format!("{STEERED_URLS}{urls}\n"),
                    Err(error) if matches!(error.downcast_ref(), Some(Unready::Outdated)) => OUTDATED.to_owned(),
                    // Without an answer the change is made of the crawl that rests.
                    Err(error) if error.is::<Unready>() => return,
                    Err(error) if error.is::<Usage>() => format!("{REFUSED}{error:#}\n"),
                    Err(error) => format!("{error:#}\n"),
                };
                let _ = stream.write_all(said.as_bytes());
            }
        }
    }
}

impl Answers {
    /// What comes of a request to change the crawl; `None` if it is no such request.
    fn steer(&self, request: &str) -> Option<anyhow::Result<Option<u64>>> {
        let (is_back, order) = match (request.strip_prefix(STEER), request.strip_prefix(TAKE_BACK)) {
            (Some(order), _) => (false, order),
            (None, Some(order)) => (true, order),
            (None, None) => return None,
        };
        let read = || {
            let (id, what) = order.split_once(' ')?;
            let what = match is_back {
                false => serde_json::from_str(what).map(Ordered::Make),
                true => serde_json::from_str(what).map(Ordered::TakeBack),
            };
            Some(Order { id: OrderId::read(id)?, what: what.ok()? })
        };
        let order = read().context("another version of this program runs the crawl");
        let steered = match &self.steer {
            Some(steer) => order.and_then(|order| steer(&order)),
            None => Err(anyhow!("this process is one of several workers: steer them by `argiope client`")),
        };
        // A part of a change that failed may be made.
        if let Some(scheduler) = &self.scheduler {
            scheduler.changed();
        }
        Some(steered)
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Live {
    fn drop(&mut self) {
        locked(&self.asking.answers).take();
        // The thread waits for someone to connect. A listening socket that is shut down wakes it (unix(7)), whatever lies at the path.
        let woken = self.listener.shutdown(Shutdown::Both);
        let path = socket_in(&self.dir, SOCKET);
        // The socket of another crawl, which began in this one's place, stays.
        if Identity::of(&path).ok() == Some(self.identity) {
            let _ = std::fs::remove_file(path);
        }
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            // If it panicked, nobody is answered: that is all.
            let _ = thread.join();
        }
        // Views keep the state open; the next process must find it closed.
        let open: Vec<_> = std::mem::take(&mut locked(&self.asking.connections).open).into_values().collect();
        for (stream, _) in &open {
            let _ = stream.shutdown(Shutdown::Read);
        }
        // An answer that is being written still comes: `stop` may be what ends the crawl.
        let answers = |(_, thread): &(_, Option<JoinHandle<()>>)| thread.as_ref().is_some_and(|it| !it.is_finished());
        for _ in 0..LAST_LOOKS_MAX {
            if !open.iter().any(answers) {
                break;
            }
            std::thread::sleep(LAST_LOOK_EVERY);
        }
        for (stream, thread) in open {
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.map(JoinHandle::join);
        }
    }
}

/// The state of the crawl that runs in a directory, after its last commit. `None` if none runs, or none that answers.
///
/// # Errors
/// Another version of this program runs it.
pub fn view(root: &Path) -> anyhow::Result<Option<LiveView>> {
    let Some(mut live) = asked(root, VIEW, TRY_LATER)? else { return Ok(None) };
    // A busy crawl may take long to answer the questions that follow, too.
    live.set_read_timeout(Some(ANSWER_TIME_MAX))?;
    let _ = live.flush();
    match RemoteView::new(live) {
        Ok(view) => Ok(Some(LiveView::new(view))),
        Err(error @ (WireError::Version | WireError::Late)) => Err(error.into()),
        // It ended just now.
        Err(_) => Ok(None),
    }
}

/// Asks a running crawl to complete the files of its dataset. False if no crawl is running.
///
/// # Errors
/// The crawl could not complete them.
pub fn publish(root: &Path) -> anyhow::Result<bool> {
    let Some(said) = answer_to(root, PUBLISH, TRY_LATER)? else { return Ok(false) };
    match said.as_str() {
        PUBLISHED => Ok(true),
        error => bail!("the running crawl cannot complete its dataset: {}", error.trim_end()),
    }
}

/// Changes the crawl that runs in a directory. `None` if none runs, or none that answers: it may have carried the order out before it ended.
///
/// # Errors
/// The change cannot be used, or could not be made.
pub fn steer(root: &Path, order: &OrderId, change: &Change) -> anyhow::Result<Option<InForce>> {
    ordered(root, &format!("{STEER}{} {}\n", order.as_str(), serde_json::to_string(change)?))
}

/// Takes a change of the crawl back that runs in a directory. `None` as for [`steer`].
///
/// # Errors
/// As [`steer`]; or [`Unready::Outdated`].
pub fn take_back(root: &Path, order: &OrderId, back: &TakeBack) -> anyhow::Result<Option<InForce>> {
    ordered(root, &format!("{TAKE_BACK}{} {}\n", order.as_str(), serde_json::to_string(back)?))
}

fn ordered(root: &Path, request: &str) -> anyhow::Result<Option<InForce>> {
    if request.len() as u64 > REQUEST_BYTES_MAX {
        bail!(usage(format!("the change is longer than {REQUEST_BYTES_MAX} bytes: make it in parts")));
    }
    let may_come = format!("it may still make the change: `argiope status {}` names those made", root.display());
    let Some(said) = answer_to(root, request, &may_come)? else { return Ok(None) };
    let urls = said.strip_prefix(STEERED_URLS).and_then(|urls| urls.strip_suffix('\n')?.parse().ok());
    match (said.as_str(), said.strip_prefix(REFUSED)) {
        (STEERED, _) => Ok(Some(InForce { urls: None })),
        _ if urls.is_some() => Ok(Some(InForce { urls })),
        (OUTDATED, _) => bail!(Unready::Outdated),
        (_, Some(why)) => Err(usage(why.trim_end())),
        (error, None) => bail!("the running crawl cannot be changed: {}", error.trim_end()),
    }
}

/// A connection on which a running crawl has begun to answer a request; `None` if none runs.
///
/// # Errors
/// The process that crawls is stopped, and was for a while; or no answer comes in time.
fn asked(root: &Path, request: &str, if_late: &str) -> anyhow::Result<Option<UnixStream>> {
    await_going_on(root)?;
    let Some(live) = connect(root, request) else { return Ok(None) };
    await_answer(root, &live, ANSWER_TIME_MAX, if_late)?;
    Ok(Some(live))
}

/// Waits until an answer begins, or the connection ends.
fn await_answer(root: &Path, live: &UnixStream, time_max: Duration, if_late: &str) -> anyhow::Result<()> {
    let clock = Clock::start();
    let ends_at = clock.now() + time_max;
    loop {
        let left = ends_at.since(clock.now());
        let wait = Timespec::try_from(left.min(LOOK_WHETHER_STOPPED_EVERY))?;
        if poll(&mut [PollFd::new(live, PollFlags::IN)], Some(&wait)).is_ok_and(|ready| ready > 0) {
            return Ok(());
        }
        if left.is_zero() {
            bail!("the running crawl has not answered within {}: {if_late}", Span(time_max));
        }
        await_going_on(root)?;
    }
}

/// Waits while the process that crawls is stopped.
///
/// # Errors
/// It still is after [`STOPPED_TIME_MAX`].
fn await_going_on(root: &Path) -> anyhow::Result<()> {
    let clock = Clock::start();
    let began = clock.now();
    loop {
        let Some((process, pid)) = stopped(root) else { return Ok(()) };
        if clock.now().since(began) >= STOPPED_TIME_MAX {
            bail!(Unready::Stopped { root: root.to_owned(), process, pid });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The answer of a running crawl to a request; `None` if none runs, it ended just now, or it cannot answer this.
fn answer_to(root: &Path, request: &str, if_late: &str) -> anyhow::Result<Option<String>> {
    let Some(live) = asked(root, request, if_late)? else { return Ok(None) };
    live.set_read_timeout(Some(REST_TIME_MAX))?;
    let mut said = String::new();
    match live.take(ANSWER_BYTES_MAX).read_to_string(&mut said) {
        Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
        // The system calls this a resource that is unavailable, as it does a thread that cannot begin.
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            bail!("the answer of the running crawl broke off: {if_late}")
        }
        read => read?,
    };
    Ok(Some(said).filter(|said| !said.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use store::{MemoryStore, Store};

    use super::*;

    fn publishing(publish: impl Fn() -> anyhow::Result<()> + Send + Sync + 'static) -> Answers {
        Answers {
            view: Box::new(|| MemoryStore::new().view()),
            publish: Some(Box::new(publish)),
            steer: None,
            scheduler: None,
        }
    }

    #[test]
    fn a_crawl_that_does_not_answer_in_time_is_named_and_no_limit_of_the_system() {
        let (live, mut silent) = UnixStream::pair().expect("a pair");
        let root = tempfile::tempdir().expect("a directory");
        let clock = Clock::start();
        let began = clock.now();
        let awaited = || await_answer(root.path(), &live, Duration::from_millis(10), TRY_LATER);
        let error = awaited().expect_err("no answer");
        assert_eq!(error.to_string(), "the running crawl has not answered within 10ms: try again later");
        assert!(clock.now().since(began) < LOOK_WHETHER_STOPPED_EVERY, "it waits no second time");
        silent.write_all(b"p").expect("written");
        awaited().expect("an answer begins");
    }

    #[test]
    fn who_asks_is_answered_when_the_files_are_complete() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("x".repeat(200));
        std::fs::create_dir(&deep).expect("a directory");
        assert!(!publish(&deep).expect("nobody"), "nobody listens");
        let asked = Arc::new(AtomicU32::new(0));
        let counted = asked.clone();
        let answers = publishing(move || match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => bail!("the disk is full"),
        });
        let live = Live::listen(&deep, answers);
        assert!(publish(&deep).expect("an answer"));
        let error = publish(&deep).expect_err("an error").to_string();
        assert_eq!(error, "the running crawl cannot complete its dataset: the disk is full");
        drop(live);
        assert!(!publish(&deep).expect("nobody"));
        assert_eq!(deep.read_dir().expect("a directory").count(), 0);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn files_are_not_completed_while_the_state_cannot_be_read() {
        let root = tempfile::tempdir().expect("a directory");
        let lost = || StoreError::Backend { doing: "opening the store", source: "connection refused".into() };
        let publishing = publishing(|| unreachable!("it would wait for the state"));
        let _live = Live::listen(root.path(), Answers { view: Box::new(move || Err(lost())), ..publishing });
        let error = publish(root.path()).expect_err("an error").to_string();
        assert_eq!(error, "the running crawl cannot complete its dataset: opening the store: connection refused");
    }

    #[test]
    fn a_view_ends_with_the_crawl_and_others_are_answered_beside_it() {
        let root = tempfile::tempdir().expect("a directory");
        assert!(view(root.path()).expect("nobody").is_none(), "nobody listens");
        let store = Arc::new(MemoryStore::new());
        let viewed = store.clone();
        let live = Live::listen(
            root.path(),
            Answers { view: Box::new(move || viewed.view()), publish: None, ..publishing(|| Ok(())) },
        );
        let mut views: Vec<_> =
            (0..ASKING_MAX).map(|_| view(root.path()).expect("an answer").expect("a view")).collect();
        // One more waits until another has gone.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| view(root.path()).expect("an answer").is_some());
            assert!(views.iter().all(|view| view.totals().expect("an answer").urls == 0));
            assert!(!waiting.is_finished());
            drop(views.pop());
            assert!(waiting.join().expect("no panic"));
        });
        drop(live);
        let error = views.iter().map(|view| view.totals().expect_err("an error").to_string()).next();
        assert!(error.is_some_and(|error| error.contains("asking the running crawl")));
        assert_eq!(Arc::strong_count(&store), 1, "nobody has the state open");
        assert!(view(root.path()).expect("nobody").is_none());
    }

    #[test]
    fn a_change_of_a_run_that_is_ending_is_left_to_the_crawl_that_rests() {
        let root = tempfile::tempdir().expect("a directory");
        assert!(!runs(root.path()));
        let steer: Steer = Box::new(|order| match order.what {
            Ordered::Make(Change::Pause) => Err(Unready::Ending.into()),
            Ordered::Make(Change::Stop) => Ok(None),
            Ordered::Make(Change::Retry(_)) => Ok(Some(3)),
            _ => Err(usage("not that")),
        });
        let live = Live::listen(root.path(), Answers { steer: Some(steer), ..publishing(|| Ok(())) });
        let steer = |change| super::steer(root.path(), &OrderId::new(), &change);
        assert!(runs(root.path()));
        assert_eq!(steer(Change::Pause).expect("nobody has made it"), None);
        assert_eq!(steer(Change::Stop).expect("made"), Some(InForce { urls: None }));
        assert_eq!(steer(Change::Retry(Vec::new())).expect("made"), Some(InForce { urls: Some(3) }));
        assert!(steer(Change::Resume).expect_err("refused").is::<Usage>());
        drop(live);
        assert_eq!(steer(Change::Stop).expect("nobody"), None);
    }

    #[test]
    fn what_is_no_request_is_not_answered() {
        let root = tempfile::tempdir().expect("a directory");
        let live = Live::listen(root.path(), publishing(|| Ok(())));
        for request in ["", "nonsense\n", &"x".repeat(100_000)] {
            let mut stream = UnixStream::connect(root.path().join(SOCKET)).expect("a connection");
            let _ = stream.write_all(request.as_bytes());
            let _ = stream.shutdown(Shutdown::Write);
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            assert_eq!(said, b"", "{request}");
        }
        assert!(publish(root.path()).expect("an answer"));
        drop(live);
    }

    #[test]
    fn a_crawl_whose_directory_is_gone_ends() {
        let root = tempfile::tempdir().expect("a directory");
        let (is_held, ended) = std::sync::mpsc::sync_channel::<()>(1);
        let live = Live::listen(root.path(), publishing(move || Ok(is_held.send(())?)));
        std::fs::remove_file(root.path().join(SOCKET)).expect("the socket");
        drop(live);
        // What completes the files is gone, for which the dataset's thread waits.
        ended.recv().expect_err("nobody holds it");
    }

    #[test]
    fn the_socket_of_a_crawl_that_took_the_place_stays() {
        let root = tempfile::tempdir().expect("a directory");
        let first = Live::listen(root.path(), publishing(|| Ok(())));
        let second = Live::listen(root.path(), publishing(|| Ok(())));
        drop(first);
        assert!(publish(root.path()).expect("an answer"), "the second listens");
        drop(second);
        assert_eq!(root.path().read_dir().expect("a directory").count(), 0);
    }
}
