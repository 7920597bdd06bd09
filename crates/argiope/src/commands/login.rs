//! `argiope login`: a browser window to log in, whose cookies and storage a crawl can use.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use console::stopping::Signals;
use printable::counted;
use render::{Settings, Window};
use settings::usage;
use tokio::io::{AsyncBufReadExt, BufReader};
use url::Url;

use crate::exit;

/// The variables one of which names the screen, on Linux.
const SCREENS: [&str; 2] = ["DISPLAY", "WAYLAND_DISPLAY"];

/// The arguments of `argiope login`.
#[derive(Args, Debug)]
pub struct LoginArgs {
    /// The page where you log in
    pub url: Url,
    /// The file for the cookies and the storage of pages: only you may read it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file, if it is there
    #[arg(long)]
    replace: bool,
    /// The browser: Chromium or Google Chrome [default: the first found in PATH]
    #[arg(long, value_name = "PATH", env = "ARGIOPE_BROWSER", hide_env_values = true)]
    browser: Option<PathBuf>,
}

/// How the person ended it.
enum Ended {
    /// The window was closed, or Enter was pressed.
    Done,
    /// Ctrl-C.
    Stopped,
}

/// Runs the command.
///
/// # Errors
/// There is no browser or no screen, the file cannot be written, or no cookie came.
pub fn run(args: &LoginArgs) -> anyhow::Result<ExitCode> {
    let LoginArgs { url, output, replace, browser } = args;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(usage(format!("{url}: is no http or https URL")));
    }
    if !replace && output.exists() {
        return Err(usage(format!("{} is there: --replace writes it again", output.display())));
    }
    if cfg!(target_os = "linux")
        && SCREENS.iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty()))
    {
        bail!(
            "there is no screen for a window ({} are not set): log in on another machine, and copy the file here",
            SCREENS.join(" and ")
        );
    }
    let browser = Settings::find_browser(browser.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let state = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let mut window = Window::open(&browser, url.as_str()).await?;
        console::say!("log in in the window; then close it, or press Enter here");
        match ended(&mut window, &mut signals).await {
            Ended::Done => anyhow::Ok(Some(window.storage_state().await)),
            Ended::Stopped => Ok(None),
        }
    })?;
    // A thread may still read standard input.
    runtime.shutdown_background();
    let Some(state) = state else {
        console::say!("stopped: no cookies are written");
        return Ok(ExitCode::from(exit::STOPPED));
    };
    let length = |values: &serde_json::Value| values.as_array().map_or(0, Vec::len) as u64;
    let count = length(&state["cookies"]);
    let origins = state["origins"].as_array().into_iter().flatten();
    let stored: u64 = origins.map(|origin| length(&origin["localStorage"]) + length(&origin["sessionStorage"])).sum();
    if count == 0 && stored == 0 {
        bail!("{url} set no cookies, and stored nothing: nothing is written");
    }
    write(output, &state).with_context(|| format!("cannot write {}", output.display()))?;
    let file = output.display();
    let stored = if stored > 0 { format!(" and {} of storage", counted(stored, "value")) } else { String::new() };
    console::say!("{}{stored} in {file}: `argiope crawl {url} --cookies {file}` uses them", counted(count, "cookie"));
    Ok(ExitCode::SUCCESS)
}

async fn ended(window: &mut Window, signals: &mut Signals) -> Ended {
    let mut line = String::new();
    let mut input = BufReader::new(tokio::io::stdin());
    let enter = async {
        match input.read_line(&mut line).await {
            Ok(1..) => {}
            // There is no terminal: only the window ends it.
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        () = window.closed() => Ended::Done,
        () = enter => Ended::Done,
        _ = signals.next() => Ended::Stopped,
    }
}

/// Writes the file whole or not at all.
fn write(path: &Path, state: &serde_json::Value) -> io::Result<()> {
    let temporary = path.with_added_extension("unfinished");
    let mut file = fresh::create_secret(&temporary)?;
    file.write_all(format!("{state:#}\n").as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)
}
