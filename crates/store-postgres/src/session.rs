//! A connection with a thread of its own, made again when it is lost.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use database::Address;
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use store::StoreError;

use crate::error::{self, Unusable, backend};
use crate::migrations;
use crate::outage;
use crate::schema::Schema;

/// How often a lost connection is tried to be made again, and at what distance: for a minute at least.
const RECONNECTIONS_MAX: u32 = 120;
const RECONNECT_EVERY: Duration = Duration::from_millis(500);

/// Requests that wait for their turn. Who asks waits for the answer, so there are few.
const REQUESTS_MAX: usize = 16;

/// What a session begins with: every read and every step of a commit is by an index, whatever statistics say of tables that
/// have just been empty; and each step sees what others committed while the one before waited for them, whatever the database has as
/// its default.
const SETTINGS: &str =
    "-c jit=off -c enable_hashjoin=off -c enable_mergejoin=off -c default_transaction_isolation=read\\ committed";

/// After a failover there may be a standby where the primary was.
const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";

/// The statement behind it is the moment of the transaction.
const BEGIN_VIEW: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1";

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const ROLL_BACK: &str = "ROLLBACK";

/// What was written is durable when its session has the answer. More (a standby) stays.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') = 'off'";

/// The lock of the schema, of which the holder commits. One that was killed a moment ago may still be ending.
const LOCK: &str = "SELECT pg_advisory_lock(hashtextextended('argiope ' || $1::text, 0))";
const LOCK_SHARED: &str = "SELECT pg_advisory_lock_shared(hashtextextended('argiope ' || $1::text, 0))";
/// The tables are made by one at a time.
const LOCK_TABLES: &str = "SELECT pg_advisory_lock(hashtextextended('argiope tables ' || $1::text, 0))";
const UNLOCK_TABLES: &str = "SELECT pg_advisory_unlock(hashtextextended('argiope tables ' || $1::text, 0))";
const LOCK_TIMEOUT: &str = "SET lock_timeout = '2s'";
const NO_LOCK_TIMEOUT: &str = "SET lock_timeout = 0";
/// A process that vanishes in the middle of a commit, without its connection being closed, holds its locks no longer. One that was only
/// stopped so long begins the commit again.
const IDLE_TIMEOUT: &str = "SET idle_in_transaction_session_timeout = '30s'";
const UNLOCK: &str = "SELECT pg_advisory_unlock_all()";

/// What goes into a statement.
pub(crate) type Parameters = Vec<Box<dyn ToSql + Sync + Send>>;

/// `None`: the connection was lost, and the transaction with it, or it is not known whether it was committed.
type QueriedRows = Result<Option<Vec<Row>>, StoreError>;

static ERRORS: AtomicU64 = AtomicU64::new(0);

/// The requests of this process to databases that failed, those that were repeated included.
#[must_use]
pub fn errors() -> u64 {
    ERRORS.load(Ordering::Relaxed)
}

/// What a request does to the transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It is one by itself.
    Alone,
    /// It begins one.
    First,
    /// It is in the one that was begun.
    Within,
}

/// What a session is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Read, and write what is not a commit.
    Read,
    /// Read the state of one moment: all in one transaction, which ends with the connection.
    View,
    /// Commit, and nobody else.
    Commit,
    /// Commit beside other workers.
    Work,
}

impl Role {
    fn commits(self) -> bool {
        matches!(self, Role::Commit | Role::Work)
    }
}

/// Where a store is, in words.
pub(crate) fn place(address: &Address, schema: &Schema) -> String {
    format!("schema {schema} of {}", address.name())
}

/// A connection.
pub(crate) struct Session {
    requests: Option<mpsc::SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
}

struct Request {
    doing: &'static str,
    part: Part,
    statement: &'static str,
    parameters: Parameters,
    answer: mpsc::SyncSender<QueriedRows>,
}

impl Session {
    /// Connects. Who commits makes the schema too, and is given the id of the crawl.
    pub(crate) fn open(address: &Address, schema: &Schema, role: Role) -> Result<(Self, Option<String>), StoreError> {
        Session::open_with(Link::to(address, schema, role))
    }

    /// Connects to read. A question to a connection that is lost fails; the next one connects again.
    pub(crate) fn open_impatient(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        let link = Link { reconnections_max: 0, ..Link::to(address, schema, Role::Read) };
        Ok(Session::open_with(link)?.0)
    }

    fn open_with(mut link: Link) -> Result<(Self, Option<String>), StoreError> {
        let (requests, inbox) = mpsc::sync_channel::<Request>(REQUESTS_MAX);
        let (opened, result) = mpsc::sync_channel(1);
        let run = move || {
            let result = link.open();
            let is_open = result.is_ok();
            if opened.send(result).is_err() || !is_open {
                return;
            }
            for Request { doing, part, statement, parameters, answer } in inbox {
                // Who asked may have gone.
                let _ = answer.send(link.query(doing, part, statement, &parameters));
            }
            link.close();
        };
        let thread = std::thread::Builder::new().name("postgres".to_owned()).spawn(run);
        let thread = thread.map_err(|error| backend("starting a thread", error))?;
        let opened = result.recv().map_err(|_| backend("opening the store", Unusable::Ended))??;
        Ok((Session { requests: Some(requests), thread: Some(thread) }, opened))
    }

    /// Runs a statement, and again if the connection is lost meanwhile: it must be one that may be repeated.
    pub(crate) fn query(
        &self,
        doing: &'static str,
        statement: &'static str,
        parameters: Parameters,
    ) -> Result<Vec<Row>, StoreError> {
        self.ask(doing, Part::Alone, statement, parameters).map(Option::unwrap_or_default)
    }

    /// Begins a transaction with a statement, and again if the connection is lost meanwhile.
    pub(crate) fn begin(
        &self,
        doing: &'static str,
        statement: &'static str,
        parameters: Parameters,
    ) -> Result<Vec<Row>, StoreError> {
        self.ask(doing, Part::First, statement, parameters).map(Option::unwrap_or_default)
    }

    /// Runs a statement in the transaction. `None`: the connection is lost, and nothing was written.
    pub(crate) fn within(&self, doing: &'static str, statement: &'static str, parameters: Parameters) -> QueriedRows {
        self.ask(doing, Part::Within, statement, parameters)
    }

    /// Commits the transaction, and says whether it is known to be committed.
    pub(crate) fn end(&self, doing: &'static str) -> Result<bool, StoreError> {
        self.ask(doing, Part::Within, COMMIT, Vec::new()).map(|answer| answer.is_some())
    }

    /// Gives the transaction up.
    pub(crate) fn roll_back(&self) {
        // Without a connection there is none.
        let _ = self.ask("giving a transaction up", Part::Within, ROLL_BACK, Vec::new());
    }

    fn ask(&self, doing: &'static str, part: Part, statement: &'static str, parameters: Parameters) -> QueriedRows {
        let (answer, result) = mpsc::sync_channel(1);
        let request = Request { doing, part, statement, parameters, answer };
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        let result = if sent { result.recv().ok() } else { None };
        result.unwrap_or_else(|| Err(backend(doing, Unusable::Ended)))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Link {
    address: Address,
    schema: Schema,
    role: Role,
    place: String,
    reconnections_max: u32,
    client: Option<Client>,
    /// Of this connection.
    statements: HashMap<&'static str, Statement>,
}

/// Why a query got no answer.
enum Failed {
    Connect(database::DatabaseError),
    Standby,
    Query(postgres::Error),
    /// The connection was lost, and with it the moment of a [`Role::View`], or a transaction.
    Over,
}

impl Link {
    fn to(address: &Address, schema: &Schema, role: Role) -> Self {
        let place = place(address, schema);
        Link {
            address: address.clone(),
            schema: schema.clone(),
            role,
            place,
            reconnections_max: RECONNECTIONS_MAX,
            client: None,
            statements: HashMap::new(),
        }
    }

    fn open(&mut self) -> Result<Option<String>, StoreError> {
        let doing = "opening the store";
        let mut client = self.connect().map_err(|error| {
            if error::is_transient_refusal(&error) {
                outage::failed(&error);
            }
            backend(doing, error)
        })?;
        migrations::check_server(&mut client, &self.address)?;
        if is_standby(&mut client).map_err(|error| error::query(&self.place, doing, error))? {
            return Err(backend(doing, self.standby()));
        }
        let mut crawl_id = None;
        let failed = |error| error::query(&self.place, doing, error);
        self.greet(&mut client).map_err(failed)?;
        if self.role.commits() {
            client.execute(LOCK_TABLES, &[&self.schema.as_str()]).map_err(failed)?;
            crawl_id = Some(migrations::migrate(&mut client, &self.schema, &self.place)?);
            client.execute(UNLOCK_TABLES, &[&self.schema.as_str()]).map_err(failed)?;
        }
        self.client = Some(client);
        outage::answers();
        Ok(crawl_id)
    }

    fn connect(&self) -> Result<Client, database::DatabaseError> {
        self.address.connect(Some(&format!("{SETTINGS} -c search_path={}", self.schema)))
    }

    fn standby(&self) -> Unusable {
        Unusable::Standby { database: self.address.name() }
    }

    /// Takes the lock. The name of the schema stands in for it, since it may not be there yet.
    fn greet(&self, client: &mut Client) -> Result<(), postgres::Error> {
        let lock = match self.role {
            Role::Read | Role::View => None,
            Role::Commit => Some(LOCK),
            Role::Work => Some(LOCK_SHARED),
        };
        if let Some(lock) = lock {
            client.batch_execute(LOCK_TIMEOUT)?;
            client.execute(lock, &[&self.schema.as_str()])?;
            client.batch_execute(NO_LOCK_TIMEOUT)?;
            client.batch_execute(IDLE_TIMEOUT)?;
        }
        if self.role == Role::View {
            client.batch_execute(BEGIN_VIEW)?;
        } else {
            client.execute(DURABLE, &[])?;
        }
        Ok(())
    }

    fn query(
        &mut self,
        doing: &'static str,
        part: Part,
        statement: &'static str,
        parameters: &Parameters,
    ) -> QueriedRows {
        let mut tries = 0;
        loop {
            let failed = match self.try_query(part, statement, parameters) {
                Ok(rows) => return Ok(Some(rows)),
                Err(failed) => failed,
            };
            ERRORS.fetch_add(1, Ordering::Relaxed);
            self.client = None;
            let source: Box<dyn std::error::Error + Send + Sync> = match failed {
                Failed::Connect(error) if error::is_transient_refusal(&error) => {
                    outage::failed(&error);
                    error.into()
                }
                Failed::Connect(error) => return Err(backend(doing, error)),
                Failed::Over => return Err(backend(doing, Unusable::Ended)),
                Failed::Query(error) if part == Part::Within && error::is_transient(&error) => {
                    std::thread::sleep(RECONNECT_EVERY);
                    return Ok(None);
                }
                Failed::Standby => {
                    outage::failed(&self.standby());
                    self.standby().into()
                }
                Failed::Query(error) if error::is_transient(&error) => Unusable::from(error).into(),
                Failed::Query(error) => return Err(error::query(&self.place, doing, error)),
            };
            tries += 1;
            if tries > self.reconnections_max {
                let seconds = (RECONNECT_EVERY * self.reconnections_max).as_secs();
                return Err(backend(doing, Unusable::Lost { seconds, source }));
            }
            std::thread::sleep(RECONNECT_EVERY);
        }
    }

    fn try_query(&mut self, part: Part, statement: &'static str, parameters: &Parameters) -> Result<Vec<Row>, Failed> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None if self.role == Role::View || part == Part::Within => return Err(Failed::Over),
            None => {
                self.statements.clear();
                let mut client = self.connect().map_err(Failed::Connect)?;
                if is_standby(&mut client).map_err(Failed::Query)? {
                    return Err(Failed::Standby);
                }
                self.greet(&mut client).map_err(Failed::Query)?;
                outage::answers();
                client
            }
        };
        let parameters: Vec<&(dyn ToSql + Sync)> =
            parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect();
        let prepared = match self.statements.get(statement) {
            Some(prepared) => prepared.clone(),
            None => {
                let prepared = client.prepare(statement).map_err(Failed::Query)?;
                self.statements.insert(statement, prepared.clone());
                prepared
            }
        };
        if part == Part::First {
            client.batch_execute(BEGIN).map_err(Failed::Query)?;
        }
        let rows = client.query(&prepared, &parameters).map_err(Failed::Query)?;
        self.client = Some(client);
        Ok(rows)
    }

    /// Gives the lock back before the connection ends: the server may notice that only later.
    fn close(&mut self) {
        let Some(mut client) = self.client.take() else { return };
        if self.role.commits() {
            let _ = client.batch_execute(UNLOCK);
        }
        let _ = client.close();
    }
}

fn is_standby(client: &mut Client) -> Result<bool, postgres::Error> {
    client.query_one(IS_STANDBY, &[])?.try_get(0)
}
