//! The graph of what crawls visited.
