#!/usr/bin/env python3
"""Documentation sites of Debian as WACZ files: does pywb show their pages as the live site does?

    compare.py ARGIOPE PYWB_PYTHON [SITE...]

Each site is served on loopback, crawled with --requisites, exported as WACZ and added to a pywb. Chromium takes pictures of the same
pages, live and replayed; two pixels are alike if no colour differs by 12 or more. Needs Pillow, and a Python with pywb.
"""

import functools
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile

from PIL import Image, ImageChops

DOC = "/usr/share/doc/"
# Sites with the page to begin with.
SITES = {
    "python3-doc": ("python3-doc/html", "index.html"),
    "postgresql-doc-15": ("postgresql-doc-15/html", "index.html"),
    "openjdk-17-doc": ("openjdk-17-doc/api", "index.html"),
    "nodejs-doc": ("nodejs/api", "index.html"),
    "debian-handbook": ("debian-handbook/html/en-US", "index.html"),
}
PAGES = 5
CRAWLED_MAX = 40
UNLIKE_MIN = 12
WINDOW = "1280,900"
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--force-color-profile=srgb", "--disable-background-networking", "--virtual-time-budget=5000"]
START_SECONDS_MAX = 120


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(directory):
    handler = functools.partial(Quiet, directory=os.path.realpath(directory))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def picture(url, file, arguments=()):
    command = [*CHROMIUM, *arguments, f"--screenshot={file}", f"--window-size={WINDOW}", url]
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    return Image.open(file).convert("RGB")


def likeness(live, replayed):
    """The share of pixels that are alike."""
    unlike = ImageChops.difference(live, replayed).point(lambda value: 255 if value >= UNLIKE_MIN else 0)
    unlike = functools.reduce(ImageChops.lighter, unlike.split())
    return unlike.histogram()[0] / (live.width * live.height)


def replaying(python, home, wacz):
    run = functools.partial(subprocess.run, cwd=home, check=True, capture_output=True)
    manager = "import sys; from pywb.manager.manager import main; main(sys.argv[1:])"
    with open(f"{home}/config.yaml", "w", encoding="utf-8") as file:
        # The page itself, without the frame of the viewer.
        file.write("framed_replay: false\n")
    run([python, "-c", manager, "init", "it"])
    run([python, "-c", manager, "add", "it", wacz, "--unpack-wacz"])
    port = free_port()
    wayback = "import sys; from pywb.apps.cli import wayback; wayback(sys.argv[1:])"
    process = subprocess.Popen([python, "-c", wayback, "-b", "127.0.0.1", "-p", str(port)], cwd=home,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
            return process, port
        except OSError:
            time.sleep(0.2)
    process.kill()
    sys.exit("pywb does not serve")


def compare(argiope, python, name):
    directory, first = SITES[name]
    server = serve(DOC + directory)
    port = server.server_address[1]
    with tempfile.TemporaryDirectory() as home:
        crawl, wacz = f"{home}/crawl", f"{home}/crawl.wacz"
        subprocess.run([argiope, "crawl", f"http://site.test/{first}", "-o", crawl, "--connect-to", f"::127.0.0.1:{port}",
                        "--requisites", "--delay", "0", "--ip-delay", "0", "--connections-per-site", "4",
                        "--max-pages", str(CRAWLED_MAX), "--progress", "none"], capture_output=True)
        subprocess.run([argiope, "export", crawl, "wacz", "-o", wacz], check=True, capture_output=True)
        lines = zipfile.ZipFile(wacz).read("pages/pages.jsonl").decode().splitlines()[1:]
        urls = sorted(json.loads(line)["url"] for line in lines)
        urls = [url for url in urls if url.endswith((".html", "/"))]
        chosen = urls[::max(1, len(urls) // PAGES)][:PAGES]
        process, replay = replaying(python, home, wacz)
        try:
            for url in chosen:
                live = picture(url, f"{home}/live.png", [f"--host-resolver-rules=MAP site.test 127.0.0.1:{port}"])
                # Whatever the archive lacks must not come from the live site.
                replayed = picture(f"http://127.0.0.1:{replay}/it/2030mp_/{url}", f"{home}/replayed.png",
                                   ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"])
                print(f"| {name} | {url.removeprefix('http://site.test')} | {likeness(live, replayed):.4f} |", flush=True)
        finally:
            process.kill()
            process.wait()
            server.shutdown()


def main():
    argiope, python, *sites = sys.argv[1:]
    print("| site | page | share of pixels that are alike |\n|---|---|---|")
    for name in sites or SITES:
        compare(os.path.abspath(argiope), os.path.abspath(python), name)


if __name__ == "__main__":
    main()
