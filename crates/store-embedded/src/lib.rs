//! The Store trait on an embedded LSM engine (fjall).
