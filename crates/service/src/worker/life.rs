//! One life of a worker: a session as that of `argiope crawl`, on what it owns.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use archive::Seal;
use cluster::store::Steering;
use cluster::{Life, WorkerStore};
use console::message::tell_all;
use console::progress::Printer;
use coordination::InForce;
use crawl::{CrawlDir, Ended, Member, Session};
use engine::clock::Clock;
use engine::{Control, CrawlError, Ownership, Pin, Progress, RecordError};
use model::Timestamp;
use settings::secrets_file::Secrets;
use store::StoreError;
use store_postgres::cluster::PostgresWorker;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use super::sealing::Sealer;
use super::{LifeOutcome, OtherCrawl, Past, Working, plan};
use crate::in_line;

/// Orders waiting for the engine.
const ORDERS_MAX: usize = 1_024;

/// How often it is looked whether a segment is to be sealed.
const SEAL_EVERY: Duration = Duration::from_secs(1);

/// How long nothing came before what was written is sealed, though it be little: the crawl may have ended.
const IDLE: Duration = Duration::from_secs(3);

impl Working {
    /// From joining to leaving, or to the loss of the lease.
    pub(super) fn live(
        &self,
        runtime: &Runtime,
        leaving: watch::Receiver<bool>,
        past: &mut Past,
    ) -> anyhow::Result<LifeOutcome> {
        let crew = &self.crew;
        let dir = self.scratch.emptied()?;
        self.refuse_lost()?;
        let life = Life::join(
            |lease| PostgresWorker::join(&crew.address, &crew.schema, &self.name, lease),
            crew.times,
            crew.placement,
            Box::new(|happening| console::say!("{happening}")),
        )?;
        let life = Arc::new(life);
        let ended = self.spend(&life, dir, runtime, leaving, past);
        past.was_leaving = life.is_leaving();
        // Whatever it failed with: the others need not wait for the end of its lease, and do not count it any more.
        life.end(cluster::LifeEnd::Lost);
        let is_gone = life.worker().gone();
        if let Ok(LifeOutcome::Left) = ended {
            is_gone?;
            console::say!("worker {} has left", life.id());
        }
        ended
    }

    /// Refuses an archive that lacks what is sealed. That may take long, so it comes before joining: nobody gives groups to this worker
    /// meanwhile.
    fn refuse_lost(&self) -> anyhow::Result<()> {
        let crew = &self.crew;
        let Some(state) = store_postgres::read(&crew.address, &crew.schema)? else { return Ok(()) };
        let (crawl_id, sealed) = (state.crawl_id()?, state.segments()?);
        // The database keeps what it was at that moment no longer.
        drop(state);
        if crawl_id != crew.crawl_id {
            return Err(self.other_crawl().into());
        }
        in_line::refuse_lost(&crew.archive, &sealed, &crew.crawl_id)
    }

    fn other_crawl(&self) -> OtherCrawl {
        OtherCrawl { place: format!("schema {} of {}", self.crew.schema, self.crew.address.name()) }
    }

    /// From joining to its end.
    fn spend(
        &self,
        life: &Arc<Life>,
        dir: CrawlDir,
        runtime: &Runtime,
        mut leaving: watch::Receiver<bool>,
        past: &mut Past,
    ) -> anyhow::Result<LifeOutcome> {
        let crew = &self.crew;
        let keeping = life.keep()?;
        if life.worker().crawl_id() != crew.crawl_id {
            return Err(self.other_crawl().into());
        }
        let set_up = InForce { changes: InForce::SET_UP, settings: crew.settings.clone() };
        let InForce { changes, settings } = life.worker().in_force(Some(set_up.changes))?.unwrap_or(set_up);
        // The server tells no secret; they are read again in each life.
        let secrets = life.worker().secrets()?.as_deref().map(Secrets::from_text).transpose()?.unwrap_or_default();
        let plan = plan(&settings, crew.browser.as_deref(), &secrets)?;
        if let Some(missing) = plan.options.missing_secrets().first() {
            anyhow::bail!("the database has no value for {missing}: start the server with it");
        }
        past.has_joined = true;
        life.worker().goes_by(changes)?;
        console::say!("worker {} at {} has joined", life.id(), self.name);

        let (orders, control) = mpsc::channel(ORDERS_MAX);
        let (engine, steered) = mpsc::channel(1);
        let browser = crew.browser.clone();
        let read = move |settings: &str| match super::plan(settings, browser.as_deref(), &secrets) {
            Ok(plan) => Ok(plan.settings),
            Err(error) => Err(StoreError::Backend { doing: "changing the settings", source: error.into() }),
        };
        let steering = Steering { changes, settings: plan.settings.clone(), read: Box::new(read), engine };
        let store = Arc::new(WorkerStore::new(
            life.worker().clone(),
            life.owned().clone(),
            orders.clone(),
            steering,
            plan.fetch.keyring.clone(),
        ));
        let by_address = plan.fetch.proxy.is_none() && !plan.settings.site_rules.politeness.ip_delay.is_zero();
        let sealer = Sealer::start(crew.archive.clone(), life.clone(), dir.clone(), self.tally.clone())?;
        let (seal, sealing) = mpsc::channel(1);
        let numbering = life.worker().clone();
        let member = Member {
            ownership: ownership(life, control, by_address),
            steered,
            sealing,
            gate: life.lease().gate(),
            numbered_by: Box::new(move || numbering.next_serial()),
            on_sealed: Box::new(sealer.tell()),
        };
        let session = Session::builder(dir, plan).store(store.clone()).member(member).open()?;
        tell_all(session.notices());
        let threads = life.start(cluster::life::Engine {
            orders,
            store,
            fetcher: session.fetcher().clone(),
            by_address,
            runtime: runtime.handle().clone(),
            seal: seal_up_to(seal.clone()),
        })?;
        let ended = runtime.block_on(self.crawl(session, life, &seal, &mut leaving));
        // Whatever became of the session: when this is done, all that was sealed is final, and its threads write no more.
        let sealed = sealer.finish();
        let ended = match ended {
            None => Ok(LifeOutcome::Lost(life.why().unwrap_or_else(|| "the worker was lost".to_owned()))),
            Some(Ok(ended)) => {
                tell_all(&ended.notices);
                sealed.map(|()| LifeOutcome::Left)
            }
            // What the sealing failed with says more.
            Some(Err(error)) => match of_database(&error) {
                Some(why) => Ok(LifeOutcome::Lost(why)),
                None => sealed.and(Err(error)),
            },
        };
        let is_left = matches!(ended, Ok(LifeOutcome::Left));
        life.end(if is_left { cluster::LifeEnd::Left } else { cluster::LifeEnd::Lost });
        for thread in threads.into_iter().chain([keeping]) {
            thread.join().ok().context("internal error: a worker's thread panicked")?;
        }
        ended
    }

    /// Runs a session until it has handed over everything, fails, or its life is over: then `None`.
    async fn crawl(
        &self,
        session: Session,
        life: &Life,
        seal: &mpsc::Sender<Seal>,
        leaving: &mut watch::Receiver<bool>,
    ) -> Option<anyhow::Result<Ended>> {
        let (handle, mut progress) = (session.handle(), session.handle().progress());
        let mut busy = progress.clone();
        let mut printer = Printer::new(self.watched.show);
        let handed_over = async {
            life.handed_over().await;
            handle.stop();
            std::future::pending::<()>().await;
        };
        let sealing = seal_in_time(seal, Clock::start(), self.seal_after, &mut busy);
        let crawling = session.run();
        tokio::pin!(crawling, sealing, handed_over);
        let crawled = loop {
            tokio::select! {
                crawled = &mut crawling => break Some(crawled),
                () = life.over() => break None,
                Ok(()) = leaving.changed() => life.leave(),
                Ok(()) = progress.changed() => {
                    let now = *progress.borrow_and_update();
                    printer.show(now, None);
                    self.watched.metrics.iter().for_each(|metrics| metrics.note(now));
                }
                () = &mut handed_over => {}
                () = &mut sealing => {}
            }
        };
        printer.end();
        crawled
    }
}

/// The connection of the engine to what the worker owns.
fn ownership(life: &Arc<Life>, orders: mpsc::Receiver<Control>, by_address: bool) -> Ownership {
    let (owned, asking, told) = (life.owned().clone(), life.owned().clone(), life.clone());
    Ownership {
        orders,
        released: Box::new(move |site, address| told.released(site, address)),
        pin: Box::new(move |site| if by_address { owned.pin(site) } else { Pin::Anywhere }),
        asks_at: Arc::new(move |address| !by_address || asking.asks_at(address)),
    }
}

/// Why a run failed, if the database did: its troubles pass, or are met again when joining.
fn of_database(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref() {
        Some(CrawlError::Record(RecordError::Store(error)) | CrawlError::Store(error)) => Some(error.to_string()),
        _ => error.downcast_ref::<StoreError>().map(ToString::to_string),
    }
}

/// Has segments sealed up to a serial number.
fn seal_up_to(seal: mpsc::Sender<Seal>) -> Box<dyn Fn(u32) + Send> {
    Box::new(move |serial| {
        // Where another order waits, this is called again.
        let _ = seal.try_send(Seal::UpTo(serial));
    })
}

/// Has segments sealed that were begun long ago, or where nothing comes any more. Never ends.
async fn seal_in_time(
    seal: &mpsc::Sender<Seal>,
    clock: Clock,
    after: Duration,
    progress: &mut watch::Receiver<Progress>,
) {
    let (mut last, mut since) = (0, clock.now());
    loop {
        tokio::time::sleep(SEAL_EVERY).await;
        let now = clock.now();
        let Progress { bytes, in_flight, .. } = *progress.borrow_and_update();
        if bytes != last || in_flight > 0 {
            (last, since) = (bytes, now);
        }
        let is_idle = now.since(since) >= IDLE;
        let before = Timestamp(clock.date().0.saturating_sub(u64::try_from(after.as_micros()).unwrap_or(u64::MAX)));
        let order = if is_idle { Seal::Now } else { Seal::IfBegunBefore(before) };
        // One that waits already is enough.
        let _ = seal.try_send(order);
    }
}
