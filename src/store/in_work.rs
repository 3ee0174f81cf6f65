//! The letters that a daemon reads and rules on at the moment, for the time after a crash.

use super::rows;
use super::statement::{Engine, Statement};
use super::{REMEMBER, Result};
use crate::letter::Digest;

/// Prefix of the keys under which daemons note their letters.
pub const KEYS: &str = "letters in work: ";

/// Notes a daemon's letters in place of those that it noted before.
pub fn note(engine: Engine, owner: &str, letters: &[Digest]) -> Statement {
    let key = format!("{KEYS}{owner}");
    if letters.is_empty() {
        return Statement::new(engine, "DELETE FROM memo WHERE key = $1").bind(key);
    }
    let digests: Vec<String> = letters.iter().map(Digest::to_string).collect();
    Statement::new(engine, REMEMBER).bind(key).bind(digests.join(" "))
}

/// Reads keys and their values.
pub fn read(noted: Vec<(String, String)>) -> Result<Vec<(String, Vec<Digest>)>> {
    let mut in_work = Vec::with_capacity(noted.len());
    for (key, digests) in noted {
        let owner = key.strip_prefix(KEYS).unwrap_or_default().to_owned();
        let letters: Result<Vec<Digest>> = digests.split_whitespace().map(rows::digest).collect();
        in_work.push((owner, letters?));
    }
    Ok(in_work)
}
