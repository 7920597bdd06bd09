//! Whole crawls in virtual time from one seed, with faults and an oracle.
