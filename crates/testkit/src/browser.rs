//! A real browser: Chromium without a window, spoken to in its DevTools protocol over a pair of pipes.
//!
//! Every command is answered, so nothing here waits for a time to pass. A browser that says nothing for long fails the test, which shows
//! what it said before.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// What Chromium is started with. The shell gives it the pipes where it looks for them: descriptors 3 and 4.
const START: &str = "exec chromium --remote-debugging-pipe \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";

const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    // The list below the address is a page of its own, which takes half of the time of a start.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
];

/// How long the browser may say nothing while something is waited for.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// Messages that are read before somebody looks at them. The browser waits where there are more.
const MESSAGES_MAX: usize = 1_024;

/// Elements that the Tab key passes on a page, at most.
const TABS_MAX: usize = 400;

/// Stops of a walk that are no links, fields or buttons, at most.
const TABS_MORE: u64 = 50;

/// Begins a walk: lays open what is folded, and gives how many stops it has to have.
const STOPS: &str = "(() => {
    window.fetch = () => new Promise(() => {});
    for (const folded of document.querySelectorAll('details')) folded.open = true;
    document.activeElement.blur();
    const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]');
    const can = (it) => !it.disabled && it.type !== 'hidden' && it.checkVisibility();
    window.walked = { stops: [...all].filter(can), seen: new Set(), faults: [] };
    return window.walked.stops.length; })()";

/// Looks at a stop of a walk. True at its end: the focus has left the page, or comes back to where it was.
const STOP: &str = "(() => {
    const { seen, faults, last } = window.walked, it = document.activeElement;
    // A field of several parts has a stop for each.
    if (it === last) return false;
    if (it === document.body || seen.has(it)) return true;
    window.walked.last = it;
    seen.add(it);
    const { outlineStyle, outlineWidth } = getComputedStyle(it), box = it.getBoundingClientRect();
    const isMarked = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0;
    const isThere = box.width > 0 && box.height > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
    if (!isMarked || !isThere) faults.push(`the focus is not visible: ${it.outerHTML.slice(0, 200)}`);
    return false; })()";

/// What a walk found.
const FAULTS: &str = "(() => {
    const { stops, seen, faults } = window.walked;
    return [...faults, ...stops.filter((it) => !seen.has(it)).map((it) => `not reached: ${it.outerHTML.slice(0, 200)}`)]; })()";

/// A browser with one page. It ends with the value, whatever happens.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    /// Its messages, which a thread reads.
    messages: Receiver<Vec<u8>>,
    session: Value,
    next_id: u64,
    /// Everything the browser said of its own accord since the page was opened.
    events: Vec<Value>,
    /// What the URLs begin with that the page may ask for.
    origin: String,
    /// Pages run no scripts.
    is_without_scripts: bool,
    _profile: TempDir,
}

/// What a screenshot shows.
pub struct Shot {
    pub width: u32,
    pub height: u32,
    pixels: Vec<u8>,
}

impl Shot {
    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * 3;
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// The share of pixels that are about as in another picture of the same size.
    pub fn likeness(&self, other: &Shot) -> f64 {
        assert_eq!((self.width, self.height), (other.width, other.height), "the same window");
        let is_like = |(one, other): &(&[u8], &[u8])| one.iter().zip(*other).all(|(a, b)| a.abs_diff(*b) < 12);
        let like = self.pixels.chunks(3).zip(other.pixels.chunks(3)).filter(is_like).count();
        like as f64 / f64::from(self.width * self.height)
    }

    /// The share of pixels of about this colour, in a rectangle.
    pub fn share(&self, colour: [u8; 3], [left, top, width, height]: [u32; 4]) -> f64 {
        let is_like = |pixel: [u8; 3]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 12);
        let places = (top..(top + height).min(self.height))
            .flat_map(|y| (left..(left + width).min(self.width)).map(move |x| (x, y)));
        let (mut like, mut all) = (0_u32, 0_u32);
        for (x, y) in places {
            all += 1;
            like += u32::from(is_like(self.at(x, y)));
        }
        f64::from(like) / f64::from(all.max(1))
    }
}

impl Browser {
    /// Starts the browser.
    pub fn start() -> Self {
        Browser::with(&[])
    }

    /// The same with more flags.
    pub fn with(flags: &[&str]) -> Self {
        let profile = TempDir::new().expect("a directory");
        let mut process = Command::new("sh")
            .args(["-c", START, "chromium"])
            .args(FLAGS)
            .args(flags)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            // The directory of its socket goes with the profile.
            .env("TMPDIR", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("a shell");
        let commands = process.stdin.take().expect("piped");
        let messages = read(process.stdout.take().expect("piped"));
        let mut browser = Browser {
            process,
            commands,
            messages,
            session: Value::Null,
            next_id: 0,
            events: Vec::new(),
            origin: String::new(),
            is_without_scripts: false,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and gives its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        let sent = self.commands.write_all(format!("{command}\0").as_bytes());
        sent.expect("chromium runs: the tests need the Debian package chromium (apt-get install chromium)");
        loop {
            let mut message = self.message(method);
            if message["id"] == json!(id) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    /// The next message, while `awaited` has not come.
    fn message(&mut self, awaited: &str) -> Value {
        let bytes = self.messages.recv_timeout(SILENCE_MAX).unwrap_or_else(|error| {
            let said = self.events.iter().map(|event| format!("{} {}", event["method"], event["params"]["type"]));
            panic!(
                "no {awaited} of chromium: {error} (the tests need the Debian package chromium: apt-get install chromium) after {:?}",
                said.collect::<Vec<_>>()
            )
        });
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Waits for an event since the page was opened.
    fn wait_for(&mut self, method: &str) {
        while self.events.iter().all(|event| event["method"] != method) {
            let message = self.message(method);
            self.events.push(message);
        }
    }

    /// Shows a file in a window of this width, in CSS pixels, in the light or in the dark.
    pub fn show(&mut self, file: &Path, width: u32, dark: bool) {
        self.open("file://", &file.display().to_string(), width, dark);
    }

    /// Opens a path of an origin, the only one that the page may ask, in a window of this width, in CSS pixels.
    pub fn open(&mut self, origin: &str, path: &str, width: u32, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        origin.clone_into(&mut self.origin);
        let url = format!("{origin}{path}");
        self.navigate(|browser| drop(browser.call("Page.navigate", json!({ "url": url }))));
    }

    /// Does what leads to another page, and waits until that is shown.
    pub fn navigate(&mut self, act: impl FnOnce(&mut Self)) {
        self.events.clear();
        act(self);
        self.wait_for("Page.loadEventFired");
        self.settle();
    }

    /// Runs no scripts of pages from now on, as if a user had switched them off. Expressions of tests still have values.
    pub fn without_scripts(&mut self) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
        self.is_without_scripts = true;
    }

    /// Waits until what was changed is painted. Without scripts nothing tells when that is, and nothing changes by itself.
    pub fn settle(&mut self) {
        if self.is_without_scripts {
            return;
        }
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
    }

    /// The value of an expression in the page; promises are waited for.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", parameters);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// Waits until an expression in the page is true, from one painted frame to the next.
    pub fn until(&mut self, condition: &str) {
        self.value(&format!(
            "new Promise((done) => {{ const look = () => {{ if ({condition}) done(true); else requestAnimationFrame(look); }}; look(); }})"
        ));
    }

    /// The text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_else(|| panic!("{selector} has no text")).to_owned()
    }

    /// The left, the top, the width and the height of an element in the window, after it was scrolled into it.
    pub fn place(&mut self, selector: &str) -> [f64; 4] {
        let selector = json!(selector);
        let box_of = format!(
            "(() => {{ const it = document.querySelector({selector}); it.scrollIntoView({{ block: 'center' }});
              const box = it.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }})()"
        );
        let place = self.value(&box_of);
        [0, 1, 2, 3].map(|at| place[at].as_f64().expect("a place"))
    }

    /// Clicks on the middle of an element.
    pub fn click(&mut self, selector: &str) {
        self.press_on(selector);
        self.settle();
    }

    /// Clicks on an element that leads to another page.
    pub fn click_through(&mut self, selector: &str) {
        self.navigate(|browser| browser.press_on(selector));
    }

    fn press_on(&mut self, selector: &str) {
        let [left, top, width, height] = self.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let click = json!({ "button": "left", "clickCount": 1 });
            self.dispatch_mouse(kind, left + width / 2.0, top + height / 2.0, click);
        }
    }

    /// Does something with the mouse.
    pub fn mouse(&mut self, kind: &str, x: f64, y: f64, more: Value) {
        self.dispatch_mouse(kind, x, y, more);
        self.settle();
    }

    fn dispatch_mouse(&mut self, kind: &str, x: f64, y: f64, mut more: Value) {
        (more["type"], more["x"], more["y"]) = (json!(kind), json!(x), json!(y));
        self.call("Input.dispatchMouseEvent", more);
    }

    /// Presses a key that writes nothing.
    pub fn key(&mut self, key: &str) {
        self.press(key);
        self.settle();
    }

    /// Presses Enter where it leads to another page.
    pub fn follow(&mut self) {
        self.navigate(|browser| browser.press("Enter"));
    }

    fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            _ => (0, ""),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Moves the focus on by the Tab key until it is on an element of this selector, past elements that all show the focus.
    pub fn tab_to(&mut self, selector: &str) {
        for _ in 0..TABS_MAX {
            self.key("Tab");
            let focused = format!(
                "(() => {{ const it = document.activeElement;
                  return [it.matches({}), it === document.body || getComputedStyle(it).outlineStyle !== 'none']; }})()",
                json!(selector)
            );
            let focused = self.value(&focused);
            assert_eq!(focused[1], true, "on the way to {selector} an element does not show that it has the focus");
            if focused[0] == true {
                return;
            }
        }
        panic!("{TABS_MAX} Tab keys do not lead to {selector}");
    }

    /// Walks over the whole page by the Tab key, with all that is folded laid open, and says what is wrong: links, fields and buttons that
    /// the walk does not reach, and those that do not show that they have the focus. What the page loads itself does not change it meanwhile.
    pub fn walk(&mut self) -> Vec<String> {
        let stops = self.value(STOPS).as_u64().expect("a number of stops");
        // Chromium stops at what scrolls, too.
        let tabs_max = 2 * stops + TABS_MORE;
        for _ in 0..tabs_max {
            self.press("Tab");
            if self.value(STOP) == true {
                break;
            }
        }
        let faults = self.value(FAULTS);
        faults.as_array().expect("faults").iter().map(|fault| fault.as_str().expect("a text").to_owned()).collect()
    }

    /// Enters a text.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
        self.settle();
    }

    /// What the window shows; kept as a file too where `ARGIOPE_SCREENSHOTS` names a directory.
    pub fn shot(&mut self, name: &str) -> Shot {
        let data = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let png = data_encoding::BASE64.decode(data["data"].as_str().expect("a picture").as_bytes()).expect("base64");
        if let Some(dir) = std::env::var_os("ARGIOPE_SCREENSHOTS") {
            std::fs::write(Path::new(&dir).join(format!("{name}.png")), &png).expect("a file");
        }
        let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
        decoder.set_transformations(png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("of a size")];
        let info = reader.next_frame(&mut pixels).expect("a PNG");
        let pixels = match info.color_type {
            png::ColorType::Rgb => pixels,
            png::ColorType::Rgba => pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect(),
            other => panic!("colours as {other:?}"),
        };
        Shot { width: info.width, height: info.height, pixels }
    }

    /// Bytes transferred for the page and what it loaded, as far as it has ended, heads of the answers among them.
    pub fn bytes_loaded(&self) -> u64 {
        let ended = self.events.iter().filter(|event| event["method"] == "Network.loadingFinished");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        ended.filter_map(|event| event["params"]["encodedDataLength"].as_f64()).map(|bytes| bytes as u64).sum()
    }

    /// Fails if, since the page was opened, a script failed, the policy stopped something, or another origin was asked.
    pub fn assert_quiet(&self) {
        for event in &self.events {
            let method = event["method"].as_str().unwrap_or_default();
            assert!(
                !matches!(method, "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled"),
                "{event}"
            );
            if method == "Network.requestWillBeSent" {
                let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
                let is_allowed = url.strip_prefix(&self.origin).is_some_and(|path| path.starts_with('/'));
                assert!(is_allowed || url.starts_with("data:"), "{url} was asked for");
            }
        }
    }
}

/// Reads messages until the pipe ends. Each ends with a zero.
fn read(pipe: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, messages) = sync_channel(MESSAGES_MAX);
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut bytes = Vec::new();
            let is_read = pipe.read_until(0, &mut bytes).is_ok();
            if !is_read || bytes.pop() != Some(0) || sender.send(bytes).is_err() {
                return;
            }
        }
    });
    messages
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The whole group: a browser is many processes.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.process.wait();
    }
}
