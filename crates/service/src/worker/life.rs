//! One life of a worker: what `argiope crawl` does, on what it owns.

use std::sync::Arc;
use std::time::Duration;
use store::{Store, StoreError};
use store_postgres::cluster::PostgresWorker;

use anyhow::Context;
use archive::Seal;
use cluster::store::Steering;
use cluster::{Life, WorkerStore};
use coordination::InForce;
use dataset::Layout;
use engine::clock::Clock;
use engine::{CrawlError, Ownership, Pin, Progress, RecordError, Recorder, Shell};
use fetch::{FetchConfig, Fetcher};
use model::Timestamp;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use super::sealing::Sealer;
use super::{LifeOutcome, OtherCrawl, Working, plan};
use console::message::tell_all;
use console::progress::Printer;
use crawl::live::{Answers, Live};
use crawl::tables::Writer;
use settings::secrets_file::Secrets;

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
        mut leaving: watch::Receiver<bool>,
        has_joined: &mut bool,
    ) -> anyhow::Result<LifeOutcome> {
        let crew = &self.crew;
        let dir = self.scratch.emptied()?;
        let life = Life::join(
            |lease| PostgresWorker::join(&crew.address, &crew.schema, &self.name, lease),
            crew.times,
            crew.placement,
            Box::new(|happening| console::say!("{happening}")),
        )?;
        if life.worker().crawl_id() != crew.crawl_id {
            life.worker().gone()?;
            return Err(OtherCrawl { place: format!("schema {} of {}", crew.schema, crew.address.name()) }.into());
        }
        let set_up = InForce { changes: InForce::SET_UP, settings: crew.settings.clone() };
        let InForce { changes, settings } = life.worker().in_force(Some(set_up.changes))?.unwrap_or(set_up);
        let life = Arc::new(life);
        // The server tells no secret; they are read again in each life.
        let secrets = life.worker().secrets()?.as_deref().map(Secrets::from_text).transpose()?.unwrap_or_default();
        let plan = plan(&settings, crew.browser.as_deref(), &secrets)?;
        dir.write_options(&plan.options)?;
        if let Some(missing) = plan.options.missing_secrets().first() {
            anyhow::bail!("the database has no value for {missing}: start the server with it");
        }
        *has_joined = true;
        life.worker().goes_by(changes)?;
        console::say!("worker {} at {} has joined", life.id(), self.name);

        let (clock, mut notices) = (Clock::start(), Vec::new());
        let config = FetchConfig { gate: life.lease().gate(), ..plan.fetch.clone() };
        let fetcher = Arc::new(Fetcher::new(config, Arc::new(move || clock.date()))?);
        let browsing = match plan.settings.render {
            Some(mode) => Some(Arc::new(crawl::browsing(mode, &plan, fetcher.clone(), clock, &mut notices)?)),
            None => None,
        };
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
        let numbering = life.worker().clone();
        let archive = crawl::open_archive(&dir, &plan, store.as_ref(), &mut notices)?
            .map(|archive| archive.numbered_by(Box::new(move || numbering.next_serial())));
        tell_all(&notices);
        let sealer = Sealer::start(crew.archive.clone(), life.worker().clone(), dir.clone(), self.tally.clone())?;
        let held = dir.hold(true)?;
        let (layout, tables_held) = (Layout::at(dir.dataset()), held.clone());
        let tables = Writer::start_shared(layout, store.clone(), tables_held, sealer.tell())?;
        let viewed = store.clone();
        let answers = Answers {
            view: Box::new(move || viewed.view()),
            publish: Some(tables.publisher()),
            steer: None,
            scheduler: None,
        };
        let live = Live::listen(dir.root(), answers);
        let recorder = Recorder::new(store.clone(), archive).with_sink(tables.sink());
        let recorder = recorder.guarded_by(Box::new(move || Ok(held.check()?)));

        let by_address = plan.fetch.proxy.is_none() && !plan.settings.site_rules.politeness.ip_delay.is_zero();
        let (owned, asking, told) = (life.owned().clone(), life.owned().clone(), life.clone());
        let ownership = Ownership {
            orders: control,
            released: Box::new(move |site, address| told.released(site, address)),
            pin: Box::new(move |site| if by_address { owned.pin(site) } else { Pin::Anywhere }),
            asks_at: Arc::new(move |address| !by_address || asking.asks_at(address)),
        };
        let (seal, sealing) = mpsc::channel(1);
        let shell = Shell {
            browsing,
            ownership: Some(ownership),
            sealing: Some(sealing),
            steering: Some(steered),
            ..Shell::new(plan.settings, fetcher.clone(), recorder, clock)
        };
        let runtime_of_life = runtime.handle().clone();
        let threads =
            life.start(cluster::life::Engine { orders, store, fetcher, by_address, runtime: runtime_of_life })?;

        let mut printer = Printer::new(self.watched.show);
        let (at_work, mut busy) = watch::channel(Progress::default());
        let crawled = runtime.block_on(async {
            let report = |progress| {
                printer.show(progress, None);
                self.watched.metrics.iter().for_each(|metrics| metrics.note(progress));
                at_work.send_replace(progress);
            };
            let crawling = shell.run(Vec::new(), life.handed_over(), report);
            let sealing = seal_in_time(&seal, clock, self.seal_after, &mut busy);
            tokio::pin!(crawling, sealing);
            loop {
                tokio::select! {
                    crawled = &mut crawling => break Some(crawled),
                    () = life.over() => break None,
                    Ok(()) = leaving.changed() => life.leave(),
                    () = &mut sealing => {}
                }
            }
        });
        printer.end();
        drop(live);
        // All that was sealed is final before this worker is gone.
        let written = tables.finish().and(sealer.finish());
        let ended = match crawled {
            None => Ok(LifeOutcome::Lost(life.why().unwrap_or_else(|| "the worker was lost".to_owned()))),
            Some(Ok(_)) => written.map(|()| LifeOutcome::Left),
            // The database's troubles pass, or are met again when joining.
            Some(Err(CrawlError::Record(RecordError::Store(error)) | CrawlError::Store(error))) => {
                Ok(LifeOutcome::Lost(error.to_string()))
            }
            // What the writing of tables or the sealing failed with says more.
            Some(Err(error)) => written.and(Err(error.into())),
        };
        let is_left = matches!(ended, Ok(LifeOutcome::Left));
        life.end(if is_left { cluster::LifeEnd::Left } else { cluster::LifeEnd::Lost });
        for thread in threads {
            thread.join().ok().context("internal error: a worker's thread panicked")?;
        }
        if is_left {
            life.worker().gone()?;
            console::say!("worker {} has left", life.id());
        }
        ended
    }
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
