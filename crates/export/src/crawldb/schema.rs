//! The tables made, and put in the place of those that were there.

use postgres::Transaction;

use super::{Failed, SCHEMA, codes};

/// The name of the schema until it is complete. It is never visible, since the transaction ends after it was renamed.
const UNFINISHED: &str = "crawldb_argiope_unfinished";
/// What the comment on a schema begins with that an export wrote.
const MARK: &str = "Written by argiope";
/// The tables, those first that refer to others.
const TABLES: [&str; 7] = ["link", "image", "page_data", "page", "site", "data_type", "page_type"];

/// Makes the tables, and fills those of codes.
///
/// # Errors
/// There is a schema `crawldb` that is not ours, or the database refuses something.
pub(super) fn begin(into: &mut Transaction<'_>) -> Result<(), Failed> {
    replaceable(into)?;
    into.batch_execute(&format!("CREATE SCHEMA {UNFINISHED}; SET LOCAL search_path TO {UNFINISHED}, pg_temp"))?;
    into.batch_execute(include_str!("schema.sql"))?;
    into.execute("INSERT INTO page_type SELECT unnest($1::text[])", &[&codes::page_types()])?;
    into.execute("INSERT INTO data_type SELECT unnest($1::text[])", &[&codes::DATA_TYPES.to_vec()])?;
    Ok(())
}

/// Makes the keys, and gives the schema its name.
///
/// # Errors
/// Another user made a schema of that name meanwhile, or something that depends on the old tables.
pub(super) fn finish(into: &mut Transaction<'_>) -> Result<(), Failed> {
    into.batch_execute(include_str!("keys.sql"))?;
    if replaceable(into)? {
        let tables = TABLES.map(|table| format!("{SCHEMA}.{table}")).join(", ");
        into.batch_execute(&format!("DROP TABLE IF EXISTS {tables}"))?;
        into.batch_execute(&format!("DROP SCHEMA {SCHEMA}"))?;
    }
    into.batch_execute(&format!("ALTER SCHEMA {UNFINISHED} RENAME TO {SCHEMA}"))?;
    let version = env!("CARGO_PKG_VERSION");
    into.batch_execute(&format!("COMMENT ON SCHEMA {SCHEMA} IS '{MARK} {version}: the next export replaces it'"))?;
    Ok(())
}

/// Whether there is a schema `crawldb` of ours.
fn replaceable(into: &mut Transaction<'_>) -> Result<bool, Failed> {
    let found = into.query_opt(
        "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1",
        &[&SCHEMA],
    )?;
    match found.map(|row| row.get::<_, String>(0)) {
        None => Ok(false),
        Some(comment) if comment.starts_with(MARK) => Ok(true),
        Some(_) => Err(Failed::Refused(format!(
            "there is a schema {SCHEMA} that argiope did not write, so it is left alone: rename it \
             (ALTER SCHEMA {SCHEMA} RENAME TO …) or take another database"
        ))),
    }
}
