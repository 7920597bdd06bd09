//! Servers of tests.

use testdb::Postgres;

/// `initdb` runs once: the servers after the first begin from a copy of its data, and share nothing else.
#[test]
fn servers_begin_from_one_copy_and_are_apart() {
    let servers = [(); 2].map(|()| Postgres::start());
    let identifiers = servers.each_ref().map(|server| {
        let row = server.client().query_one("SELECT system_identifier FROM pg_control_system()", &[]);
        row.expect("the server answers").get::<_, i64>(0)
    });
    assert_eq!(identifiers[0], identifiers[1]);
    servers[0].client().batch_execute("CREATE SCHEMA mine").expect("a schema");
    let schemas = servers[1].client().query("SELECT 1 FROM pg_namespace WHERE nspname = 'mine'", &[]);
    assert!(schemas.expect("the server answers").is_empty());
}
