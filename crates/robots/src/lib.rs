//! robots.txt bytes to rules, to an answer with the line that decided.
