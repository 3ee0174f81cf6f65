//! The site's folder: files under their final names, and the list of those that belong to the site.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

/// The list of the site's files, each with the digest of what it was made from.
const LIST: &str = ".fogpost-site.json";

/// The end of the name of a file that is being written.
const UNFINISHED: &str = ".fogpost-new";

/// A folder to which a site is written.
pub struct Folder {
    root: PathBuf,
    /// The files on the list, as it was read.
    listed: BTreeMap<String, String>,
    /// The files of the site that is being built.
    current: BTreeMap<String, String>,
    /// Folders that are known to exist.
    made: BTreeSet<PathBuf>,
    written: usize,
}

/// The changes of one build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub files: usize,
    pub written: usize,
    pub deleted: usize,
}

impl Folder {
    /// Opens the folder, and makes it if it is missing.
    ///
    /// # Errors
    /// Returns an error if it holds files but no list of a site, or cannot be read.
    pub fn open(root: &Path) -> anyhow::Result<Folder> {
        fs::create_dir_all(root).with_context(|| root.display().to_string())?;
        let list = root.join(LIST);
        let listed = match fs::read_to_string(&list) {
            Ok(text) => serde_json::from_str(&text).with_context(|| list.display().to_string())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_empty =
                    fs::read_dir(root).with_context(|| root.display().to_string())?.next().is_none();
                ensure!(
                    is_empty,
                    "{} holds files that do not belong to a fogpost site; choose an empty folder",
                    root.display()
                );
                // From here on the folder is known as ours, even if this build is interrupted.
                fs::write(&list, "{}").with_context(|| list.display().to_string())?;
                BTreeMap::new()
            }
            Err(error) => return Err(error).with_context(|| list.display().to_string()),
        };
        Ok(Folder {
            root: root.to_owned(),
            listed,
            current: BTreeMap::new(),
            made: BTreeSet::new(),
            written: 0,
        })
    }

    /// Keeps a file if it was made from input with this digest. Returns whether it was kept; if not, it must
    /// be written.
    pub fn keep(&mut self, path: &str, digest: &str) -> bool {
        let is_there =
            self.listed.get(path).is_some_and(|known| known == digest) && self.root.join(path).is_file();
        if is_there {
            self.current.insert(path.to_owned(), digest.to_owned());
        }
        is_there
    }

    /// Writes a file under a temporary name, and renames it, so that no reader finds half of it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or if a file that does not belong to the site has its name.
    pub fn put(&mut self, path: &str, digest: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let target = self.root.join(path);
        ensure!(
            self.listed.contains_key(path) || self.current.contains_key(path) || !target.exists(),
            "{} exists and does not belong to the site; move it away",
            target.display()
        );
        if let Some(parent) = target.parent()
            && self.made.insert(parent.to_owned())
        {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        self.replace(&target, bytes)?;
        self.current.insert(path.to_owned(), digest.to_owned());
        self.written += 1;
        Ok(())
    }

    fn replace(&self, target: &Path, bytes: &[u8]) -> anyhow::Result<()> {
        let mut unfinished = target.as_os_str().to_owned();
        unfinished.push(UNFINISHED);
        let unfinished = PathBuf::from(unfinished);
        fs::write(&unfinished, bytes)
            .and_then(|()| fs::rename(&unfinished, target))
            .with_context(|| target.display().to_string())
    }

    /// Writes the list, and deletes the files that were on the list before and are no longer.
    ///
    /// # Errors
    /// Returns an error if the list cannot be written, or a file cannot be deleted.
    pub fn finish(self) -> anyhow::Result<Written> {
        let gone: Vec<&String> =
            self.listed.keys().filter(|path| !self.current.contains_key(*path)).collect();
        for path in &gone {
            let file = self.root.join(path);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| file.display().to_string());
                }
                Ok(()) | Err(_) => {}
            }
            // A folder that still holds something stays.
            if let Some(parent) = file.parent().filter(|parent| *parent != self.root) {
                fs::remove_dir(parent).ok();
            }
        }
        if self.listed != self.current {
            let list = serde_json::to_vec(&self.current)?;
            self.replace(&self.root.join(LIST), &list)?;
        }
        Ok(Written { files: self.current.len(), written: self.written, deleted: gone.len() })
    }
}
