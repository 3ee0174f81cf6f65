//! Ownership of the files that root makes, for example in a single run of a program that otherwise runs as another user.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::fchown;
use std::path::Path;

/// Gives a file or folder that root has made to the owner of another one, so that the owner's programs can use it. Does
/// nothing for other users.
///
/// # Errors
/// Returns an error if either cannot be used.
pub fn give_to_owner_of(made: impl AsFd, like: impl AsFd) -> io::Result<()> {
    if !is_root() {
        return Ok(());
    }
    let before = rustix::fs::fstat(&made)?;
    let owner = rustix::fs::fstat(like)?;
    if (before.st_uid, before.st_gid) != (owner.st_uid, owner.st_gid) {
        fchown(made, Some(owner.st_uid), Some(owner.st_gid))?;
    }
    Ok(())
}

/// Gives a file or folder that root has made to the owner of the one at this path, such as the folder that it is in.
///
/// # Errors
/// Returns an error if either cannot be used.
pub fn give_to_owner_at(made: impl AsFd, like: &Path) -> io::Result<()> {
    if is_root() { give_to_owner_of(made, File::open(like)?) } else { Ok(()) }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Returns the folder of a file.
pub fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
