//! A browser process, and its end.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use fresh::Temporary;
use rustix::process::{Pid, Signal, geteuid, kill_process_group, test_kill_process_group};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::connection::Connection;
use crate::paused::{attaching, discovering_workers, requests_of_workers};
use crate::{BrowserError, RenderFailure, Settings};

/// The shell puts the pipes where Chromium looks for them, at descriptors 3 and 4, and becomes Chromium.
const START: &str = "exec \"$0\" --remote-debugging-pipe \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";

/// The longest path of a profile, in bytes. The browser puts a socket below it, at `org.chromium.Chromium.XXXXXX/SingletonSocket`,
/// and the path of a socket has 107 bytes at most (unix(7)).
const PROFILE_PATH_MAX: usize = 61;
/// A process that is killed is waited for so long at most: until it has ended, it may write into the profile.
const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// Between two looks whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Every so many looks read /proc. What reads the entries of processes while they end holds up the system, which takes these away.
const LOOKS_OF_A_READING: u128 = 20;

/// What keeps the browser from using the network by itself, and from doing anything that a page does not need. Whatever is not
/// asked of the source would go to a proxy that is not there, under names that do not resolve.
const FLAGS: [&str; 33] = [
    "--headless",
    // As wide as on a desktop. The browser's own window has 780 pixels, and pages show less in it, as on a tablet.
    "--window-size=1280,800",
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-search-engine-choice-screen",
    "--disable-site-isolation-trials",
    // The last three keep the list below the address from being a page of its own, which takes half of the time of a start.
    "--disable-features=IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,ServiceWorkerPaymentApps,\
     AutofillServerCommunication,CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,HttpsUpgrades,\
     WebRtcHideLocalIpsWithMdns,WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
    "--password-store=basic",
    "--js-flags=--max-old-space-size=512",
];

/// A running browser. Its processes end with the value.
pub(crate) struct Browser {
    pub(crate) connection: Connection,
    process: Child,
    group: Option<Pid>,
    /// Pages that were begun.
    pages: AtomicU32,
    /// All that the browser writes: its profile, and its temporary files too, which it leaves behind when it is killed.
    _profile: Temporary,
}

impl Browser {
    /// Starts a browser.
    pub(crate) async fn start(settings: &Settings) -> Result<Self, RenderFailure> {
        let browser = Browser::launch(&settings.browser, &FLAGS).await?;
        browser.connection.call(None, "Target.setAutoAttach", attaching(&["shared_worker"])).await?;
        browser.connection.call(None, "Target.setDiscoverTargets", discovering_workers()).await?;
        browser.connection.call(None, "Fetch.enable", requests_of_workers()).await?;
        Ok(browser)
    }

    /// Starts a program with these arguments, and a profile that ends with it.
    pub(crate) async fn launch(program: &Path, arguments: &[&str]) -> Result<Self, RenderFailure> {
        let failed = |detail: String| BrowserError::Start { browser: program.display().to_string(), detail };
        let profile = Temporary::new_in(&std::env::temp_dir()).map_err(|error| failed(error.to_string()))?;
        if profile.path().as_os_str().len() > PROFILE_PATH_MAX {
            let parent = profile.path().parent().unwrap_or(profile.path()).display();
            return Err(failed(format!("the path {parent} is too long for it: set TMPDIR to a shorter one")).into());
        }
        let mut process = Command::new("sh")
            .args(["-c", START])
            .arg(program)
            .args(is_sandbox_off().then_some("--no-sandbox"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(arguments)
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let group = process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(failed("no pipes".to_owned()).into());
        };
        let connection = Connection::new(stdin, stdout);
        let browser = Browser { connection, process, group, pages: AtomicU32::new(0), _profile: profile };
        let answered = browser.connection.call(None, "Browser.getVersion", json!({})).await;
        answered.map_err(|_| failed("it ended at once; is it Chromium?".to_owned()))?;
        Ok(browser)
    }

    /// Counts a page. Gives which it is, from 1.
    pub(crate) fn begin_page(&self) -> u32 {
        self.pages.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Memory that the processes of the browser have each for itself, in bytes: what they share would be counted for each.
    pub(crate) fn private_bytes(&self) -> u64 {
        let statm = |process: PathBuf| std::fs::read_to_string(process.join("statm")).ok();
        self.processes().filter_map(|process| private_of(&statm(process)?)).sum()
    }

    /// The places in /proc of the processes of the browser that have not ended.
    fn processes(&self) -> impl Iterator<Item = PathBuf> {
        let group = self.group.map(|group| group.as_raw_nonzero().get());
        let all = group.and_then(|_| std::fs::read_dir("/proc").ok()).into_iter().flatten().flatten();
        let group_of = |process: &Path| running_group_of(&std::fs::read_to_string(process.join("stat")).ok()?);
        all.map(|entry| entry.path()).filter(move |process| group_of(process).is_some_and(|of| Some(of) == group))
    }

    /// True if the browser has processes, those included that have ended and that no other process has waited for.
    fn has_processes(&self) -> bool {
        self.group.is_some_and(|group| test_kill_process_group(group).is_ok())
    }

    /// Ends the browser.
    pub(crate) fn kill(&self) {
        if let Some(group) = self.group {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Browser {
    /// Waits for the end of the processes: the profile, which goes next, is theirs until then.
    fn drop(&mut self) {
        self.kill();
        let looks_max = ENDS_WITHIN.as_millis() / LOOK_EVERY.as_millis();
        for look in 1..=looks_max {
            // Takes the process off the list; the runtime does so later if it has not ended yet.
            let _ = self.process.try_wait();
            if !self.has_processes() || look % LOOKS_OF_A_READING == 0 && self.processes().next().is_none() {
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// The group of a process that has not ended: proc(5), fields 3, 5 and 20 of `stat`, behind a name that may hold anything. The first
/// thread of a process may end before others.
fn running_group_of(stat: &str) -> Option<i32> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let has_threads = fields.get(17).is_some_and(|threads| !matches!(*threads, "0" | "1"));
    let has_ended = matches!(*fields.first()?, "Z" | "X") && !has_threads;
    fields.get(2)?.parse().ok().filter(|_| !has_ended)
}

/// The private memory of a process in bytes: what is resident of it, less what is shared (`statm`, proc(5)).
fn private_of(statm: &str) -> Option<u64> {
    /// Of a page of memory, in bytes, as on all machines that Chromium runs on.
    const PAGE_BYTES: u64 = 4_096;
    let mut fields = statm.split_ascii_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (fields.next()??, fields.next()??);
    Some(resident.saturating_sub(shared) * PAGE_BYTES)
}

/// Chromium does not start its sandbox as root.
pub(crate) fn is_sandbox_off() -> bool {
    geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_read_as_the_system_writes_them() {
        assert_eq!(running_group_of("7 (a) b) S 1 42 43 0 -1 4194560 100 0 0"), Some(42));
        let ended = |threads: u32| format!("7 (a) Z 1 42 43 0 -1 4194560 100 0 0 0 0 0 0 0 20 0 {threads} 0 100");
        assert_eq!([running_group_of(&ended(1)), running_group_of(&ended(2))], [None, Some(42)]);
        assert_eq!(running_group_of(""), None);
        assert_eq!(private_of("1000 250 50 10 0 90 0\n"), Some(200 * 4_096));
        assert_eq!(private_of("1000"), None);
    }
}
