//! The bill of materials: every crate that the binary is built from, as CycloneDX 1.5.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::system::System;
use super::{VERSION, output_of};
use crate::workspace::workspace;

/// The JSON file, from the resolved dependencies (`cargo metadata`) and their checksums (`Cargo.lock`).
///
/// # Errors
/// cargo fails, or prints something else than it did.
pub fn of_materials(system: &System, epoch: u64) -> anyhow::Result<Vec<u8>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &system.target]);
    let metadata: Value = serde_json::from_str(&output_of(cargo.current_dir(workspace()))?)?;
    let packages = by_id(&metadata["packages"])?;
    let nodes = by_id(&metadata["resolve"]["nodes"])?;
    let root = packages.iter().find(|(_, package)| package["name"] == "argiope").context("no package argiope")?;
    let checksums = checksums()?;
    let (mut components, mut dependencies) = (Vec::new(), Vec::new());
    let (mut seen, mut waiting) = (BTreeSet::from([*root.0]), vec![*root.0]);
    while let Some(id) = waiting.pop() {
        let used = used(nodes.get(id).with_context(|| format!("{id} is not resolved"))?);
        let package = |id: &str| packages.get(id).copied().with_context(|| format!("no package {id}"));
        let references = used.iter().map(|id| Ok(reference(package(id)?))).collect::<anyhow::Result<Vec<_>>>()?;
        dependencies.push(json!({ "ref": reference(package(id)?), "dependsOn": references }));
        components.push(component(package(id)?, &checksums));
        waiting.extend(used.into_iter().filter(|id| seen.insert(id)));
    }
    let mut program = components.remove(0);
    program["type"] = "application".into();
    components.sort_by_key(|component| component["bom-ref"].to_string());
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(epoch)).to_string();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": { "components": [{ "type": "application", "name": "xtask", "version": VERSION }] },
            "component": program,
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n").into_bytes())
}

fn by_id(list: &Value) -> anyhow::Result<BTreeMap<&str, &Value>> {
    let list = list.as_array().context("cargo metadata prints no list")?;
    list.iter().map(|item| Ok((item["id"].as_str().context("no id")?, item))).collect()
}

/// The packages that one needs when it is built or runs, not those that only its tests need.
fn used(node: &Value) -> Vec<&str> {
    let dependencies = node["deps"].as_array().into_iter().flatten();
    let needed = dependencies.filter(|dependency| {
        dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"] != "dev")
    });
    needed.filter_map(|dependency| dependency["pkg"].as_str()).collect()
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "licenses": [{ "expression": text("license").replace('/', " OR ") }],
    });
    if package["source"].is_string() {
        component["purl"] = format!("pkg:cargo/{}", reference(package)).into();
    }
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

fn reference(package: &Value) -> String {
    [&package["name"], &package["version"]].map(|part| part.as_str().unwrap_or_default()).join("@")
}

/// Checksums of downloaded crates by name and version.
fn checksums() -> anyhow::Result<BTreeMap<(String, String), String>> {
    let lock: toml::Table = fs::read_to_string(workspace().join("Cargo.lock"))?.parse()?;
    let Some(packages) = lock.get("package").and_then(toml::Value::as_array) else {
        bail!("Cargo.lock has no packages")
    };
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    Ok(packages
        .iter()
        .filter_map(|package| Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?)))
        .collect())
}
