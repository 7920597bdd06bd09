#!/bin/sh
# Runs one fuzz target with the options that docs/fuzzing.md gives figures for: fuzz/run.sh TARGET SECONDS
set -eu
cd "$(dirname "$0")/.."
dictionary=$1 sanitizer=address
case $1 in
    url) bytes_max=4096 ;;
    maintext) bytes_max=16384 dictionary=html ;;
    links) bytes_max=4096 dictionary=html sanitizer=none ;;
    robots) bytes_max=16384 ;;
    *) bytes_max=32768 ;;
esac
# libdeflate, in C, has a table twice; that is no error of ours.
export ASAN_OPTIONS=detect_odr_violation=0
mkdir -p "fuzz/corpus/$1"
dictionary=fuzz/dictionaries/$dictionary.dict
exec cargo +nightly fuzz run -s "$sanitizer" "$1" "fuzz/corpus/$1" "fuzz/seeds/$1" -- \
    $([ -e "$dictionary" ] && echo "-dict=$dictionary") -max_len="$bytes_max" -max_total_time="$2" \
    -timeout=10 -report_slow_units=2 -rss_limit_mb=2048 -print_final_stats=1
