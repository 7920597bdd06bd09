//! The argiope binary, and the library people embed.
