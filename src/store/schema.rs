//! The tables, indexes and triggers of a database: brings them up to date, and compares them with those that
//! the migrations of this program make.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::pin::Pin;

use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{Acquire, SqlStr};

/// Selects the [`SchemaPart`]s of a SQLite database.
pub const SQLITE_PARTS: &str = "SELECT type, name, COALESCE(sql, '') FROM sqlite_schema \
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_sqlx_migrations'";

/// Selects the [`SchemaPart`]s of the schema `$1` of a PostgreSQL database. A trigger's definition says
/// whether it is enabled. The name of the schema is removed, because the model is in another one.
pub const POSTGRES_PARTS: &str = "SELECT kind, name, replace(definition, quote_ident($1) || '.', '') FROM ( \
    SELECT 'table' AS kind, c.relname::text AS name, string_agg(concat_ws(' ', a.attname, \
        format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid)), ', ' \
        ORDER BY a.attname) AS definition \
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum \
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') GROUP BY c.oid \
    UNION ALL SELECT 'constraint', o.conname || ' on ' || c.relname, pg_get_constraintdef(o.oid) \
        FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid WHERE c.relnamespace = to_regnamespace($1) \
        AND o.contype IN ('c', 'f', 'p', 'u', 'x') \
    UNION ALL SELECT 'index', c.relname, pg_get_indexdef(c.oid) FROM pg_class c \
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'i' \
    UNION ALL SELECT 'trigger', t.tgname || ' on ' || c.relname, pg_get_triggerdef(t.oid) || t.tgenabled::text \
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
        WHERE c.relnamespace = to_regnamespace($1) AND NOT t.tgisinternal \
    UNION ALL SELECT 'rule', r.rulename || ' on ' || c.relname, pg_get_ruledef(r.oid) \
        FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relnamespace = to_regnamespace($1) \
    UNION ALL SELECT 'function', p.oid::regprocedure::text, p.prosrc FROM pg_proc p \
        WHERE p.pronamespace = to_regnamespace($1)) AS part \
    WHERE name !~ '_sqlx_migrations'";

/// The migrations of both databases: the path of each, such as `sqlite/0001_schema.sql`, and its SQL.
const MIGRATIONS: [(&str, &str); 2] = [
    ("postgres/0001_schema.sql", include_str!("../../migrations/postgres/0001_schema.sql")),
    ("sqlite/0001_schema.sql", include_str!("../../migrations/sqlite/0001_schema.sql")),
];

/// A table, index or the like: its kind, its name, and its definition.
pub type SchemaPart = (String, String, String);

/// Returns the migrations in a folder of [`MIGRATIONS`], such as `sqlite/`.
pub fn migrations_in(folder: &str) -> Migrator {
    let files = MIGRATIONS.iter().filter_map(|(path, sql)| Some(migration(path.strip_prefix(folder)?, sql)));
    Migrator::with_migrations(files.collect())
}

/// Returns the migration in a file, described and hashed as `sqlx::migrate!` would: databases store the
/// description and the hash, and refuse a migration that was changed. The macro itself would take sqlx's
/// feature `macros`, which costs what [`rows`](super::rows) says.
fn migration(file: &str, sql: &'static str) -> Migration {
    let name = file.strip_suffix(".sql").and_then(|name| name.split_once('_'));
    let (version, description) = name.expect("a name such as 0001_schema.sql");
    let version = version.parse().expect("a number before the first underscore");
    let description = description.replace('_', " ").into();
    Migration::new(version, description, MigrationType::Simple, SqlStr::from_static(sql), false)
}

/// Logs the migration, if there was one. A new database had no version `before`.
pub fn log_migration(before: Option<i64>, migrations: &Migrator) {
    let now = migrations.iter().map(|migration| migration.version).max();
    if before != now {
        tracing::info!(from = before, to = now, "database migrated");
    }
}

/// Brings the tables up to date.
///
/// Boxed, because the compiler cannot prove that the future of an `async fn` is `Send` here
/// (rust-lang/rust#110338).
pub fn migrate<'a, A>(
    migrations: &'static Migrator,
    connection: A,
) -> Pin<Box<dyn Future<Output = Result<(), MigrateError>> + Send + 'a>>
where
    A: Acquire<'a> + Send + 'a,
    <A::Connection as Deref>::Target: Migrate,
{
    Box::pin(migrations.run(connection))
}

/// Names the parts that only a database has, those that only the model has, and those that differ.
pub fn differences(model: Vec<SchemaPart>, found: Vec<SchemaPart>) -> Vec<String> {
    let model = by_name(model);
    let found = by_name(found);
    let mut differences = Vec::new();
    for (part, definition) in &model {
        match found.get(part) {
            Some(other) if other == definition => {}
            Some(_) => differences.push(format!("its {part} differs from the one this program makes")),
            None => differences.push(format!("its {part} is missing")),
        }
    }
    let foreign = found.keys().filter(|part| !model.contains_key(*part));
    differences.extend(foreign.map(|part| format!("its {part} does not belong to this program")));
    differences
}

/// Returns the definition of each part by its kind and name, with single blanks.
fn by_name(parts: Vec<SchemaPart>) -> BTreeMap<String, String> {
    // SQLite keeps the text of a definition as it was written, and its layout does not matter.
    let squeezed = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    parts
        .into_iter()
        .map(|(kind, name, definition)| (format!("{kind} {name}"), squeezed(definition)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_migration_is_known_by_its_file() {
        let first = migration("0012_of_two_words.sql", "SELECT 1");
        assert_eq!((first.version, &*first.description), (12, "of two words"));
        for folder in ["sqlite/", "postgres/"] {
            let migrations = migrations_in(folder);
            let found = migrations.iter().map(|migration| (migration.version, &*migration.description));
            assert_eq!(found.take(1).collect::<Vec<_>>(), [(1, "schema")], "{folder}");
        }
    }

    #[test]
    fn every_migration_is_compiled_in() {
        for folder in ["sqlite", "postgres"] {
            let files = std::fs::read_dir(format!("{}/migrations/{folder}", env!("CARGO_MANIFEST_DIR")));
            let files = files.expect("the folder").map(|file| file.expect("a file").file_name());
            let names: Vec<String> = files.map(|name| format!("{folder}/{}", name.display())).collect();
            let known = |name: &String| MIGRATIONS.iter().any(|(path, _)| path == name);
            assert!(names.iter().all(known), "MIGRATIONS lacks one of {names:?}");
        }
    }

    #[test]
    fn foreign_missing_and_changed_parts_are_named() {
        let part = |kind: &str, name: &str, definition: &str| {
            (kind.to_owned(), name.to_owned(), definition.to_owned())
        };
        let model = vec![
            part("table", "match", "id  TEXT,\n turn INTEGER"),
            part("trigger", "kept", "a"),
            part("trigger", "lost", "b"),
        ];
        let same = vec![model[1].clone(), part("table", "match", "id TEXT, turn INTEGER"), model[2].clone()];
        assert_eq!(differences(model.clone(), same), [""; 0]);
        let found = vec![model[0].clone(), part("trigger", "kept", "c"), part("trigger", "spy", "d")];
        let said = differences(model, found);
        assert_eq!(
            said,
            [
                "its trigger kept differs from the one this program makes",
                "its trigger lost is missing",
                "its trigger spy does not belong to this program"
            ]
        );
    }
}
