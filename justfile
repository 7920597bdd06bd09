# The menu. Each line is a plain command too.

# All checks and all tests, as in CI
test:
    cargo xtask test

# The tests of one crate: just t frontier
t crate:
    cargo nextest run -p {{crate}}

# The house rules that the compiler does not know
tidy:
    cargo xtask tidy

# The documentation as a site, its links checked
site:
    cargo xtask site

# Format and lint
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets -- -D warnings

# One simulated crawl, with its trace
sim seed:
    cargo run -p sim -- --seed {{seed}} --trace

# Whole crawls, some beside other crawlers: just bench site; alone it lists them
bench *arguments:
    cargo xtask bench {{arguments}}

# Where the processor's time of a crawl goes, as a flame graph
profile:
    cargo xtask profile

# The packages of a release (docs/releasing.md)
dist:
    cargo xtask dist

# Fuzz one target for ten minutes (docs/fuzzing.md)
fuzz target:
    fuzz/run.sh {{target}} 600

# Serve the test web on 127.0.0.1:8080
testweb:
    cargo run --release -- testweb
