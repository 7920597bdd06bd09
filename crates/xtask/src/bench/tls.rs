//! Many hosts over TLS with pages as large as those of today's web, sent compressed: what a page costs, by HTTP/1.1 and by HTTP/2.
//!
//! The pages are made of lines of the Debian handbook in seven languages, in an order of their own for each, with links to each other.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use flate2::{Compression, GzBuilder};
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured::{self, Measured, median};
use super::nginx::{Nginx, free_port};
use super::run_file::{RunFile, said};
use crate::needs;

/// Hosts, `s0000.bench.test` and so on.
const HOSTS: u64 = 1_000;

/// Pages of a host, `/0.html` and so on.
const PAGES_OF_HOST: u64 = 4;

/// The size of a page; compressed it is a quarter.
const PAGE_BYTES: usize = 240_000;

/// As much of it is data for scripts.
const SCRIPT_BYTES: usize = 100_000;

/// Lines from one card to the next: more than a hundred links a page.
const LINES_A_CARD: usize = 4;

/// Where the lines come from, in languages with alphabets of their own as well.
const HANDBOOK: &str = "/usr/share/doc/debian-handbook/html";
const LANGUAGES: [&str; 7] = ["en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "ru-RU"];

/// Lines with these are left out: they lead elsewhere, or would hide what follows.
const LEFT_OUT: [&str; 6] = ["href=", "src=", "script", "<meta", "<body", "<html"];

/// A way of crawling.
struct Way {
    name: &'static str,
    /// What nginx wants to be told to serve it.
    listen: &'static str,
    options: &'static [&'static str],
}

const WAYS: [Way; 3] = [
    Way { name: "HTTP/1.1", listen: "ssl", options: &[] },
    Way { name: "HTTP/2", listen: "ssl http2", options: &[] },
    Way { name: "HTTP/2, state only", listen: "ssl http2", options: &["--no-archive", "--no-dataset"] },
];

/// Crawls all hosts in each way, in turn.
///
/// # Errors
/// Something is missing, or a crawl does not find every page.
pub fn run(options: &Options) -> anyhow::Result<()> {
    needs::packages(
        "the pages",
        &[("debian-handbook", HANDBOOK), ("nginx-light", "/usr/sbin/nginx"), ("openssl", "/usr/bin/openssl")],
    )?;
    let binary = argiope::binary(options.binary.as_deref())?;
    let web = TempDir::with_prefix("argiope-bench-web-")?;
    eprintln!("xtask: writing {} pages", HOSTS * PAGES_OF_HOST);
    let compressed = write_pages(web.path())?;
    certify(web.path())?;
    let seeds = web.path().join("seeds");
    std::fs::write(&seeds, (0..HOSTS).map(|host| format!("https://{}/0.html\n", name(host))).collect::<String>())?;
    let programs = [said(&binary, &["--version"])?, said("nginx", &["-v"])?];
    let mut file = RunFile::begin("tls", "Many hosts over TLS", &programs)?;
    let pages = HOSTS * PAGES_OF_HOST;
    file.say(&format!(
        "{pages} pages on {HOSTS} hosts, {PAGE_BYTES} bytes each, {} as they are sent; medians of {} rounds.\n",
        compressed / pages,
        options.rounds
    ));
    let mut runs = WAYS.map(|_| Vec::new());
    for round in 1..=options.rounds {
        for (way, runs) in WAYS.iter().zip(&mut runs) {
            let measured = crawl(&binary, web.path(), way)?;
            let (name, wall, cpu) = (way.name, measured.wall_seconds, measured.cpu_seconds);
            eprintln!("xtask: round {round}, {name}: {wall:.1} s, {cpu:.1} CPU s");
            runs.push(measured);
        }
    }
    table(&runs, &mut file)?;
    file.keep()
}

fn table(runs: &[Vec<Measured>], file: &mut RunFile) -> anyhow::Result<()> {
    let pages = HOSTS * PAGES_OF_HOST;
    file.say("| protocol | wall s | CPU s | pages/s | pages/CPU-s | peak MB |\n|---|---|---|---|---|---|");
    for (Way { name, .. }, runs) in WAYS.iter().zip(runs) {
        let of = |of: fn(&Measured) -> f64| median(runs.iter().map(of));
        let (wall, cpu) = (of(|run| run.wall_seconds), of(|run| run.cpu_seconds));
        let (a_second, a_cpu_second) = (pages as f64 / wall, pages as f64 / cpu);
        let peak = of(|run| run.peak_mb);
        file.say(&format!("| {name} | {wall:.1} | {cpu:.1} | {a_second:.0} | {a_cpu_second:.0} | {peak:.0} |"));
    }
    for (Way { name, .. }, runs) in WAYS.iter().zip(runs) {
        let Some(last) = runs.last() else { continue };
        file.say(&format!("\nWhere the time goes, {name}, in the last crawl:\n"));
        file.say(&Summary::read(&last.output)?.stages(pages)?);
    }
    Ok(())
}

fn crawl(binary: &Path, web: &Path, way: &Way) -> anyhow::Result<Measured> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let (web_dir, listen) = (web.display(), way.listen);
    let server = format!(
        "server {{ listen {address} {listen}; server_name .bench.test; root {web_dir}/$host; gzip_static always;
ssl_certificate {web_dir}/certificate.pem; ssl_certificate_key {web_dir}/key.pem; ssl_protocols TLSv1.3; }}\n"
    );
    let _server = Nginx::start(&server, address)?;
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let mut command = argiope::crawl(binary, &dir.path().join("crawl"));
    command.arg("--seeds").arg(web.join("seeds")).arg("--ca-cert").arg(web.join("certificate.pem"));
    command.args(["--connect-to", &format!("::{address}")]).args(way.options);
    let measured = measured::run(&mut command, dir.path())?;
    let fetched = Summary::read(&measured.output)?.fetched();
    if fetched != HOSTS * PAGES_OF_HOST {
        bail!("{fetched} of {} pages were fetched", HOSTS * PAGES_OF_HOST);
    }
    Ok(measured)
}

fn name(host: u64) -> String {
    format!("s{host:04}.bench.test")
}

/// A certificate for all hosts, which is to be trusted itself.
fn certify(dir: &Path) -> anyhow::Result<()> {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=bench.test", "-addext", "subjectAltName=DNS:*.bench.test"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"])
        .arg(dir.join("key.pem"))
        .arg("-out")
        .arg(dir.join("certificate.pem"))
        .output()
        .context("openssl cannot be started")?;
    if !made.status.success() {
        bail!("openssl made no certificate: {}", String::from_utf8_lossy(&made.stderr));
    }
    Ok(())
}

/// Writes the pages of all hosts, compressed, each host in a directory of its name. Gives the bytes of all together.
fn write_pages(dir: &Path) -> anyhow::Result<u64> {
    let lines = lines()?;
    let threads = std::thread::available_parallelism()?.get() as u64;
    std::thread::scope(|scope| {
        let write = |thread: u64| {
            let (lines, mine) = (&lines, (thread..HOSTS).step_by(threads as usize));
            scope.spawn(move || mine.map(|host| write_host(dir, host, lines)).sum::<anyhow::Result<u64>>())
        };
        let started: Vec<_> = (0..threads).map(write).collect();
        started.into_iter().map(|thread| thread.join().map_err(|_| anyhow::anyhow!("a writer panicked"))?).sum()
    })
}

fn write_host(dir: &Path, host: u64, lines: &[String]) -> anyhow::Result<u64> {
    let (dir, mut bytes) = (dir.join(name(host)), 0);
    std::fs::create_dir(&dir)?;
    for page in 0..PAGES_OF_HOST {
        let path = dir.join(format!("{page}.html.gz"));
        let mut file = GzBuilder::new().write(std::fs::File::create(&path)?, Compression::default());
        file.write_all(text(host, page, lines)?.as_bytes())?;
        bytes += file.finish()?.metadata()?.len();
    }
    Ok(bytes)
}

/// A page: lines by chance, the first ones for scripts, then with links to all pages of its host and to others.
fn text(host: u64, page: u64, lines: &[String]) -> anyhow::Result<String> {
    let mut random = Random(host * PAGES_OF_HOST + page + 1);
    let mut text = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{} {page}</title></head><body>\n",
        name(host)
    );
    text.push_str("<script type=\"application/json\">\n");
    while text.len() < SCRIPT_BYTES {
        writeln!(text, "{}", random.one_of(lines))?;
    }
    text.push_str("</script>\n");
    for page in 0..PAGES_OF_HOST {
        writeln!(text, "<li class=\"nav-item\"><a class=\"nav-link\" href=\"/{page}.html\">{page}</a></li>")?;
    }
    while text.len() < PAGE_BYTES {
        for _ in 0..LINES_A_CARD {
            writeln!(text, "{}", random.one_of(lines))?;
        }
        card(&mut text, &mut random)?;
    }
    Ok(text)
}

/// A link as pages made by programs have it, with more markup than text.
fn card(text: &mut String, random: &mut Random) -> std::fmt::Result {
    let (to, page, id) = (name(random.below(HOSTS)), random.below(PAGES_OF_HOST), random.below(1 << 40));
    writeln!(
        text,
        r#"<div class="card card--teaser js-track" data-track="{{&quot;id&quot;:{id},&quot;list&quot;:&quot;related&quot;}}">
<a class="card__link" href="https://{to}/{page}.html" rel="noopener"><svg class="icon icon--arrow" viewBox="0 0 24 24" aria-hidden="true"
focusable="false"><path d="M12 4l-1.4 1.4 5.6 5.6H4v2h12.2l-5.6 5.6L12 20l8-8z"></path></svg><span class="card__title">Page {page} of {to}</span></a></div>"#
    )
}

/// The lines that pages are made of.
fn lines() -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for language in LANGUAGES {
        for entry in Path::new(HANDBOOK).join(language).read_dir()? {
            files.push(entry?.path());
        }
    }
    files.retain(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "html"));
    files.sort_unstable();
    let mut lines = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let wanted = text.lines().filter(|line| !LEFT_OUT.iter().any(|out| line.contains(out)));
        lines.extend(wanted.map(str::to_owned));
    }
    Ok(lines)
}

/// Numbers that are the same in every run (splitmix64).
struct Random(u64);

impl Random {
    fn one_of<'a>(&mut self, lines: &'a [String]) -> &'a str {
        lines.get(self.below(lines.len() as u64) as usize).map_or("", String::as_str)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
