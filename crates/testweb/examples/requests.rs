//! How many requests a second the server answers: pages of a synthetic web of ten million, over kept connections, with
//! the clients in the same process. `cargo run --release -p argiope-testweb --example requests [CONNECTIONS [SECONDS [THREADS]]]`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testweb::synthetic::{PageId, Settings, TEXT_BYTES_MEAN};
use testweb::{Config, Server, Synthetic, Web};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

const SITES: u64 = 10_000;
const PAGES: u64 = 10_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let connections = arguments.next().transpose()?.unwrap_or(64);
    let seconds = arguments.next().transpose()?.unwrap_or(5);
    let threads = usize::try_from(arguments.next().transpose()?.unwrap_or(2))?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()?
        .block_on(measure(connections, Duration::from_secs(seconds)))
}

async fn measure(connections: u64, duration: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings { seed: 1, sites: SITES, pages: PAGES, degree: 10, text_bytes_mean: TEXT_BYTES_MEAN };
    let web = Web::new().site("*.synthetic.test", Synthetic::new(settings)?);
    let server = Server::start(Config { log_entries_max: 0, ..Config::new(web) }).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    let clients: Vec<_> =
        (0..connections).map(|number| tokio::spawn(ask(server.address(), number, Arc::clone(&stop)))).collect();
    tokio::time::sleep(duration).await;
    stop.store(true, Ordering::Relaxed);
    let mut bytes = 0;
    for client in clients {
        bytes += client.await??;
    }
    let (seconds, requests) = (start.elapsed().as_secs_f64(), server.requests());
    println!(
        "{requests} requests over {connections} connections in {seconds:.2} s: {:.0} requests/s, {:.0} MB/s",
        requests as f64 / seconds,
        bytes as f64 / seconds / 1e6
    );
    server.shutdown().await;
    Ok(())
}

/// Asks for one page after the other until told to stop; returns the bytes received.
async fn ask(address: SocketAddr, number: u64, stop: Arc<AtomicBool>) -> std::io::Result<usize> {
    let mut stream = TcpStream::connect(address).await?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    let mut bytes = 0;
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = PageId { site: (number * 7919 + round) % SITES, page: round % (PAGES / SITES) };
        let head = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nUser-Agent: load\r\n\r\n",
            id.path(),
            id.host()
        );
        stream.write_all(head.as_bytes()).await?;
        buffer.clear();
        while !is_whole(&buffer) {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        bytes += buffer.len();
    }
    Ok(bytes)
}

/// Whether the reply has come to its end.
fn is_whole(reply: &[u8]) -> bool {
    const LENGTH: &[u8] = b"Content-Length: ";
    let Some(head) = memchr::memmem::find(reply, b"\r\n\r\n") else {
        return false;
    };
    let Some(at) = memchr::memmem::find(&reply[..head], LENGTH) else {
        return true;
    };
    let digits = reply[at + LENGTH.len()..head].iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    reply.len() >= head + 4 + length
}
