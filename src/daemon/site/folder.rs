//! The site's folder: files under their final names, and a mark that says which list of files belongs to it.
//!
//! The web server's folder is open to more people than the database, so nothing in it is trusted. The list of the site's
//! files is a table. Files are opened below the folder without following links, and only pages of a site are written or
//! deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::letter::Digest;
use crate::post::owner::{give_to_owner_at, give_to_owner_of, parent_of};
use crate::web::pages::is_page;

/// The file that marks a folder as a site. Its name begins with a dot, so that web servers usually hide it.
const MARK: &str = ".fogpost-site.json";

/// The end of the name of a file that is being written.
const UNFINISHED: &str = ".fogpost-new";

/// Maximum bytes of a mark.
const MAX_MARK: u64 = 4096;

/// The permissions of files and folders, whatever the umask is: a web server is another user.
const FILE_MODE: RawMode = 0o644;
const FOLDER_MODE: RawMode = 0o755;

/// A folder to which a site is written.
pub struct SiteFolder {
    path: PathBuf,
    root: OwnedFd,
    /// The files that belong to the site, each with the digest of what it was made from and its size, or an empty text if
    /// they are not known.
    listed: BTreeMap<String, String>,
    /// The files of the site that is being built.
    current: BTreeMap<String, String>,
    /// The folders that were opened to everybody.
    opened: BTreeSet<PathBuf>,
    written: usize,
}

/// The mark of a folder.
#[derive(Default, Serialize, Deserialize)]
struct FolderMark {
    /// The digest of the list of files; `None` while a build is under way.
    list: Option<Digest>,
}

/// The changes of one build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub files: usize,
    pub written: usize,
    pub deleted: usize,
}

impl SiteFolder {
    /// Opens the folder, and makes it if it is missing. `listed` are the files that were last written to it.
    ///
    /// If the mark does not name this list (a build was interrupted, or the database is an older one), every page of a site in
    /// the folder counts as listed, and is written again or deleted.
    ///
    /// # Errors
    /// Returns an error if it is a link, if it holds other files and no site, or if it cannot be read.
    pub fn open(path: &Path, mut listed: BTreeMap<String, String>) -> anyhow::Result<SiteFolder> {
        // Without a slash at the end, behind which a link would be followed.
        let path: PathBuf = path.components().collect();
        make_folders(&path).with_context(|| path.display().to_string())?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = match rustix::fs::openat(CWD, &path, flags, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                bail!("{} is a link or no folder; name the folder that the web server serves", path.display())
            }
            opened => opened.with_context(|| path.display().to_string())?,
        };
        let mark = read_mark(&root);
        ensure!(
            mark.is_some() || !listed.is_empty() || !has_files(&root)?,
            "{} holds files that do not belong to a fogpost site; choose an empty folder",
            path.display()
        );
        let is_trusted = mark.is_some_and(|mark| mark.list == Some(digest_of(&listed)));
        if !is_trusted || !listed.keys().all(|path| is_page(path)) {
            listed = pages_in(&root, "")?.into_iter().map(|path| (path, String::new())).collect();
        }
        let (current, opened) = Default::default();
        let folder = SiteFolder { path, root, listed, current, opened, written: 0 };
        if !is_trusted {
            folder.mark(FolderMark::default())?;
        }
        Ok(folder)
    }

    /// Keeps a file if it was made from input with this digest. Returns whether it was kept; if not, it must
    /// be written.
    pub fn keep(&mut self, path: &str, digest: &str) -> bool {
        let known = self.listed.get(path).and_then(|known| known.split_once(' '));
        let Some((_, size)) = known.filter(|(made_from, _)| *made_from == digest) else { return false };
        let is_kept = size.parse().is_ok_and(|size| self.is_whole(path, size));
        if is_kept {
            self.current.insert(path.to_owned(), format!("{digest} {size}"));
        }
        is_kept
    }

    /// Whether there is a file of this size, and no link, that everybody can read.
    fn is_whole(&self, path: &str, size: i64) -> bool {
        let stat = self
            .parent(path, false)
            .and_then(|(parent, name)| Ok(rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?));
        stat.is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && stat.st_mode & FILE_MODE == FILE_MODE
                && stat.st_size == size
        })
    }

    /// Writes a page under a temporary name, and renames it, so that no reader finds half of it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written, or if a file that does not belong to the site has its name.
    pub fn put(&mut self, path: &str, digest: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let shown = self.path.join(path);
        ensure!(is_page(path), "{} is no page of a site", shown.display());
        if self.written == 0 {
            self.mark(FolderMark::default())?;
        }
        let (parent, name) = self.parent(path, true).with_context(|| shown.display().to_string())?;
        let is_ours = self.listed.contains_key(path) || self.current.contains_key(path);
        let is_free =
            || matches!(rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
        ensure!(
            is_ours || is_free(),
            "{} exists and does not belong to the site; move it away",
            shown.display()
        );
        let folder = PathBuf::from(path).with_file_name("");
        if self.opened.insert(folder) {
            open_to_all(&parent, FOLDER_MODE).with_context(|| shown.display().to_string())?;
        }
        replace(&parent, name, bytes).with_context(|| shown.display().to_string())?;
        self.current.insert(path.to_owned(), format!("{digest} {}", bytes.len()));
        self.written += 1;
        Ok(())
    }

    /// Deletes the files that belonged to the site and no longer do, and returns the list of those that do.
    ///
    /// # Errors
    /// Returns an error if a file cannot be deleted.
    pub fn delete_others(&self) -> anyhow::Result<(Written, BTreeMap<String, String>)> {
        let gone: Vec<&String> =
            self.listed.keys().filter(|path| !self.current.contains_key(*path)).collect();
        for path in &gone {
            self.delete(path).with_context(|| self.path.join(path).display().to_string())?;
        }
        if self.written > 0 {
            // The list is about to say that they are there, even after a power failure.
            rustix::fs::syncfs(&self.root).with_context(|| self.path.display().to_string())?;
        }
        let built = Written { files: self.current.len(), written: self.written, deleted: gone.len() };
        Ok((built, self.current.clone()))
    }

    fn delete(&self, path: &str) -> io::Result<()> {
        let deleted = self
            .parent(path, false)
            .and_then(|(parent, name)| Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?));
        match deleted {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // A folder that still holds something stays.
        if let Some((folder, _)) = path.rsplit_once('/')
            && let Ok((parent, name)) = self.parent(folder, false)
        {
            let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
        Ok(())
    }

    /// Marks the folder as one that holds the files on this list, once the list is stored.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written.
    pub fn finish(&self, list: &BTreeMap<String, String>) -> anyhow::Result<()> {
        if self.written > 0 || *list != self.listed {
            self.mark(FolderMark { list: Some(digest_of(list)) })?;
        }
        Ok(())
    }

    fn mark(&self, mark: FolderMark) -> anyhow::Result<()> {
        replace(self.root.as_fd(), MARK, &serde_json::to_vec(&mark)?)
            .with_context(|| self.path.join(MARK).display().to_string())
    }

    /// Opens the folder of a file below the root, folder by folder and without following a link, and returns it with the
    /// file's name. Makes missing folders if wanted.
    fn parent<'a>(&self, path: &'a str, makes: bool) -> io::Result<(OwnedFd, &'a str)> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut at = self.root.try_clone()?;
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            if makes {
                match rustix::fs::mkdirat(&at, folder, Mode::from_raw_mode(FOLDER_MODE)) {
                    Ok(()) => give_to_owner_of(open_folder(&at, folder)?, &at)?,
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            at = open_folder(&at, folder)?;
        }
        Ok((at, name))
    }
}

/// Makes a folder and those above it, for everybody to read.
fn make_folders(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    let above = parent_of(path);
    make_folders(above)?;
    fs::DirBuilder::new().mode(FOLDER_MODE).create(path)?;
    let made = File::open(path)?;
    give_to_owner_at(&made, above)?;
    open_to_all(&made, FOLDER_MODE)
}

fn open_folder(at: impl AsFd, name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOTDIR | Errno::LOOP => io::Error::other(format!("{name} is a link or no folder")),
        error => error.into(),
    })
}

/// Adds permissions to a file or folder that lacks them. Whoever owns a folder decides about it.
fn open_to_all(fd: impl AsFd, mode: RawMode) -> io::Result<()> {
    let before = rustix::fs::fstat(&fd)?.st_mode;
    if before & mode != mode {
        match rustix::fs::fchmod(&fd, Mode::from_raw_mode(before | mode)) {
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Replaces a file in one step.
fn replace(parent: impl AsFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let parent = parent.as_fd();
    let unfinished = format!("{name}{UNFINISHED}");
    // An interrupted build may have left it.
    let _ = rustix::fs::unlinkat(parent, &unfinished, AtFlags::empty());
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(parent, &unfinished, flags, Mode::from_raw_mode(FILE_MODE))?;
    let mut file = File::from(opened);
    let replaced = file
        .write_all(bytes)
        .and_then(|()| give_to_owner_of(&file, parent))
        .and_then(|()| open_to_all(&file, FILE_MODE))
        .and_then(|()| Ok(rustix::fs::renameat(parent, &unfinished, parent, name)?));
    if replaced.is_err() {
        let _ = rustix::fs::unlinkat(parent, &unfinished, AtFlags::empty());
    }
    replaced
}

/// Returns the mark of a folder, an empty one if it cannot be read, and `None` if there is none.
fn read_mark(root: &OwnedFd) -> Option<FolderMark> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(root, MARK, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return None,
        Err(_) => return Some(FolderMark::default()),
    };
    let mut json = String::new();
    let read = file.take(MAX_MARK).read_to_string(&mut json);
    Some(read.ok().and_then(|_| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// Whether a folder holds anything but files that are hidden, such as `.git`.
fn has_files(root: &OwnedFd) -> io::Result<bool> {
    for entry in Dir::read_from(root)? {
        if !entry?.file_name().to_bytes().starts_with(b".") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the pages of a site below a folder, whose path ends with a slash or is empty.
fn pages_in(folder: &OwnedFd, path: &str) -> io::Result<Vec<String>> {
    let mut pages = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let path = format!("{path}{name}");
        let may_hold_pages =
            || ["index.html", "-/index.html"].iter().any(|page| is_page(&format!("{path}/{page}")));
        // An interrupted build may have left a file that was being written.
        if is_page(path.strip_suffix(UNFINISHED).unwrap_or(&path)) {
            pages.push(path);
        } else if may_hold_pages()
            // A link is nothing of the site.
            && let Ok(below) = open_folder(folder, name)
        {
            pages.extend(pages_in(&below, &format!("{path}/"))?);
        }
    }
    Ok(pages)
}

/// Returns the digest of a list of files.
fn digest_of(list: &BTreeMap<String, String>) -> Digest {
    let lines: String = list.iter().map(|(path, digest)| format!("{path} {digest}\n")).collect();
    Digest::of(lines.as_bytes())
}
