//! Notices letters in a Maildir at the moment of their delivery (inotify(7)).

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io;

/// A watch on the folders of a Maildir.
#[derive(Debug)]
pub(super) struct Arrivals(OwnedFd);

impl Arrivals {
    /// Watches the folders `new` and `cur`. `None` where the kernel has no watch left, or there is no such folder.
    ///
    /// A file that merely appeared may not be written yet; it is noticed when its writer closes it. A network file
    /// system announces nothing that comes from another machine.
    pub(super) fn watch(maildir: &Path) -> Option<Arrivals> {
        let watch = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        for part in ["new", "cur"] {
            let events = WatchFlags::MOVED_TO | WatchFlags::CLOSE_WRITE | WatchFlags::ONLYDIR;
            inotify::add_watch(&watch, maildir.join(part), events).ok()?;
        }
        Some(Arrivals(watch))
    }

    /// Waits until a letter arrives, at most `time`. Returns whether one has arrived since the last call that said so.
    pub(super) fn wait(&self, time: Duration) -> bool {
        let time = Timespec::try_from(time).ok();
        if poll(&mut [PollFd::new(&self.0, PollFlags::IN)], time.as_ref()).is_ok_and(|ready| ready > 0) {
            while io::read(&self.0, &mut [0; 4096]).is_ok_and(|count| count > 0) {}
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write as _;

    use super::super::maildir;
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_letter_is_noticed_once_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        maildir::create(folder.path()).expect("a Maildir");
        let arrivals = Arrivals::watch(folder.path()).expect("a watch");
        assert!(!arrivals.wait(Duration::ZERO), "nothing has come");
        maildir::deliver(folder.path(), b"Subject: x\n\nHOLD\n").expect("delivered");
        assert!(arrivals.wait(LONG) && !arrivals.wait(Duration::ZERO), "it is noticed once");
        let mut slow = File::create(folder.path().join("new/slow")).expect("a file");
        slow.write_all(b"Subject: ").expect("written");
        assert!(!arrivals.wait(Duration::ZERO), "half a letter");
        drop(slow);
        assert!(arrivals.wait(LONG));
    }

    #[test]
    fn a_folder_that_is_not_there_is_not_watched() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Arrivals::watch(folder.path()).is_none());
    }
}
