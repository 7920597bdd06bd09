"""Shows pages in Chromium and takes what they look like, with nothing around it: what a crawl with a browser is measured against.

    plain.py BROWSER PORT TABS < URLS

Every host name leads to PORT on loopback. Each page has a context of its own, is loaded, and its document taken as soon as the
load event has come. Prints how many pages were shown, and the bytes of their documents.
"""

import json
import os
import subprocess
import sys
import tempfile

browser, port, tabs = sys.argv[1], sys.argv[2], int(sys.argv[3])
urls = [line.strip() for line in sys.stdin if line.strip()]
profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
to_read, to_write = os.pipe(), os.pipe()


def place_pipes():
    # Chromium reads commands at descriptor 3 and answers at 4.
    os.dup2(to_read[0], 30), os.dup2(to_write[1], 40)
    os.dup2(30, 3), os.dup2(40, 4)


process = subprocess.Popen(
    [browser, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    + ["--disable-background-networking", "--mute-audio", "--disable-features=HttpsUpgrades"]
    + [f"--host-resolver-rules=MAP * 127.0.0.1:{port}", f"--user-data-dir={profile.name}"]
    + (["--no-sandbox"] if os.geteuid() == 0 else [])
    # A window that stays: without one the browser ends with its last page.
    + ["about:blank"],
    preexec_fn=place_pipes,
    close_fds=False,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
os.close(to_read[0]), os.close(to_write[1])
commands, answers = os.fdopen(to_read[1], "wb", 0), os.fdopen(to_write[0], "rb")
waiting, last = {}, 0


def call(then, method, session=None, **parameters):
    global last
    last += 1
    waiting[last] = then
    message = {"id": last, "method": method, "params": parameters}
    if session:
        message["sessionId"] = session
    commands.write(json.dumps(message).encode() + b"\0")


class Tab:
    """Shows one page after the other."""

    def next(self, _=None):
        self.url = urls.pop() if urls else None
        if self.url is None:
            open_tabs.remove(self)
            return
        call(self.with_context, "Target.createBrowserContext", disposeOnDetach=True)

    def with_context(self, result):
        self.context = result["browserContextId"]
        call(self.with_target, "Target.createTarget", url="about:blank", browserContextId=self.context)

    def with_target(self, result):
        call(self.with_session, "Target.attachToTarget", targetId=result["targetId"], flatten=True)

    def with_session(self, result):
        self.session = result["sessionId"]
        by_session[self.session] = self
        call(self.enabled, "Page.enable", self.session)

    def enabled(self, _):
        call(lambda _: None, "Page.navigate", self.session, url=self.url)

    def loaded(self):
        call(self.with_document, "Runtime.evaluate", self.session, expression="document.documentElement.outerHTML")

    def with_document(self, result):
        documents.append(len(result["result"]["value"]))
        del by_session[self.session]
        call(self.next, "Target.disposeBrowserContext", browserContextId=self.context)


def messages():
    rest = b""
    while True:
        read = answers.read1(1 << 20)
        if not read:
            sys.exit("the browser ended")
        *whole, rest = (rest + read).split(b"\0")
        yield from map(json.loads, whole)


by_session, documents = {}, []
open_tabs = [Tab() for _ in range(tabs)]
for tab in list(open_tabs):
    tab.next()
for message in messages():
    if "id" in message:
        waiting.pop(message["id"])(message.get("result", {}))
    elif message["method"] == "Page.loadEventFired" and message["sessionId"] in by_session:
        by_session[message["sessionId"]].loaded()
    if not open_tabs:
        break
process.kill()
process.wait()
print(len(documents), sum(documents))
