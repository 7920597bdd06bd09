//! A PostgreSQL server of a test's own: in a temporary directory, on a socket in it, gone with the test.

#![expect(clippy::expect_used, reason = "for tests: what fails is to stop them")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// The account as which the server runs where the test has all rights: PostgreSQL refuses those.
const ACCOUNT: &str = "postgres";
/// How the data of a server begins.
const INITDB: [&str; 5] = ["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=tester"];
/// How often, and at what distance, an answer of the server is waited for.
/// For three minutes: on a machine where others take the processors, each step of a cluster waits for its turn.
const TRIES: u32 = 1_800;
const TRY_EVERY: Duration = Duration::from_millis(100);

/// The settings of a server for benchmarks, without the sizes of this machine.
pub const TUNED: [&str; 6] = [
    "shared_buffers=2GB",
    "max_wal_size=16GB",
    "checkpoint_timeout=15min",
    "wal_compression=lz4",
    "wal_buffers=64MB",
    "autovacuum_naptime=10s",
];
const TICKS_PER_SECOND: f64 = 100.0;

/// The role that needs a password; all others are let in.
pub const GUARDED: &str = "guarded";
/// Its password.
pub const PASSWORD: &str = "right";

/// A running server.
pub struct Postgres {
    process: Child,
    dir: TempDir,
    account: Option<&'static str>,
    settings: Vec<String>,
}

impl Postgres {
    /// Starts one that does not wait for the disk: what it has written survives its own death, not the machine's.
    ///
    /// # Panics
    /// PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn start() -> Self {
        Postgres::start_with(&["fsync=off"])
    }

    /// Starts one with settings (`name=value`).
    ///
    /// # Panics
    /// PostgreSQL is not installed, or does not start.
    #[must_use]
    pub fn start_with(settings: &[&str]) -> Self {
        let programs = programs();
        let dir = TempDir::new().expect("a directory");
        let account: Option<&'static str> = Path::new("/root").read_dir().is_ok().then_some(ACCOUNT);
        if account.is_some() {
            let owned = Command::new("chown").arg(ACCOUNT).arg(dir.path()).status();
            assert!(owned.expect("chown").success(), "there is no account {ACCOUNT}");
        }
        let data = dir.path().join("data");
        initialize(&programs, account, &data);
        let rules = format!("local all {GUARDED} scram-sha-256\nlocal all all trust\n");
        std::fs::write(data.join("pg_hba.conf"), rules).expect("pg_hba.conf");
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let process = run(dir.path(), account, &settings);
        let server = Postgres { process, dir, account, settings };
        server.wait();
        let role = format!("CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'");
        server.client().batch_execute(&role).expect("a role");
        server
    }

    /// Waits until it answers.
    ///
    /// # Panics
    /// It does not.
    pub fn wait(&self) {
        until("the server answers", || Client::connect(&self.address(), NoTls).is_ok());
    }

    /// The id of its first process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The directory of its socket, which is its host.
    #[must_use]
    pub fn host(&self) -> String {
        self.dir.path().display().to_string()
    }

    /// Its address as `key=value` pairs.
    #[must_use]
    pub fn address(&self) -> String {
        format!("host={} user=tester dbname=postgres", self.dir.path().display())
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("tester")
    }

    /// Its address as a URL, for a user, who may have a password (`user:password`).
    #[must_use]
    pub fn url_of(&self, user: &str) -> String {
        format!("postgres://{user}@{}/postgres", self.dir.path().display().to_string().replace('/', "%2F"))
    }

    /// A connection.
    ///
    /// # Panics
    /// The server does not answer.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::connect(&self.address(), NoTls).expect("the server answers")
    }

    /// A backup of a schema, as `pg_dump` makes it.
    ///
    /// # Panics
    /// There is no such schema.
    #[must_use]
    pub fn dump(&self, schema: &str) -> Vec<u8> {
        let mut dump = Command::new(programs().join("pg_dump"));
        let dumped = dump.arg(format!("--schema={schema}")).arg(self.address()).output().expect("pg_dump");
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        dumped.stdout
    }

    /// Puts a backup of a schema in its place.
    ///
    /// # Panics
    /// It is in use, or the backup is none.
    pub fn restore(&self, schema: &str, dump: &[u8]) {
        self.client().batch_execute(&format!("DROP SCHEMA {schema} CASCADE")).expect("dropped");
        let mut restoring = Command::new(programs().join("psql"))
            .args(["--quiet", "--set=ON_ERROR_STOP=1", &self.address()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("psql");
        restoring.stdin.take().expect("piped").write_all(dump).expect("it reads");
        assert!(restoring.wait().expect("it ends").success(), "the backup is not restored");
    }

    /// Seconds of a processor that its processes have had so far, also those that have ended.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        // proc(5): utime, stime, and both again of children that have ended.
        let ticks = |id, fields: usize| {
            let stat = stat(id);
            stat.split(' ').skip(11).take(fields).filter_map(|field| field.parse::<i64>().ok()).sum::<i64>()
        };
        let running: i64 = children(self.id()).into_iter().map(|id| ticks(id, 2)).sum();
        (ticks(self.id(), 4) + running) as f64 / TICKS_PER_SECOND
    }

    /// Bytes of its write-ahead log so far.
    ///
    /// # Panics
    /// It does not answer.
    #[must_use]
    pub fn wal_bytes(&self) -> f64 {
        let row = self.client().query_one("SELECT (pg_current_wal_lsn() - '0/0')::float8", &[]);
        row.expect("the server answers").get(0)
    }

    /// Ends all its processes at once, by SIGKILL.
    ///
    /// # Panics
    /// They cannot be ended.
    pub fn kill(&mut self) {
        let ids = children(self.process.id());
        self.process.kill().expect("a process of ours");
        self.process.wait().expect("it ends");
        // One that ended by itself meanwhile is no matter.
        let _ =
            Command::new("kill").arg("-KILL").args(ids.iter().map(ToString::to_string)).stderr(Stdio::null()).status();
        // Until then they have a part in its memory, and it does not start again.
        until("its processes end", || ids.iter().all(|id| matches!(stat(*id).chars().next(), None | Some('Z'))));
    }

    /// Stops all its processes: it takes connections, and says nothing, until what this gives is dropped.
    ///
    /// # Panics
    /// They cannot be stopped.
    #[must_use]
    pub fn pause(&self) -> Paused {
        let paused = Paused { ids: [vec![self.id()], children(self.id())].concat() };
        paused.signal("-STOP");
        paused
    }

    /// Stops the processes that serve the sessions of an application. None of them is in a transaction then, so they hold no row locks.
    /// The application waits for its answers. Dropping the value lets the processes go on.
    ///
    /// # Panics
    /// There are none, or they cannot be stopped.
    #[must_use]
    pub fn pause_sessions(&self, application: &str) -> Paused {
        let sessions = "SELECT pid, coalesce(state = 'idle', false) FROM pg_stat_activity WHERE application_name = $1";
        let mut client = self.client();
        let mut sessions = || client.query(sessions, &[&application]).expect("the statement is right");
        let mut paused = None;
        until("no session is in a transaction", || {
            let ids = sessions().iter().map(|row| row.get::<_, i32>(0).unsigned_abs()).collect::<Vec<u32>>();
            assert!(!ids.is_empty(), "{application} has no session");
            // Those before go on here.
            let now = paused.insert(Paused { ids });
            now.signal("-STOP");
            sessions().iter().all(|row| now.ids.contains(&row.get::<_, i32>(0).unsigned_abs()) && row.get(1))
        });
        paused.expect("they are stopped")
    }

    /// Makes a standby of it, as which it starts again. `pg_promote()` makes a primary of it.
    ///
    /// # Panics
    /// The file that says so cannot be made.
    pub fn demote(&self) {
        std::fs::write(self.dir.path().join("data/standby.signal"), "").expect("the server's directory");
        if let Some(account) = self.account {
            let owned = Command::new("chown").arg(account).arg(self.dir.path().join("data/standby.signal")).status();
            assert!(owned.expect("chown").success(), "there is no account {account}");
        }
    }

    /// Starts it again, on the same data. It does not wait for an answer.
    pub fn restart(&mut self) {
        self.process = run(self.dir.path(), self.account, &self.settings);
    }
}

/// A server that is stopped.
pub struct Paused {
    ids: Vec<u32>,
}

impl Paused {
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").arg(signal).args(self.ids.iter().map(ToString::to_string)).status();
        assert!(sent.expect("kill starts").success(), "its processes are there");
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        self.signal("-CONT");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT is its immediate shutdown, which also ends what it started; a kill would leave that behind.
        let _ = Command::new("kill").args(["-QUIT", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

/// Makes the directory of a server's data: a copy of the one that was made first, since `initdb` takes a second of a processor, and tests
/// start some hundred servers. The copies have the same system identifier, which nothing here reads.
fn initialize(programs: &Path, account: Option<&str>, data: &Path) {
    let version = Command::new(programs.join("initdb")).arg("--version").output().expect("initdb").stdout;
    let owner = account.unwrap_or("own");
    let kept = format!("{} {owner} {}", String::from_utf8_lossy(&version).trim(), INITDB.join(" "));
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/testdb").join(kept);
    if !kept.exists() {
        let made = as_account(account, &programs.join("initdb")).args(INITDB).arg("--pgdata").arg(data).output();
        let made = made.expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        keep(data, &kept);
        return;
    }
    copy(&kept, data);
}

/// Keeps a copy of a directory under a name at which it is whole.
fn keep(data: &Path, kept: &Path) {
    let place = kept.parent().expect("a directory below target");
    std::fs::create_dir_all(place).expect("target can be written");
    let begun = TempDir::new_in(place).expect("target can be written");
    copy(data, &begun.path().join("data"));
    // Another test may have been first; its copy is as good.
    if std::fs::rename(begun.path().join("data"), kept).is_err() {
        assert!(kept.exists(), "{} cannot be made", kept.display());
    }
}

/// Copies a directory with its owner and rights.
fn copy(from: &Path, to: &Path) {
    let copied =
        Command::new("cp").arg("--archive").arg("--no-target-directory").args([from, to]).output().expect("cp");
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
}

fn run(dir: &Path, account: Option<&str>, settings: &[String]) -> Child {
    as_account(account, &programs().join("postgres"))
        .args(["-c", "listen_addresses=", "-c", "max_connections=40", "-k"])
        .arg(dir)
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .arg("-D")
        .arg(dir.join("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("postgres")
}

/// The processes that a process started.
fn children(parent: u32) -> Vec<u32> {
    let processes = Path::new("/proc").read_dir().into_iter().flatten().flatten();
    let ids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    ids.filter(|id| stat(*id).split_whitespace().nth(1).and_then(|id| id.parse().ok()) == Some(parent)).collect()
}

/// What the system says of a process behind its name, which may have spaces: the state, then the parent. Nothing once it is gone.
fn stat(id: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").map(|(_, behind)| behind.to_owned()).unwrap_or_default()
}

/// Waits for something that another process does.
///
/// # Panics
/// It does not come.
pub fn until(what: &str, mut test: impl FnMut() -> bool) {
    for _ in 0..TRIES {
        if test() {
            return;
        }
        std::thread::sleep(TRY_EVERY);
    }
    panic!("waited in vain: {what}");
}

/// A command that ends with the test, however the test ends.
fn as_account(account: Option<&str>, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if let Some(account) = account {
        command.args(["--reuid", account, "--regid", account, "--init-groups"]);
    }
    command.args(["--pdeathsig", "QUIT", "--"]).arg(program);
    command
}

/// The directory of the server's programs, which Debian keeps out of `PATH`.
fn programs() -> PathBuf {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists()).collect();
    found.sort();
    found.pop().expect("PostgreSQL is not installed: apt-get install postgresql")
}
