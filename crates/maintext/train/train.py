"""Makes the models of this crate (`src/kind.model`, `src/block.model`), or measures them by cross-validation.

    cargo run --release -p maintext --example observe < LIST > OBSERVED
    python3 train.py OBSERVED TRUTH --out ../src      # trains on everything
    python3 train.py OBSERVED TRUTH --folds 5         # measures on pages of sites that were not trained on

LIST has a line `FILE<tab>URL` for each page. TRUTH has a line of JSON for each page: `id` (the name of FILE without its ending), `kind`,
`domain`, `main_content`. Needs numpy, catboost and rapidfuzz.

A page is a list of blocks of text. A block's label is the share of its words that the truth has in the same order. Its weight is its share
of the words of the truth, so that every page counts the same. Pages without truth, or with one that the page does not show, are left out.
"""

import argparse
import collections
import json
import pathlib
import re
import tempfile

import numpy as np
from catboost import CatBoostClassifier, Pool
from rapidfuzz.distance import LCSseq

KINDS = ["article", "documentation", "product", "forum", "listing", "collection", "service"]
WORD = re.compile(r"\w+")
UNIT = 4096
# Likelihoods that are told apart when blocks are chosen.
STEPS = 64
NESTED_WEIGHT = 0.5
# Where the kinds stand among the numbers of a block, counted from the end.
KINDS_AT = slice(-13, -6)

KIND_MODEL = dict(
    iterations=120, depth=3, learning_rate=0.12, l2_leaf_reg=6, rsm=0.3, border_count=64, loss_function="MultiClass"
)
BLOCK_MODEL = dict(
    iterations=160, depth=4, learning_rate=0.15, l2_leaf_reg=8, rsm=0.2, border_count=48, loss_function="CrossEntropy"
)
ALWAYS = dict(random_seed=1, verbose=0, thread_count=2)


def numbers(text):
    return np.frombuffer(bytes.fromhex(text), np.uint8)


def measure(found, truth):
    """The F1 measure of two lists of words; both empty is right."""
    if not found and not truth:
        return 1.0
    found, truth = collections.Counter(found), collections.Counter(truth)
    both = sum((found & truth).values())
    return 2 * both / (sum(found.values()) + sum(truth.values()))


class Page:
    def __init__(self, observed, truth):
        self.kind = KINDS.index(truth["kind"])
        self.domain = truth["domain"]
        self.truth = WORD.findall(truth.get("main_content", "").lower())
        self.numbers = numbers(observed["page"])
        self.blocks = [WORD.findall(block[1].lower()) for block in observed["blocks"]]
        self.rows = np.array([numbers(block[0]) for block in observed["blocks"]])
        self.lengths = np.array([len(block) for block in self.blocks])
        self.labels = self.label()
        best = [word for block, label in zip(self.blocks, self.labels) if label >= 0.5 for word in block]
        self.reachable = measure(best, self.truth)

    def label(self):
        """The share of each block's words that are in the truth."""
        places = {}
        page = [places.setdefault(word, len(places)) for block in self.blocks for word in block]
        truth = [places.setdefault(word, len(places)) for word in self.truth]
        owner = np.repeat(np.arange(len(self.blocks)), self.lengths) if self.blocks else []
        matched = np.zeros(len(self.blocks))
        for step in LCSseq.opcodes(page, truth):
            if step.tag == "equal":
                np.add.at(matched, owner[step.src_start : step.src_end], 1)
        triples = set(zip(truth, truth[1:], truth[2:]))
        labels = np.zeros(len(self.blocks), np.float32)
        begin = 0
        for at, length in enumerate(self.lengths):
            words = page[begin : begin + length]
            begin += length
            if length == 0:
                continue
            in_order = matched[at] / length
            runs = [triple in triples for triple in zip(words, words[1:], words[2:])]
            # A long block matches anything in pieces, so only runs of words count; a moved block matches by its runs alone.
            labels[at] = max(in_order if length < 60 else 0, np.mean(runs)) if runs else in_order
        return labels

    def weights(self):
        return self.lengths / (len(self.truth) + 0.2 * self.lengths.sum() + 5)

    def is_of_use(self):
        return bool(self.truth) and len(self.blocks) > 0 and self.reachable > 0.3

    def with_kinds(self, shares):
        rows = self.rows.copy()
        if len(rows):
            rows[:, KINDS_AT] = (np.clip(shares, 0, 1) * 64).astype(np.uint8)
        return rows


def choose(likely, lengths, is_documentation):
    """The blocks whose expected F1 measure is greatest: as `select.rs` does."""
    steps = np.minimum(((1 - likely) * STEPS).astype(int), STEPS - 1)
    taken = np.cumsum(np.bincount(steps, weights=lengths, minlength=STEPS))
    right = np.cumsum(np.bincount(steps, weights=likely * lengths, minlength=STEPS))
    apart = 2 * right / (taken + right[-1] + 1e-9)
    both = taken[:, None] + taken[None, :]
    nested = (2 * np.minimum(taken[:, None], taken[None, :]) / np.maximum(both, 1e-9)).mean(1)
    weight = 0 if is_documentation else NESTED_WEIGHT
    measures = np.where(taken > 0, (1 - weight) * apart + weight * nested, 0)
    best = measures.argmax() if measures.max() > weight * np.mean(taken == 0) else -1
    return steps <= best


def folds(pages, count):
    """Pages in groups; all pages of a domain are in one."""
    domains = sorted({page.domain for page in pages})
    np.random.default_rng(1).shuffle(domains)
    of_domain = {domain: at % count for at, domain in enumerate(domains)}
    fold = np.array([of_domain[page.domain] for page in pages])
    return [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(count)]


def kind_model(pages):
    return CatBoostClassifier(**KIND_MODEL, **ALWAYS).fit(
        np.array([page.numbers for page in pages]), np.array([page.kind for page in pages])
    )


def kinds_unseen(pages, count=6):
    """The kinds of pages by models that were trained without them."""
    shares = np.zeros((len(pages), len(KINDS)))
    for train, test in folds(pages, count):
        model = kind_model([pages[at] for at in train])
        shares[test] = model.predict_proba(np.array([pages[at].numbers for at in test]))
    return shares


def block_model(pages, shares):
    used = [(page, kinds) for page, kinds in zip(pages, shares) if page.is_of_use()]
    rows = np.concatenate([page.with_kinds(kinds) for page, kinds in used])
    labels = np.concatenate([page.labels for page, _ in used])
    weights = np.concatenate([page.weights() for page, _ in used])
    return CatBoostClassifier(**BLOCK_MODEL, **ALWAYS).fit(Pool(rows, labels, weight=weights))


def text_of(model, outputs, about):
    """A model as `model.rs` reads it."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        model.save_model(file.name, format="json")
        made = json.load(open(file.name))
    places = [feature["flat_feature_index"] for feature in made["features_info"]["float_features"]]
    scale, bias = made["scale_and_bias"]
    lines = [f"# {about}", " ".join(f"{value:.6f}" for value in (bias if isinstance(bias, list) else [bias]))]
    for tree in made["oblivious_trees"]:
        questions = [f"{places[split['float_feature_index']]}>{int(split['border'])}" for split in tree["splits"]]
        leaves = [str(round(value * scale * UNIT)) for value in tree["leaf_values"]]
        assert len(leaves) == outputs << len(questions)
        lines.append(" ".join(questions) + "|" + " ".join(leaves))
    return "\n".join(lines) + "\n"


def cross_validate(pages, count):
    shares = kinds_unseen(pages)
    kinds = np.array([page.kind for page in pages])
    print(f"kinds right: {np.mean(shares.argmax(1) == kinds):.3f}")
    measures = np.zeros(len(pages))
    for train, test in folds(pages, count):
        model = block_model([pages[at] for at in train], shares[train])
        for at in test:
            page, words = pages[at], []
            if len(page.blocks):
                likely = model.predict_proba(page.with_kinds(shares[at]))[:, 1]
                is_documentation = KINDS[shares[at].argmax()] == "documentation"
                chosen = choose(likely, page.lengths, is_documentation)
                words = [word for block, is_chosen in zip(page.blocks, chosen) if is_chosen for word in block]
            measures[at] = measure(words, page.truth)
    for name, pick in [("all", kinds >= 0)] + [(name, kinds == at) for at, name in enumerate(KINDS)]:
        reachable = np.mean([page.reachable for page, is_picked in zip(pages, pick) if is_picked])
        print(f"{name:14} {pick.sum():4} pages, F1 {measures[pick].mean():.4f} of {reachable:.4f} that blocks can reach")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("observed")
    arguments.add_argument("truth")
    arguments.add_argument("--folds", type=int, default=0)
    arguments.add_argument("--out", type=pathlib.Path)
    arguments = arguments.parse_args()
    truth = {record["id"]: record for record in map(json.loads, open(arguments.truth))}
    pages = []
    for line in open(arguments.observed):
        observed = json.loads(line)
        name = pathlib.Path(observed["file"]).stem
        if name in truth:
            pages.append(Page(observed, truth[name]))
    if arguments.folds:
        cross_validate(pages, arguments.folds)
    if arguments.out:
        about = f"made by train/train.py from {len(pages)} pages"
        (arguments.out / "kind.model").write_text(text_of(kind_model(pages), len(KINDS), about))
        model = block_model(pages, kinds_unseen(pages))
        (arguments.out / "block.model").write_text(text_of(model, 1, about))


if __name__ == "__main__":
    main()
