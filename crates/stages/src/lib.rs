//! Where a crawl's time goes: how often each stage of the work on a page was gone through, how long that took, and how much of
//! the processor it had.
//!
//! The counters are the process's own, as its processor time is: what asks for a figure of one crawl takes the difference of two
//! [`snapshot`]s. A stage's processor time is measured of the first sixteen, then of one in sixteen ([`MEASURED_EVERY`]) that counts for all, since asking the system for
//! it costs as much as some stages do.
//!
//! Invariant: stages do not lie within each other, so that they may be added up.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// How often processor time is measured.
pub const MEASURED_EVERY: u64 = 16;

/// A stage of the work on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A site's name to addresses.
    Resolve,
    /// A connection is made.
    Connect,
    /// The TLS handshake.
    Tls,
    /// From the request to the head of the answer.
    Answer,
    /// The body is read.
    Transfer,
    /// What a connection of HTTP/2 does meanwhile, beside those who wait for it: packets, decryption, heads.
    Http2,
    /// The content coding is undone.
    Decode,
    /// The digest of the payload.
    Digest,
    /// Links, text and images are found.
    Extract,
    /// References become canonical URLs.
    Canonicalise,
    /// What the dataset keeps is put together; the fingerprint of the text.
    Describe,
    /// The page becomes a tree.
    Tree,
    /// The main text of the page is found.
    MainText,
    /// What the page says for machines is read, and what rules take out of it.
    Structure,
    /// The page is shown in a browser.
    Render,
    /// What follows from what happened is decided.
    Decide,
    /// Records are compressed and appended to the archive.
    Archive,
    /// The archive is on disk.
    Sync,
    /// What is known already is looked up in the state.
    Seen,
    /// The state is written, and on disk.
    Commit,
    /// Rows are written to the dataset.
    Dataset,
}

impl Stage {
    /// All, in the order in which a page goes through them.
    pub const ALL: [Stage; 21] = [
        Stage::Resolve,
        Stage::Connect,
        Stage::Tls,
        Stage::Answer,
        Stage::Transfer,
        Stage::Http2,
        Stage::Decode,
        Stage::Digest,
        Stage::Extract,
        Stage::Canonicalise,
        Stage::Describe,
        Stage::Tree,
        Stage::MainText,
        Stage::Structure,
        Stage::Render,
        Stage::Decide,
        Stage::Archive,
        Stage::Sync,
        Stage::Seen,
        Stage::Commit,
        Stage::Dataset,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Resolve => "resolve",
            Stage::Connect => "connect",
            Stage::Tls => "tls",
            Stage::Answer => "answer",
            Stage::Transfer => "transfer",
            Stage::Http2 => "http2",
            Stage::Decode => "decode",
            Stage::Digest => "digest",
            Stage::Extract => "extract",
            Stage::Canonicalise => "canonicalise",
            Stage::Describe => "describe",
            Stage::Tree => "tree",
            Stage::MainText => "main_text",
            Stage::Structure => "structure",
            Stage::Render => "render",
            Stage::Decide => "decide",
            Stage::Archive => "archive",
            Stage::Sync => "sync",
            Stage::Seen => "seen",
            Stage::Commit => "commit",
            Stage::Dataset => "dataset",
        }
    }
}

/// What a stage took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How often it was gone through.
    pub count: u64,
    /// From its beginning to its end, waiting included, all added up.
    pub wall: Duration,
    /// Of the processor, estimated from those that were measured.
    pub cpu: Duration,
}

struct Counter {
    count: AtomicU64,
    wall_nanos: AtomicU64,
    /// Of the first ones, all of which are measured: what they set up, later ones find.
    first_nanos: AtomicU64,
    /// How many of the others were measured.
    measured: AtomicU64,
    cpu_nanos: AtomicU64,
}

/// Whether the processor time of one is measured, and what it stands for.
#[derive(Clone, Copy)]
enum Sample {
    /// Itself.
    First,
    /// Itself and others.
    OneOfMany,
    Not,
}

impl Sample {
    fn is_measured(self) -> bool {
        !matches!(self, Sample::Not)
    }
}

static COUNTERS: [Counter; Stage::ALL.len()] = [const {
    Counter {
        count: AtomicU64::new(0),
        wall_nanos: AtomicU64::new(0),
        first_nanos: AtomicU64::new(0),
        measured: AtomicU64::new(0),
        cpu_nanos: AtomicU64::new(0),
    }
}; Stage::ALL.len()];

impl Counter {
    /// Counts one more.
    fn begin(&self) -> Sample {
        match self.count.fetch_add(1, Ordering::Relaxed) {
            0..MEASURED_EVERY => Sample::First,
            before if before.is_multiple_of(MEASURED_EVERY) => Sample::OneOfMany,
            _ => Sample::Not,
        }
    }

    fn waited(&self, wall: Duration) {
        self.wall_nanos.fetch_add(nanos(wall), Ordering::Relaxed);
    }

    fn measured(&self, sample: Sample, cpu: Duration) {
        match sample {
            Sample::First => {
                self.first_nanos.fetch_add(nanos(cpu), Ordering::Relaxed);
            }
            Sample::OneOfMany => {
                self.measured.fetch_add(1, Ordering::Relaxed);
                self.cpu_nanos.fetch_add(nanos(cpu), Ordering::Relaxed);
            }
            Sample::Not => {}
        }
    }

    fn spent(&self) -> Spent {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (count, measured) = (load(&self.count), load(&self.measured));
        let others = count.saturating_sub(MEASURED_EVERY);
        let cpu = u128::from(load(&self.cpu_nanos)) * u128::from(others) / u128::from(measured.max(1));
        let cpu = cpu + u128::from(load(&self.first_nanos));
        Spent {
            count,
            wall: Duration::from_nanos(load(&self.wall_nanos)),
            cpu: Duration::from_nanos(u64::try_from(cpu).unwrap_or(u64::MAX)),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What all stages took since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    stages: [Spent; Stage::ALL.len()],
    cpu: Duration,
}

/// What all stages took until now.
#[must_use]
pub fn snapshot() -> Snapshot {
    Snapshot { stages: COUNTERS.each_ref().map(Counter::spent), cpu: processor_time(ClockId::ProcessCPUTime) }
}

impl Snapshot {
    /// What stages took since another snapshot; those that were not gone through are left out.
    pub fn since(&self, before: &Snapshot) -> impl Iterator<Item = (Stage, Spent)> {
        let pairs = self.stages.into_iter().zip(before.stages);
        let differences = pairs.map(|(now, before)| Spent {
            count: now.count - before.count,
            wall: now.wall.saturating_sub(before.wall),
            cpu: now.cpu.saturating_sub(before.cpu),
        });
        Stage::ALL.into_iter().zip(differences).filter(|(_, spent)| spent.count > 0)
    }

    /// The processor time of the whole process since another snapshot, not estimated.
    #[must_use]
    pub fn cpu_since(&self, before: &Snapshot) -> Duration {
        self.cpu.saturating_sub(before.cpu)
    }
}

/// Does a stage's work on this thread.
pub fn time<T>(stage: Stage, work: impl FnOnce() -> T) -> T {
    let counter = &COUNTERS[stage as usize];
    let sample = counter.begin();
    let before = sample.is_measured().then(thread_time);
    let began = now();
    let done = work();
    counter.waited(began.elapsed());
    if let Some(before) = before {
        counter.measured(sample, thread_time().saturating_sub(before));
    }
    done
}

/// The time from its first to its last moment is a stage's, the processor time that it has meanwhile as well.
pub fn wait<F: Future>(stage: Stage, future: F) -> Timed<F> {
    Timed { future, stage, began: None, cpu: None }
}

pin_project_lite::pin_project! {
    /// A future whose time is measured.
    pub struct Timed<F> {
        #[pin]
        future: F,
        stage: Stage,
        began: Option<Instant>,
        // Of those that are measured.
        cpu: Option<(Sample, Duration)>,
    }
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let counter = &COUNTERS[*this.stage as usize];
        let began = *this.began.get_or_insert_with(|| {
            let sample = counter.begin();
            *this.cpu = sample.is_measured().then_some((sample, Duration::ZERO));
            now()
        });
        let before = this.cpu.is_some().then(thread_time);
        let polled = this.future.poll(context);
        if let (Some((_, cpu)), Some(before)) = (this.cpu.as_mut(), before) {
            *cpu += thread_time().saturating_sub(before);
        }
        if polled.is_ready() {
            counter.waited(began.elapsed());
            if let Some((sample, cpu)) = this.cpu {
                counter.measured(*sample, *cpu);
            }
        }
        polled
    }
}

/// Each poll of a future counts as one: for what lives long and waits most of the time.
pub fn each_poll<F: Future>(stage: Stage, future: F) -> Polled<F> {
    Polled { future, stage }
}

pin_project_lite::pin_project! {
    /// A future whose polls are measured.
    pub struct Polled<F> {
        #[pin]
        future: F,
        stage: Stage,
    }
}

impl<F: Future> Future for Polled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        time(*this.stage, || this.future.poll(context))
    }
}

#[expect(clippy::disallowed_methods, reason = "what is measured here decides nothing")]
fn now() -> Instant {
    Instant::now()
}

/// The processor time of this thread.
fn thread_time() -> Duration {
    processor_time(ClockId::ThreadCPUTime)
}

fn processor_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stage: Stage, before: &Snapshot) -> Spent {
        snapshot().since(before).find(|(found, _)| *found == stage).map_or_else(Spent::default, |(_, spent)| spent)
    }

    #[test]
    fn work_is_counted_with_its_time() {
        let before = snapshot();
        let mut sum = 0u64;
        for _ in 0..MEASURED_EVERY * 2 {
            time(Stage::Extract, || {
                let began = thread_time();
                while thread_time() - began < Duration::from_millis(1) {
                    sum = sum.wrapping_add(1);
                }
            });
        }
        let spent = of(Stage::Extract, &before);
        assert_eq!(spent.count, MEASURED_EVERY * 2);
        assert!(spent.cpu >= Duration::from_millis(MEASURED_EVERY * 2), "{spent:?}");
        assert!(spent.wall >= Duration::from_millis(MEASURED_EVERY * 2), "{spent:?}");
        assert_eq!(of(Stage::Decode, &before), Spent::default());
    }

    #[test]
    fn what_only_the_first_one_does_is_counted_once() {
        let before = snapshot();
        for at in 0..MEASURED_EVERY * 4 {
            time(Stage::Tree, || {
                let began = thread_time();
                while at == 0 && thread_time() - began < Duration::from_millis(40) {}
            });
        }
        let spent = of(Stage::Tree, &before);
        assert_eq!(spent.count, MEASURED_EVERY * 4);
        assert!((Duration::from_millis(40)..Duration::from_millis(80)).contains(&spent.cpu), "{spent:?}");
    }

    #[tokio::test]
    async fn waiting_has_no_processor_time() {
        let before = snapshot();
        for _ in 0..MEASURED_EVERY {
            wait(Stage::Answer, tokio::time::sleep(Duration::from_millis(2))).await;
        }
        let spent = of(Stage::Answer, &before);
        assert_eq!(spent.count, MEASURED_EVERY);
        assert!(spent.wall >= Duration::from_millis(2 * MEASURED_EVERY), "{spent:?}");
        assert!(spent.cpu < spent.wall / 2, "{spent:?}");
        let _unbegun = wait(Stage::Answer, std::future::pending::<()>());
        assert_eq!(of(Stage::Answer, &before).count, MEASURED_EVERY, "what was never begun is not counted");
    }
}
