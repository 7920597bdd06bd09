"""Structured data of HTML pages: what extruct finds, and what Argiope finds, compared format by format.

    python3 compare.py PAGES OURS [--differences FILE]

PAGES is a directory of .html and .html.gz files. OURS is the program `pages` (cargo build --release -p argiope-structured --example pages).
For each format: pages on which one of the two finds something, on which both find the same, on which ours finds all of extruct's and more
(better), on which it lacks something and has nothing more (worse), and on which each has something that the other lacks (different).
Texts are compared without white space, since the two separate words in a line differently. URLs are compared without a trailing / or #. Of RDFa, what
does not belong to RDFa Lite is left out: roles, and properties that a rel names.
"""

import argparse
import collections
import gzip
import json
import logging
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

URL = "https://example.com/dir/page"
FORMATS = ["json-ld", "microdata", "rdfa", "opengraph"]
OF_METADATA = ("http://ogp.me/ns", "https://ogp.me/ns", "http://opengraphprotocol.org", "https://dev.twitter.com/", "twitter:", "fb:", "http://www.facebook.com/2008/fbml", "https://www.facebook.com/2008/fbml")
VOCABULARY = "http://www.w3.org/ns/rdfa#usesVocabulary"
ROLE = "http://www.w3.org/1999/xhtml/vocab#role"


def short(name):
    for prefix in ("https://schema.org/", "http://schema.org/", "https://www.schema.org/", "http://www.schema.org/", "//schema.org/", "schema:"):
        if name.startswith(prefix) and len(name) > len(prefix):
            return name[len(prefix):]
    return name


def text(value):
    value = "".join(value.split())
    return value.rstrip("/#").replace("/.#", "/#") if value.startswith(("http://", "https://")) else value


def leaves(value, path=""):
    """All values of a tree with the names that lead to them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "@context":
                yield from leaves(inner, f"{path}/{short(name)}")
        if not value:
            yield path, "{}"
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif isinstance(value, str):
        yield path, short(text(value)) if path.endswith("@type") else text(value)
    else:
        yield path, json.dumps(value)


def of_json_ld(objects):
    for value in objects:
        if isinstance(value, list):
            yield from of_json_ld(value)
        elif isinstance(value, dict) and "@graph" in value:
            graph = value["@graph"]
            yield from of_json_ld(graph if isinstance(graph, list) else [graph])
            beside = {name: inner for name, inner in value.items() if name != "@graph"}
            if set(beside) - {"@context"}:
                yield beside
        elif isinstance(value, dict):
            yield value


def of_microdata(value):
    """An item of extruct in our form."""
    if isinstance(value, list):
        return [of_microdata(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    item = {}
    if "type" in value:
        item["@type"] = value["type"]
    if "id" in value:
        item["@id"] = value["id"]
    if "value" in value:
        item["@value"] = value["value"]
    for name, inner in value.get("properties", {}).items():
        item[short(name)] = of_microdata(inner)
    if "properties" not in value and "type" not in value and "value" not in value:
        return value
    return item


def rel_names(page):
    """What rel and rev name, which is no part of RDFa Lite."""
    values = re.findall(rb"""\b(?:rel|rev)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", page, re.IGNORECASE)
    return {name for groups in values for value in groups for name in value.decode(errors="replace").split()}


def is_of_rel(name, rels):
    local = re.split("[#/:]", name)[-1]
    return any(name == rel or rel.split(":")[-1].lower() == local.lower() for rel in rels)


def pairs_of_rdfa(objects, rels):
    """Names and plain values, wherever they belong: extruct gives a graph, ours are trees."""
    for thing in objects:
        for name, values in thing.items():
            if name in ("@id", ROLE, VOCABULARY) or name.startswith(OF_METADATA) or is_of_rel(name, rels):
                continue
            for value in values if isinstance(values, list) else [values]:
                if name == "@type":
                    yield name, short(value)
                elif "@value" in value:
                    yield short(name), text(str(value["@value"]))
                elif not value.get("@id", "_:").startswith("_:"):
                    yield short(name), text(value["@id"])


def pairs_of_our_rdfa(value):
    if isinstance(value, list):
        for inner in value:
            yield from pairs_of_our_rdfa(inner)
        return
    for name, values in value.items():
        if name in ("@context", "@id"):
            continue
        for inner in values if isinstance(values, list) else [values]:
            if isinstance(inner, dict):
                # extruct names the thing inside by its id.
                if "@id" in inner:
                    yield short(name), text(inner["@id"])
                yield from pairs_of_our_rdfa(inner)
            else:
                yield short(name), text(inner)


def theirs(page, formats):
    from extruct.jsonld import JsonLdExtractor
    from extruct.opengraph import OpenGraphExtractor
    from extruct.rdfa import RDFaExtractor
    from extruct.utils import parse_html, parse_xmldom_html
    from extruct.w3cmicrodata import MicrodataExtractor
    from w3lib.html import get_base_url
    from w3lib.encoding import html_to_unicode

    found = {}
    began = time.process_time()
    _, source = html_to_unicode(None, page)
    base = get_base_url(source, URL)
    try:
        tree = parse_html(source, encoding="UTF-8")
    except Exception as error:
        return {name: error for name in formats}, time.process_time() - began
    extractors = {
        "json-ld": lambda: JsonLdExtractor().extract_items(tree, base_url=base),
        "microdata": lambda: MicrodataExtractor().extract_items(tree, base_url=base),
        "rdfa": lambda: RDFaExtractor().extract_items(parse_xmldom_html(source, encoding="UTF-8"), base_url=base),
        "opengraph": lambda: list(OpenGraphExtractor().extract_items(tree, base_url=base)),
    }
    for name in formats:
        try:
            found[name] = extractors[name]()
        except Exception as error:
            found[name] = error
    return found, time.process_time() - began


def counted(name, found, page):
    """What one of the two has found, as a multiset."""
    if isinstance(found, Exception):
        return collections.Counter()
    if name == "json-ld":
        return collections.Counter(leaf for value in of_json_ld(found) for leaf in leaves(value))
    if name == "microdata":
        return collections.Counter(leaf for value in found for leaf in leaves(of_microdata(value)))
    if name == "rdfa":
        return collections.Counter(pairs_of_rdfa(found, rel_names(page)))
    return collections.Counter(
        (prop.lower(), text(value)) for thing in found for prop, value in thing["properties"])


def metadata(items):
    """What we have of meta elements, which are RDFa to extruct whatever their names mean."""
    values = [item["json"] for item in items if item["format"] in ("meta", "opengraph", "twitter")]
    return collections.Counter(
        (name, text(one)) for value in values for name, all in value.items() for one in (all if isinstance(all, list) else [all]))


def ours_counted(name, items):
    values = [item["json"] for item in items if item["format"] == name]
    if name == "rdfa":
        return collections.Counter(pair for value in values for pair in pairs_of_our_rdfa(value))
    if name == "opengraph":
        return collections.Counter(
            (prop, text(one)) for value in values for prop, all in value.items() for one in (all if isinstance(all, list) else [all]))
    return collections.Counter(leaf for value in values for leaf in leaves(value))


def processor_seconds(arguments, pages, rounds):
    """What our program takes for this many rounds, its start included."""
    def spent():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = spent()
    subprocess.run([arguments.ours, "--rounds", str(rounds), *pages], check=True, capture_output=True)
    return spent() - before


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("pages", type=pathlib.Path)
    arguments.add_argument("ours")
    arguments.add_argument("--differences", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=0)
    arguments = arguments.parse_args()
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(10_000)
    files = sorted(path for path in arguments.pages.rglob("*") if path.name.endswith((".html", ".html.gz")))
    with tempfile.TemporaryDirectory() as directory:
        plain = []
        for number, path in enumerate(files):
            page = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            copy = pathlib.Path(directory, f"{number}.html")
            copy.write_bytes(page)
            plain.append(str(copy))
        lines = subprocess.run([arguments.ours, *plain], check=True, capture_output=True).stdout.splitlines()
        table = {name: collections.Counter() for name in FORMATS}
        differences = []
        seconds = 0.0
        for path, copy, line in zip(files, plain, lines, strict=True):
            page = pathlib.Path(copy).read_bytes()
            found, took = theirs(page, FORMATS)
            seconds += took
            items = json.loads(line)["items"]
            for name in FORMATS:
                their, our = counted(name, found[name], page), ours_counted(name, items)
                if not their and not our:
                    continue
                only_theirs, only_ours = their - our, our - their
                if name == "rdfa":
                    only_theirs -= metadata(items)
                verdict = {(False, False): "equal", (False, True): "better", (True, False): "worse", (True, True): "different"}[
                    bool(only_theirs), bool(only_ours)]
                table[name][verdict] += 1
                table[name]["pages"] += 1
                if verdict != "equal":
                    error = str(found[name]) if isinstance(found[name], Exception) else None
                    differences.append({
                        "page": path.name, "format": name, "verdict": verdict, "error": error,
                        "only_theirs": list(only_theirs.elements())[:20], "only_ours": list(only_ours.elements())[:20]})
        print("format      pages  equal  better  worse  different")
        for name, counts in table.items():
            print(f"{name:<10} {counts['pages']:>6} {counts['equal']:>6} {counts['better']:>7} {counts['worse']:>6} {counts['different']:>10}")
        print(f"extruct: {seconds / len(files) * 1e3:.1f} ms of the processor a page, {len(files)} pages")
        if arguments.rounds:
            ours = (processor_seconds(arguments, plain, arguments.rounds + 1) - processor_seconds(arguments, plain, 1)) / arguments.rounds
            print(f"ours: {ours / len(files) * 1e3:.3f} ms of the processor a page: extruct takes {seconds / ours:.0f} times as long")
    if arguments.differences:
        arguments.differences.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in differences) + "\n")


if __name__ == "__main__":
    main()
