"""The main text of pages: word F1 by kind for Argiope and for other extractors, and processor time.

    python3 compare.py PAGES OURS [--only NAME,NAME] [--worst N]

PAGES is a directory with `truth.jsonl.gz` (a line of JSON for each page: id, kind, url, main_content) and `html.tar` or `html/`, with
`ID.html.gz` in it. OURS is the program `read` (cargo build --release -p argiope-maintext --example read).

Words are `\\w+` of the text in lower case, counted with repeats. The F1 measure of a page is that of the two multisets; both empty is 1. The
figures are means over pages. The pages here are alike in number for most kinds; in the benchmark more than half are articles. So a last
column weighs the kinds by their pages in the whole development half, for a comparison with published figures.
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile
import time

WORD = re.compile(r"\w+")
LINK = re.compile(r"\]\((?:[^()<>]|<[^<>]*>)*\)")
KINDS = ["article", "documentation", "product", "forum", "listing", "collection", "service"]
# Pages of each kind in the development half of WCXB.
PUBLISHED = [793, 91, 119, 113, 99, 117, 165]


def words(text):
    return collections.Counter(WORD.findall((text or "").lower()))


def measure(found, truth):
    if not found and not truth:
        return 1.0
    return 2 * sum((found & truth).values()) / (sum(found.values()) + sum(truth.values()))


def ours(files, program):
    """Main text and Markdown, and the milliseconds that a page takes."""
    lines = "".join(f"{file}\t{page['url']}\n" for page, file in files)
    ran = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    said = [json.loads(line) for line in ran.stdout.splitlines()]
    html, tree, main = map(int, re.findall(r"(\d+) us", ran.stderr))
    print(f"argiope: links and visible text {html} us a page, tree {tree} us, main text {main} us more")
    return said, (tree + main) / 1000


def judged(name, files):
    """Texts by another extractor, and the milliseconds of the processor that a page takes."""
    if name == "trafilatura":
        import trafilatura

        extract = lambda html, url: trafilatura.extract(html, include_comments=True, include_tables=True)
    elif name == "resiliparse":
        from resiliparse.extract.html2text import extract_plain_text

        extract = lambda html, url: extract_plain_text(html, main_content=True)
    else:
        import rs_trafilatura

        extract = lambda html, url: rs_trafilatura.extract(html, url=url).main_content
    texts = []
    begin = time.process_time()
    for page, file in files:
        html = file.read_bytes().decode("utf-8", "replace")
        try:
            texts.append(extract(html, page["url"]))
        except Exception:  # What a judge does not bear is no text.
            texts.append("")
    return texts, (time.process_time() - begin) * 1000 / len(files)


def row(name, pages, texts, milliseconds):
    measures = [measure(words(text), words(page.get("main_content"))) for page, text in zip(pages, texts)]
    of_kind = lambda kind: [value for page, value in zip(pages, measures) if page["kind"] == kind]
    mean = lambda values: sum(values) / len(values) if values else float("nan")
    kinds = [mean(of_kind(kind)) for kind in KINDS]
    weighted = sum(one * pages for one, pages in zip(kinds, PUBLISHED)) / sum(PUBLISHED)
    print(f"| {name} | " + " | ".join(f"{one:.3f}" for one in [mean(measures), *kinds, weighted]) + f" | {milliseconds:.2f} |")
    return measures


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("pages", type=pathlib.Path)
    arguments.add_argument("ours")
    arguments.add_argument("--only", default="trafilatura,resiliparse,rs-trafilatura")
    arguments.add_argument("--worst", type=int, default=15)
    arguments = arguments.parse_args()
    with gzip.open(arguments.pages / "truth.jsonl.gz", "rt") as truth:
        pages = [json.loads(line) for line in truth]
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        if (arguments.pages / "html.tar").exists():
            with tarfile.open(arguments.pages / "html.tar") as tar:
                tar.extractall(place, filter="data")
        source = place / "html" if (place / "html").exists() else arguments.pages / "html"
        files = []
        for page in pages:
            file = place / f"{page['id']}.html"
            file.write_bytes(gzip.decompress((source / f"{page['id']}.html.gz").read_bytes()))
            files.append((page, file))
        said, milliseconds = ours(files, arguments.ours)
        print(f"| | all ({len(pages)}) | " + " | ".join(KINDS) + " | weighted | CPU ms |\n|" + "---|" * (len(KINDS) + 4))
        measures = row("argiope, main_text", pages, [page["text"] for page in said], milliseconds)
        row("argiope, Markdown", pages, [LINK.sub("]", page["markdown"]) for page in said], milliseconds)
        for name in filter(None, arguments.only.split(",")):
            row(name, pages, *judged(name, files))
        right = sum(page["kind"] == found["kind"] for page, found in zip(pages, said))
        print(f"kinds right: {right} of {len(pages)}")
        print("worst:")
        worst = sorted(zip(measures, pages, said), key=lambda one: one[0])[: arguments.worst]
        for value, page, found in worst:
            expect, have = (sum(words(text).values()) for text in (page.get("main_content"), found["text"]))
            print(f"  {value:.2f} {page['kind']}, taken for {found['kind']}; words {have} of {expect}; {page['url']}")


if __name__ == "__main__":
    main()
