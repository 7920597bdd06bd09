//! nginx on loopback, with a configuration of its own and nothing left behind: the server of real pages.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tempfile::TempDir;

/// How long nginx may take to listen.
const START_MAX: Duration = Duration::from_secs(10);

/// How often it is tried.
const TRY_EVERY: Duration = Duration::from_millis(20);

/// A running nginx of one process: sendfile, keep-alive, no log. It ends with the value.
pub struct Nginx {
    process: Child,
    /// The port it listens on.
    pub port: u16,
    dir: TempDir,
}

impl Nginx {
    /// Serves directories, each at an address of its own, all on one free port and with the same further settings.
    ///
    /// # Errors
    /// nginx is not there, or does not listen.
    pub fn serve(roots: &[(Ipv4Addr, PathBuf)], settings: &str) -> anyhow::Result<Self> {
        let port = free_port()?;
        let mut servers = String::new();
        for (address, root) in roots {
            writeln!(servers, "server {{ listen {address}:{port}; root {}; {settings} }}", root.display())?;
        }
        let first = roots.first().context("nothing to serve")?.0;
        Self::start(&servers, SocketAddr::from((first, port)))
    }

    /// Starts it with `server` blocks, one of which listens on `address`.
    ///
    /// # Errors
    /// nginx is not there, or does not listen.
    pub fn start(servers: &str, address: SocketAddr) -> anyhow::Result<Self> {
        let dir = TempDir::with_prefix("argiope-bench-nginx-")?;
        let configuration = dir.path().join("nginx.conf");
        std::fs::write(&configuration, configuration_of(dir.path(), servers)?)?;
        let process = Command::new("nginx")
            .arg("-p")
            .arg(dir.path())
            .arg("-c")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(dir.path().join("stderr"))?)
            .spawn()
            .context("nginx cannot be started")?;
        let mut nginx = Self { process, port: address.port(), dir };
        nginx.wait(address)?;
        Ok(nginx)
    }

    fn wait(&mut self, address: SocketAddr) -> anyhow::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if self.process.try_wait()?.is_some() || began.elapsed() > START_MAX {
                let said = std::fs::read_to_string(self.dir.path().join("stderr")).unwrap_or_default();
                bail!("nginx does not listen on {address}: {said}");
            }
            std::thread::sleep(TRY_EVERY);
        }
        Ok(())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // One process without children (`master_process off`), so nothing stays.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that was free on loopback just now.
///
/// # Errors
/// There is none.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn configuration_of(dir: &Path, servers: &str) -> anyhow::Result<String> {
    let mut scratch = String::new();
    for of in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        writeln!(scratch, "  {of}_temp_path {}/{of};", dir.display())?;
    }
    Ok(format!(
        "daemon off; master_process off; worker_processes 1; pid {0}/pid; error_log {0}/errors crit;
events {{ worker_connections 8192; }}
http {{
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=50000;
  keepalive_timeout 60s; keepalive_requests 100000000; server_names_hash_max_size 8192;
{scratch}{servers}}}
",
        dir.display()
    ))
}
