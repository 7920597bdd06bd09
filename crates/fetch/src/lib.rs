//! One FetchTask to one FetchOutcome over HTTP. Knows limits, no politeness.
