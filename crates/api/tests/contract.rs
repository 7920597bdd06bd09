//! The code in `generated` is what the contract gives. Where it is not, the test writes it and fails; the second run passes.

use std::fs;
use std::path::Path;

use prost::Message;
use tempfile::TempDir;

/// The contract, below the directory that its imports are relative to.
const CONTRACT: &str = "argiope/v1/argiope.proto";

/// Bytes are text in JSON.
const BASE64: &str = "#[serde(with = \"crate::base64\")]";

/// The same types are the JSON API: what is not given has its default, and what nobody knows is an error.
const JSON: &str = "#[derive(serde::Serialize, serde::Deserialize)] #[serde(default, deny_unknown_fields)]";

#[test]
fn the_generated_code_is_that_of_the_contract() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = TempDir::new().unwrap();
    let files = protox::compile([CONTRACT], [package.join("proto")]).unwrap();
    fs::write(made.path().join("descriptors.bin"), files.encode_to_vec()).unwrap();
    let generator = tonic_prost_build::configure().build_transport(false).btree_map(".");
    let generator = generator.field_attribute("argiope.v1.PagePictureResponse.picture", BASE64);
    generator.message_attribute(".", JSON).out_dir(made.path()).compile_fds(files).unwrap();
    let mut outdated = Vec::new();
    for file in ["argiope.v1.rs", "descriptors.bin"] {
        let (new, kept) = (fs::read(made.path().join(file)).unwrap(), package.join("generated").join(file));
        if fs::read(&kept).ok().as_ref() != Some(&new) {
            fs::write(&kept, new).unwrap();
            outdated.push(file);
        }
    }
    assert!(outdated.is_empty(), "the contract gives other code, which is written now: commit {outdated:?}");
}
