//! The loop: step(state, event) to commands, and the shell around it.
