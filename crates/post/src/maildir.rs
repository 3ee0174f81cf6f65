//! Maildir folders: read as a mailbox, and written as a delivery agent writes them.
//!
//! The caller makes sure that only one program reads a folder; any number may deliver into it. We list `new`
//! and `cur` every second, and at once if the kernel announces a letter. Both folders are usually empty once
//! letters are filed, so listing costs next to nothing, works on network file systems, and never misses a letter.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::arrivals::Arrivals;
use super::owner::{give_to_owner_at, parent_of};
use super::source::{
    BatchSender, COMPARED_BYTES, COMPARED_LETTERS, MAX_BATCH_BYTES, MAX_BATCH_LETTERS, Remainder,
    SEARCH_TIME, Source, UNREADABLE_RETRY,
};
use super::{Error, FetchedLetter, FoundLetter, InboxCheck, LeftLetters, host_name};

const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum letters left in a folder that is listed every second, and read in the order of arrival however old
/// they are, which is cheap up to this number.
const FEW_LETTERS: usize = 100;

/// Time between polls of a folder with more of them whose modification time has not changed.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(60);

/// Age at which a folder's modification time reveals a later change: file systems count in steps of up to two
/// seconds.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

/// Maximum letters in a folder to search for one letter, newest first.
const MAX_SEARCHED: usize = 200;

/// A Maildir that is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaildirConfig {
    /// The folder that contains `new`, `cur` and `tmp`.
    pub path: PathBuf,
    /// The same path as the config has it, perhaps relative to its folder.
    #[serde(skip)]
    pub written_path: Option<PathBuf>,
    /// The Maildir++ folder inside it, without the leading dot, to which stored letters are moved.
    #[serde(default = "processed")]
    pub processed: String,
    /// Only the beginning of a larger letter is read.
    #[serde(default = "max_letter_bytes")]
    pub max_letter_bytes: usize,
}

fn processed() -> String {
    "Processed".to_owned()
}

fn max_letter_bytes() -> usize {
    super::MAX_LETTER_BYTES
}

impl MaildirConfig {
    /// Returns the defaults for the Maildir at `path`.
    pub fn at(path: impl Into<PathBuf>) -> MaildirConfig {
        MaildirConfig {
            path: path.into(),
            written_path: None,
            processed: processed(),
            max_letter_bytes: max_letter_bytes(),
        }
    }

    /// Checks that the folder for processed letters has a name, which makes it a different folder from the
    /// one that is read.
    pub(super) fn check_folders(&self) -> Result<(), String> {
        let name = &self.processed;
        let is_name = !name.trim_matches(['.', ' ']).is_empty()
            && !name.contains('/')
            && !name.chars().any(char::is_control);
        if is_name {
            return Ok(());
        }
        let name = name.escape_debug();
        Err(format!(
            "inbox.maildir.processed is `{name}`, which names no folder inside the Maildir; try \"Processed\""
        ))
    }
}

/// Creates `tmp`, `new` and `cur` where they are missing, for our user alone, or in a folder that somebody
/// else shares with a group, for the group too.
///
/// # Errors
/// Returns an error if a folder cannot be created or synced.
pub fn create(root: &Path) -> io::Result<()> {
    if ["tmp", "new", "cur"].iter().all(|part| root.join(part).is_dir()) {
        return Ok(());
    }
    let is_new = !root.exists();
    create_folders(root)?;
    let is_shared = is_shared_maildir(root);
    for folder in ["tmp", "new", "cur"].map(|part| root.join(part)) {
        match fs::create_dir(&folder) {
            Err(there) if there.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                created?;
                set_up_folder(&folder, is_shared)?;
            }
        }
    }
    if is_new {
        set_up_folder(root, is_shared)?;
    }
    sync(root)?;
    // A new folder is an entry in its parent, which must survive a power failure, too.
    sync(parent_of(root))
}

/// Creates a folder and those above it where they are missing, for our user alone: letters hold reply tokens. Those that
/// root makes belong to the owner of the one that was there.
///
/// # Errors
/// Returns an error if one cannot be created.
pub fn create_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = parent_of(path);
    if above != path {
        create_folders(above)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(there) if there.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        created => created.and_then(|()| give_to_owner_at(File::open(path)?, above)),
    }
}

/// Whether a Maildir, or the folder around it, belongs to somebody else who lets a group in, such as a mail
/// server.
fn is_shared_maildir(root: &Path) -> bool {
    is_shared(root) || root.parent().is_some_and(is_shared)
}

fn is_shared(folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::metadata(folder)
        .is_ok_and(|about| about.uid() != rustix::process::geteuid().as_raw() && about.mode() & 0o070 != 0)
}

/// Sets the permissions and the owner of a new folder, which must not depend on the umask or on who runs this program.
fn set_up_folder(folder: &Path, is_shared: bool) -> io::Result<()> {
    let made = File::open(folder)?;
    made.set_permissions(Permissions::from_mode(if is_shared { 0o750 } else { 0o700 }))?;
    give_to_owner_at(made, parent_of(folder))
}

/// A letter to deliver into the Maildir `root`.
#[derive(Debug)]
pub struct LetterToDeliver {
    pub root: PathBuf,
    pub bytes: Vec<u8>,
}

/// Delivers one letter durably and returns its path.
///
/// # Errors
/// Returns an error if the letter cannot be written or synced.
pub fn deliver(root: &Path, letter: &[u8]) -> io::Result<PathBuf> {
    let mut one = [UnfinishedFile::new(root, letter)];
    write_and_sync(&mut one);
    let [draft] = one;
    draft.into_path()
}

/// Delivers letters durably. Returns the path of each, or the error that kept it from being written or
/// synced.
pub fn deliver_all(letters: &[LetterToDeliver]) -> Vec<io::Result<PathBuf>> {
    let mut drafts: Vec<UnfinishedFile> =
        letters.iter().map(|letter| UnfinishedFile::new(&letter.root, &letter.bytes)).collect();
    write_and_sync(&mut drafts);
    drafts.into_iter().map(UnfinishedFile::into_path).collect()
}

/// Writes letters to `tmp`, syncs them, moves them to `new`, and syncs the folders.
fn write_and_sync(drafts: &mut [UnfinishedFile]) {
    in_parallel(drafts, UnfinishedFile::write);
    // Sync drafts before moving them: after a power failure, a letter in `new` must be complete.
    sync_drafts(drafts, |draft| &draft.tmp);
    in_parallel(drafts, UnfinishedFile::move_to_new);
    sync_drafts(drafts, |draft| draft.new.parent().unwrap_or(&draft.new));
}

/// Threads that write or move letters. With one thread, each letter waits for the disk to read its folder's
/// entries; four threads delivered 7 to 25 % more letters per second.
const WRITER_THREADS: usize = 4;

fn in_parallel<'a>(drafts: &mut [UnfinishedFile<'a>], work: fn(&mut UnfinishedFile<'a>)) {
    if drafts.len() <= MAX_SINGLE_SYNCS {
        drafts.iter_mut().for_each(work);
        return;
    }
    thread::scope(|scope| {
        for some in drafts.chunks_mut(drafts.len().div_ceil(WRITER_THREADS)) {
            scope.spawn(move || some.iter_mut().for_each(work));
        }
    });
}

/// A letter that is being delivered.
struct UnfinishedFile<'a> {
    root: &'a Path,
    letter: &'a [u8],
    tmp: PathBuf,
    new: PathBuf,
    /// The device number of its file system once it is written, or the first error.
    disk: io::Result<u64>,
}

impl<'a> UnfinishedFile<'a> {
    fn new(root: &'a Path, letter: &'a [u8]) -> UnfinishedFile<'a> {
        let name = unique_name();
        UnfinishedFile {
            root,
            letter,
            tmp: root.join("tmp").join(&name),
            new: root.join("new").join(name),
            disk: Ok(0),
        }
    }

    fn write(&mut self) {
        self.disk = self.write_in_tmp();
    }

    fn write_in_tmp(&self) -> io::Result<u64> {
        let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.tmp);
        let mut file = self.in_maildir(create)?;
        give_to_owner_at(&file, self.root)?;
        if is_shared_maildir(self.root) {
            // Set the mode explicitly: at creation, the umask could take away the group's permission.
            file.set_permissions(Permissions::from_mode(0o640))?;
        }
        file.write_all(self.letter)?;
        Ok(file.metadata()?.dev())
    }

    fn move_to_new(&mut self) {
        if self.disk.is_ok()
            && let Err(error) = self.in_maildir(|| fs::rename(&self.tmp, &self.new))
        {
            self.disk = Err(error);
        }
        if self.disk.is_err() {
            // The file may not exist.
            let _ = fs::remove_file(&self.tmp);
        }
    }

    /// Runs `act`. If the Maildir is missing, creates it and runs `act` again.
    fn in_maildir<T>(&self, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match act() {
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => {
                create(self.root)?;
                act()
            }
            done => done,
        }
    }

    fn into_path(self) -> io::Result<PathBuf> {
        self.disk.map(|_| self.new)
    }
}

/// Maximum letters that are synced one by one. Syncing the file system also writes the changes of other
/// programs, which is not worth it for a few letters.
const MAX_SINGLE_SYNCS: usize = 3;

/// Syncs files or folders: a few one by one, many by one sync of their file system, which reports failed
/// writes since Linux 5.8.
fn sync_drafts(drafts: &mut [UnfinishedFile], place: for<'d> fn(&'d UnfinishedFile<'_>) -> &'d Path) {
    let few = drafts.len() <= MAX_SINGLE_SYNCS;
    let mut disks = BTreeMap::new();
    for draft in drafts {
        let Ok(disk) = draft.disk else { continue };
        let place = place(draft);
        let synced = if few {
            sync(place)
        } else {
            // Drafts share the outcome of one sync, and an error cannot be cloned, but its kind can.
            let synced = disks.entry(disk).or_insert_with(|| sync_file_system(place).map_err(|e| e.kind()));
            synced.map_err(io::Error::from)
        };
        if let Err(error) = synced {
            draft.disk = Err(error);
        }
    }
}

/// Syncs a file, or the entries of a folder.
fn sync(place: &Path) -> io::Result<()> {
    File::open(place)?.sync_all()
}

/// Syncs the file system that contains `place`.
fn sync_file_system(place: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(place)?)?)
}

/// Returns a file name that is unique across processes and machines: time, process, count and host.
fn unique_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    unique_name_of(now.as_secs(), now.subsec_micros())
}

/// Like [`unique_name`], for a letter that arrived at this Unix time.
fn unique_name_of(seconds: u64, micros: u32) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // In a file name, a slash would begin a folder, and a colon the flags.
    static HOST: LazyLock<String> = LazyLock::new(|| host_name().replace('/', "\\057").replace(':', "\\072"));
    format!("{seconds}.M{micros:06}P{}Q{count}.{}", std::process::id(), *HOST)
}

/// Returns a name for a letter that moves to another folder: a fresh one, with the time of arrival and the
/// sizes of the old one (Maildir++: `,S=` and `,W=`).
///
/// Other programs keep their own fields in the name, and those are valid in one folder only: mbsync takes the
/// `,U=` of a letter that was moved under its old name for a UID of the new folder, and never synchronises that
/// folder again.
fn name_in_another_folder(letter: &Found) -> String {
    let named = letter.name.split('.').next().and_then(|number| number.parse().ok());
    let modified = || letter.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut name = unique_name_of(named.unwrap_or_else(modified), micros_of(&letter.name));
    for field in letter.name.split(',').skip(1) {
        let is_size = field
            .strip_prefix("S=")
            .or(field.strip_prefix("W="))
            .is_some_and(|size| !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit()));
        if is_size {
            name.push(',');
            name.push_str(field);
        }
    }
    name
}

/// Returns the microseconds in a name such as `1700000000.M20046P2137.host`, or 0: letters that arrived in one second
/// are read again in the order in which they came.
fn micros_of(name: &str) -> u32 {
    let word = name.split('.').nth(1).and_then(|word| word.strip_prefix('M')).unwrap_or_default();
    let digits: String = word.chars().take_while(char::is_ascii_digit).take(6).collect();
    digits.parse().unwrap_or_default()
}

/// Returns the flags of a file, and the one for a letter that was seen. Lower-case letters stand for keywords
/// of one folder (Dovecot), so they are left out.
fn flags_when_seen(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let flags = name.split_once(":2,").map_or("", |(_, flags)| flags);
    // Maildir wants them in ASCII order.
    let mut flags: BTreeSet<char> = flags.chars().filter(char::is_ascii_uppercase).collect();
    flags.insert('S');
    flags.into_iter().collect()
}

/// Whether two paths lead to the same folder.
fn is_same_file(a: &Path, b: &Path) -> io::Result<bool> {
    let a = fs::metadata(a)?;
    let b = fs::metadata(b)?;
    Ok((a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// A letter's file, as it was listed.
#[derive(Debug, Clone)]
struct Found {
    path: PathBuf,
    /// The name without the flags, which mail programs change.
    name: String,
    modified: SystemTime,
    size: u64,
}

impl Found {
    fn origin(&self) -> String {
        format!("maildir:{}", self.name)
    }

    /// Returns the times at which the letter arrived: the file's modification time, and the delivery time in
    /// front of its name.
    fn arrivals(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let seconds = self.name.split('.').next().and_then(|number| number.parse().ok());
        let named = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        std::iter::once(self.modified.into()).chain(named)
    }
}

/// Lists all letters in the folder, in order of arrival.
fn list(root: &Path) -> io::Result<Vec<Found>> {
    let mut all = Vec::new();
    for part in ["new", "cur"] {
        for entry in fs::read_dir(root.join(part))? {
            let entry = entry?;
            let file_name = entry.file_name();
            let about = match entry.metadata() {
                // A mail program may have renamed the file since the folder was read.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => continue,
                about => about?,
            };
            if !about.is_file() || file_name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let name = base(&file_name);
            all.push(Found { path: entry.path(), name, modified: about.modified()?, size: about.len() });
        }
    }
    all.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    Ok(all)
}

fn base(file_name: &OsStr) -> String {
    let name = file_name.to_string_lossy();
    name.split_once(":2,").map_or(&*name, |(base, _flags)| base).to_owned()
}

/// Reads a Maildir.
pub(super) struct MaildirReader {
    settings: MaildirConfig,
    /// Letters that are stored but not filed, and so not handed over again.
    stored: BTreeSet<String>,
    /// Letters that cannot be read, and since when. They are retried later.
    unreadable: BTreeMap<String, Instant>,
    /// Letters, by origin, that the receiver did not take or that cannot be moved, as it was told.
    left: LeftLetters,
    /// The reason why stored letters cannot be moved.
    unfiled: Option<String>,
    /// Number of letters that were handed over and stored.
    stored_count: usize,
    /// Number of old letters that were found since they were last logged.
    old_count: usize,
    /// The time of the last poll, and the folders' modification times at that moment, unless they are too
    /// recent to reveal a later change.
    looked: Option<(Instant, [Option<SystemTime>; 2])>,
    /// Whether the letters that were filed last need no comparison any more.
    is_compared: bool,
}

impl MaildirReader {
    pub(super) fn new(settings: MaildirConfig, left: LeftLetters) -> MaildirReader {
        // Try to move these stored letters again at the first poll.
        let stored = left.unfiled.iter().filter_map(|origin| origin.strip_prefix("maildir:"));
        let stored = stored.map(ToOwned::to_owned).collect();
        MaildirReader {
            settings,
            stored,
            unreadable: BTreeMap::new(),
            is_compared: left.mark.is_none(),
            left,
            unfiled: None,
            stored_count: 0,
            old_count: 0,
            looked: None,
        }
    }

    fn list(&self) -> Result<Vec<Found>, Error> {
        let path = &self.settings.path;
        list(path).map_err(|e| Error::io(format!("the Maildir {} cannot be listed", path.display()), e))
    }

    /// Whether there may be anything to do since the last poll. Listing is expensive only if many letters are
    /// left in the folder, and then the folder's modification time decides.
    fn may_have_changed(&mut self) -> bool {
        let times = ["new", "cur"]
            .map(|part| fs::metadata(self.settings.path.join(part)).and_then(|m| m.modified()).ok());
        let is_settled = |time: &Option<SystemTime>| {
            time.is_some_and(|time| {
                SystemTime::now().duration_since(time).is_ok_and(|age| age > SETTLED_AFTER)
            })
        };
        let is_known =
            self.looked.is_some_and(|(at, before)| before == times && at.elapsed() < MAX_POLL_INTERVAL);
        if is_known && self.left.untaken.len() > FEW_LETTERS {
            return false;
        }
        self.looked = times.iter().all(is_settled).then(|| (Instant::now(), times));
        true
    }

    /// Reads a letter. Returns `None` if it is gone or cannot be read.
    fn read(&mut self, found: &Found) -> Option<FetchedLetter> {
        match read_file(found, self.settings.max_letter_bytes) {
            Ok(letter) => {
                self.unreadable.remove(&found.name);
                Some(letter)
            }
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                if self.unreadable.insert(found.name.clone(), Instant::now()).is_none() {
                    tracing::error!(letter = %found.name, %error, "failed to read a letter; it stays in the Maildir");
                }
                None
            }
        }
    }

    /// Moves stored letters to the processed folder, flagged as seen.
    fn file(&mut self, letters: &[Found]) -> io::Result<()> {
        let folder = self.settings.path.join(format!(".{}", self.settings.processed));
        create(&folder)?;
        // Maildir++ marks its folders with this file, which already exists except the first time.
        let _ =
            File::create_new(folder.join("maildirfolder")).and_then(|mark| give_to_owner_at(mark, &folder));
        let cur = folder.join("cur");
        // Processed letters that are read again stay in the folder that is read.
        let stays = self.settings.processed.is_empty();
        if !stays && is_same_file(&cur, &self.settings.path.join("cur"))? {
            return Err(io::Error::other("it is the folder that is read"));
        }
        let mut failed = Ok(());
        for letter in letters {
            let name = if stays { letter.name.clone() } else { name_in_another_folder(letter) };
            let mut place = cur.join(format!("{name}:2,{}", flags_when_seen(&letter.path)));
            // Renaming would replace another letter of the same name.
            if place.exists() && place != letter.path {
                place = cur.join(format!("{}:2,S", name_in_another_folder(letter)));
            }
            match fs::rename(&letter.path, place) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => failed = failed.and(Err(error)),
                Ok(()) | Err(_) => drop(self.stored.remove(&letter.name)),
            }
        }
        sync(&cur)?;
        sync(&self.settings.path.join("new"))?;
        sync(&self.settings.path.join("cur"))?;
        failed
    }

    /// Moves stored letters if possible. If not, the other letters are still read.
    fn file_or_keep(&mut self, letters: &[Found]) {
        if let Err(error) = self.file(letters) {
            let processed = &self.settings.processed;
            self.unfiled = Some(format!(
                "stored letters cannot be moved to {processed}: {error}; see inbox.maildir.processed"
            ));
        }
    }

    fn report_ok(&self, sender: &BatchSender) {
        let first = self.unreadable.keys().next();
        let unreadable = first.map(|name| {
            let count = self.unreadable.len();
            let path = self.settings.path.display();
            format!(
                "letters in the Maildir {path} cannot be read and stay there: {count}, the first is {name}"
            )
        });
        let unfiled = self.unfiled.clone();
        sender.report_ok(Remainder { unreadable_count: self.unreadable.len(), unreadable, unfiled });
    }

    /// Tells the receiver which letters cannot be moved, and which of those that were left are gone.
    fn report_left(&mut self, listed: &BTreeSet<String>, sender: &BatchSender) -> Result<(), Error> {
        let unfiled: BTreeSet<String> = self.stored.iter().map(|name| format!("maildir:{name}")).collect();
        sender.report_unfiled(&self.left.unfiled, &unfiled)?;
        self.left.unfiled = unfiled;
        let gone = self.left.untaken.extract_if(.., |origin| !listed.contains(origin)).collect();
        sender.report_gone(gone)
    }
}

fn read_file(found: &Found, max_letter_bytes: usize) -> io::Result<FetchedLetter> {
    let mut raw = Vec::new();
    // One byte more than the limit shows whether the letter is larger.
    File::open(&found.path)?.take(max_letter_bytes as u64 + 1).read_to_end(&mut raw)?;
    let cut = raw.len() > max_letter_bytes;
    raw.truncate(max_letter_bytes);
    let size = found.size.max(raw.len() as u64);
    Ok(FetchedLetter {
        raw,
        received_at: found.modified.into(),
        arrivals: found.arrivals().collect(),
        origin: found.origin(),
        cut,
        size,
        is_spam: false,
    })
}

impl MaildirReader {
    /// Lets the receiver compare the letters that were filed last, once.
    fn compare_filed(&mut self, sender: &BatchSender) -> Result<(), Error> {
        if !self.is_compared {
            sender.compare_filed(self.filed_last())?;
            self.is_compared = true;
        }
        Ok(())
    }

    /// Returns the letters that were filed last, and only the beginning of a large one.
    fn filed_last(&self) -> Vec<FetchedLetter> {
        let folder = self.settings.path.join(format!(".{}", self.settings.processed));
        // The folder need not exist yet.
        let filed = list(&folder).unwrap_or_default();
        let newest = filed.iter().rev().take(COMPARED_LETTERS);
        let limit = COMPARED_BYTES.min(self.settings.max_letter_bytes);
        // One that cannot be read, or is gone, proves nothing.
        newest.filter_map(|found| read_file(found, limit).ok()).collect()
    }

    /// Reads the letters in the Maildir, and then for [`SEARCH_TIME`] or a little longer those that may be old.
    /// Returns whether more of these are left.
    fn read_folder(&mut self, sender: &BatchSender) -> Result<bool, Error> {
        self.compare_filed(sender)?;
        let all = self.list()?;
        let listed: BTreeSet<String> = all.iter().map(Found::origin).collect();
        self.unreadable.retain(|name, _| all.iter().any(|found| found.name == *name));
        self.stored.retain(|name| listed.contains(&format!("maildir:{name}")));
        let (stored, mut waiting): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|found| self.stored.contains(&found.name));
        let before = self.unfiled.take();
        if !stored.is_empty() {
            self.file_or_keep(&stored);
        }
        waiting.retain(|found| {
            !self.left.untaken.contains(&found.origin())
                && self.unreadable.get(&found.name).is_none_or(|at| at.elapsed() > UNREADABLE_RETRY)
        });
        let began = self.left.began.filter(|_| waiting.len() > FEW_LETTERS);
        let is_suspect = |found: &Found| began.is_some_and(|began| found.arrivals().all(|at| at < began));
        let (suspects, new): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_suspect);
        let mut rest = new.into_iter().peekable();
        while rest.peek().is_some() {
            self.read_batch(&mut rest, sender)?;
        }
        let started = Instant::now();
        let mut rest = suspects.into_iter().peekable();
        while rest.peek().is_some() && started.elapsed() < SEARCH_TIME {
            self.read_batch(&mut rest, sender)?;
        }
        let is_more_left = rest.peek().is_some();
        if !is_more_left {
            sender.log_old(&mut self.old_count);
        }
        if let Some(error) = self.unfiled.as_ref().filter(|error| before.as_ref() != Some(error)) {
            tracing::warn!(error, "stored letters stay in the Maildir; reading goes on");
        }
        self.report_left(&listed, sender)?;
        Ok(is_more_left)
    }

    /// Reads as many of the letters as make a batch.
    fn read_batch(
        &mut self,
        rest: &mut impl Iterator<Item = Found>,
        sender: &BatchSender,
    ) -> Result<(), Error> {
        let mut letters = Vec::new();
        let mut files = Vec::new();
        let mut bytes = 0;
        while letters.len() < MAX_BATCH_LETTERS && bytes < MAX_BATCH_BYTES {
            let Some(found) = rest.next() else { break };
            let Some(letter) = self.read(&found) else { continue };
            bytes += letter.raw.len();
            letters.push(letter);
            files.push(found);
        }
        if letters.is_empty() {
            return Ok(());
        }
        let taken = sender.send_batch(letters)?;
        let (files, untaken) = taken.divide(files);
        self.old_count += untaken.len();
        self.left.untaken.extend(untaken.iter().map(Found::origin));
        self.stored_count += files.len();
        self.stored.extend(files.iter().map(|found| found.name.clone()));
        self.file_or_keep(&files);
        Ok(())
    }
}

impl Source for MaildirReader {
    fn watch(&mut self, sender: &BatchSender) -> Result<Infallible, Error> {
        let mut is_more_left = false;
        let mut arrivals = None;
        loop {
            // Watch before listing, so that no letter slips in between.
            arrivals = arrivals.or_else(|| Arrivals::watch(&self.settings.path));
            if is_more_left || self.may_have_changed() {
                is_more_left = self.read_folder(sender)?;
            }
            self.report_ok(sender);
            match &arrivals {
                _ if is_more_left => {}
                Some(arrivals) if self.left.untaken.len() <= FEW_LETTERS => {
                    sender.wait_by(POLL_INTERVAL, |step| arrivals.wait(step))?;
                }
                _ => sender.sleep(POLL_INTERVAL)?,
            }
        }
    }

    fn drain(&mut self, sender: &BatchSender) -> Result<usize, Error> {
        while self.read_folder(sender)? {}
        self.report_ok(sender);
        Ok(self.stored_count)
    }

    fn check(&mut self) -> Result<InboxCheck, Error> {
        let waiting = self.list()?;
        let found = format!("Maildir {}: {} waiting", self.settings.path.display(), waiting.len());
        let arrivals = waiting.iter().map(|letter| letter.arrivals().max()).collect();
        let filed = self.filed_last();
        Ok(InboxCheck { found, arrivals, filed, ..InboxCheck::default() })
    }

    fn find(&mut self, message_id: &str) -> Result<Option<FoundLetter>, Error> {
        let processed = self.settings.path.join(format!(".{}", self.settings.processed));
        for folder in [self.settings.path.clone(), processed.clone()] {
            // The folder for processed letters need not exist yet.
            let Ok(files) = list(&folder) else { continue };
            // The letter arrived recently, so it is among the last.
            for file in files.iter().rev().take(MAX_SEARCHED) {
                let Some(letter) = self.read(file) else { continue };
                if memchr::memmem::find(&letter.raw, message_id.as_bytes()).is_none() {
                    continue;
                }
                let moved = if folder == processed { Ok(()) } else { self.file(std::slice::from_ref(file)) };
                let unfiled = moved
                    .err()
                    .map(|error| format!("{}: {error}; see inbox.maildir.processed", processed.display()));
                let folder = folder.display().to_string();
                return Ok(Some(FoundLetter { folder, is_spam: false, raw: letter.raw, unfiled }));
            }
        }
        Ok(None)
    }
}
