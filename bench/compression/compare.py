"""Compares the members of an archive with those that gzip makes of the same records.

    python3 bench/compression/compare.py DIR/archive/*.warc.gz

prints the bytes of all records, of the members as they are, and of `gzip -6` (zlib, one member a record), with the time that gzip takes. Only
Python is needed.
"""

import sys
import time
import zlib

GZIP = 31  # zlib's window of 32 KiB, with the head of gzip
LEVEL = 6


def records(path):
    """The records of a segment, one a member."""
    with open(path, "rb") as file:
        rest = file.read()
    while rest:
        member = zlib.decompressobj(GZIP)
        yield member.decompress(rest) + member.flush()
        rest = member.unused_data


def packed(record):
    gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP)
    return len(gzip.compress(record)) + len(gzip.flush())


def main(paths):
    count = plain = stored = as_gzip = seconds = 0
    for path in paths:
        with open(path, "rb") as file:
            stored += file.seek(0, 2)
        for record in records(path):
            began = time.process_time()
            as_gzip += packed(record)
            seconds += time.process_time() - began
            count += 1
            plain += len(record)
    print(f"{count} records, {plain / 1e6:.1f} MB; {stored / 1e6:.2f} MB as they are")
    print(f"gzip -{LEVEL}: {as_gzip / 1e6:.2f} MB, {seconds:.1f} s; as they are {stored / as_gzip - 1:+.1%}")


main(sys.argv[1:])
