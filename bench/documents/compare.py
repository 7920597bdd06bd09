"""Text of documents beside its sources: word F1 of each kind.

PDF is compared with what pdftotext prints. Other documents are compared with a file of the same name that ends with .txt.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import time

KINDS = {"pdf": "pdf", "docx": "docx", "pptx": "pptx", "odt": "opendocument", "odp": "opendocument", "epub": "epub"}


def words(text):
    """How often each word occurs. Words that a line breaks are whole, as we give them."""
    for ligature, letters in {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"}.items():
        text = text.replace(ligature, letters)
    text = re.sub(r"(?<=[^\W\d_])-[ ]*\n[ \n]*(?=[a-z])", "", text)
    return collections.Counter(re.findall(r"\w+", text.lower()))


def f1(ours, theirs):
    """The harmonic mean of precision and recall."""
    both = sum((ours & theirs).values())
    return 2 * both / max(1, sum(ours.values()) + sum(theirs.values()))


def main(program, directory):
    figures = collections.defaultdict(list)
    for path in sorted(pathlib.Path(directory).rglob("*")):
        ending = path.suffix[1:]
        source = path.with_suffix(".txt")
        if path.is_symlink() or ending not in KINDS or (ending != "pdf" and not source.exists()):
            continue
        if ending == "pdf":
            theirs = subprocess.run(["pdftotext", path, "-"], capture_output=True, check=True).stdout.decode()
        else:
            theirs = source.read_text()
        begun = time.monotonic()
        ran = subprocess.run([program, "document-text", KINDS[ending]], stdin=path.open("rb"), capture_output=True)
        took = time.monotonic() - begun
        text = json.loads(ran.stdout).get("Ok", {}).get("text", "") if ran.stdout else ""
        figure = f1(words(text), words(theirs))
        figures[ending].append((figure, took))
        print(f"{figure:.4f} {took * 1000:7.0f} ms  {path.name}")
    for ending, of_kind in figures.items():
        f1s, times = zip(*of_kind)
        print(f"{ending}: {len(f1s)} documents, F1 {sum(f1s) / len(f1s):.4f}, least {min(f1s):.4f}, "
              f"{sum(times) / len(times) * 1000:.0f} ms each")


main(*sys.argv[1:])
