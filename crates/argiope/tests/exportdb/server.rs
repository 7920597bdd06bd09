//! A PostgreSQL server of a test's own: in a temporary directory, on a socket in it, gone with the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// The account as which the server runs where the test has all rights: PostgreSQL refuses those.
const ACCOUNT: &str = "postgres";
/// How often, and at what distance, an answer of the server is waited for.
const TRIES: u32 = 600;
const TRY_EVERY: Duration = Duration::from_millis(100);

/// A running server.
pub struct Postgres {
    process: Child,
    dir: TempDir,
}

impl Postgres {
    /// Starts one.
    pub fn start() -> Self {
        let programs = programs();
        let dir = TempDir::new().expect("a directory");
        let account = Path::new("/root").read_dir().is_ok().then_some(ACCOUNT);
        if account.is_some() {
            let owned = Command::new("chown").arg(ACCOUNT).arg(dir.path()).status();
            assert!(owned.expect("chown").success(), "there is no account {ACCOUNT}");
        }
        let data = dir.path().join("data");
        let made = as_account(account, &programs.join("initdb"))
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=tester", "--pgdata"])
            .arg(&data)
            .output()
            .expect("initdb");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let process = as_account(account, &programs.join("postgres"))
            .args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=20", "-k"])
            .arg(dir.path())
            .arg("-D")
            .arg(&data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("postgres");
        let server = Postgres { process, dir };
        until("the server answers", || Client::connect(&server.address(), NoTls).is_ok());
        server
    }

    /// What to give to `-o`.
    pub fn address(&self) -> String {
        format!("host={} user=tester dbname=postgres", self.dir.path().display())
    }

    /// A connection.
    pub fn client(&self) -> Client {
        Client::connect(&self.address(), NoTls).expect("the server answers")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT is its immediate shutdown, which also ends what it started; a kill would leave that behind.
        let _ = Command::new("kill").args(["-QUIT", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

/// Waits for something that another process does.
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
