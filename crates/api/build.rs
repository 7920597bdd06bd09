//! Makes Rust of the contract, without protoc.

use std::path::PathBuf;

use prost::Message;

/// The contract, below the directory that its imports are relative to.
const CONTRACT: &str = "argiope/v1/argiope.proto";
const DIRECTORY: &str = "proto";

/// The same types are the JSON API: what is not given has its default, and what nobody knows is an error.
const JSON: &str = "#[derive(serde::Serialize, serde::Deserialize)] #[serde(default, deny_unknown_fields)]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={DIRECTORY}");
    let files = protox::compile([CONTRACT], [DIRECTORY])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_transport(false)
        .btree_map(".")
        .message_attribute(".", JSON)
        .compile_fds(files)?;
    Ok(())
}
