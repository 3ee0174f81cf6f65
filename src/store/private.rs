//! Files that only their owner may read, because they hold reply tokens, sealed orders or passwords.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::post::owner::{give_to_owner_at, parent_of};

/// Read and write for the owner, nothing for anybody else. A umask can only remove permissions.
pub const OWNER_ONLY: u32 = 0o600;

/// Any permissions of the group or of others.
const FOR_OTHERS: u32 = 0o077;

/// The first bytes of every SQLite file.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Creates a file that only its owner may read, whatever the umask is. One that root creates belongs to the owner of its
/// folder: a club whose files belong to root would be closed to its daemon.
///
/// # Errors
/// Returns an error if the file exists or cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    // Create it with its mode: others could open it between creation and a later change.
    let opened = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path);
    let file = opened.map_err(|error| match error.kind() {
        kind @ ErrorKind::AlreadyExists => io::Error::new(kind, "it exists already; name another file"),
        _ => error,
    })?;
    give_to_owner_at(&file, parent_of(path))?;
    Ok(file)
}

/// Whether this is a folder that its owner alone can enter.
pub fn is_closed(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.is_dir() && found.mode() & 0o001 == 0)
}

/// Returns the permissions of a file, if it is there and somebody other than its owner has any.
pub fn shared_mode(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.mode() & 0o777;
    (mode & FOR_OTHERS != 0).then_some(mode)
}

/// Returns the database at `path`, its log, and every other SQLite database in the same folder, such as a
/// backup or a database that a restore has replaced.
pub fn databases_beside(path: &Path) -> Vec<PathBuf> {
    let name = path.file_name().unwrap_or_default();
    let begins_alike = |other: &OsStr| other.as_encoded_bytes().starts_with(name.as_encoded_bytes());
    let Ok(entries) = fs::read_dir(parent_of(path)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| path.with_file_name(entry.file_name()))
        .filter(|file| file.is_file())
        .filter(|file| file.file_name().is_some_and(begins_alike) || is_database(file))
        .collect();
    files.sort();
    files
}

fn is_database(file: &Path) -> bool {
    let mut start = [0; SQLITE_MAGIC.len()];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *SQLITE_MAGIC
}
