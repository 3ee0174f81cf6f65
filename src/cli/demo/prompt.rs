//! The prompt of `fogpost demo --play`: prints incoming letters and reads the answers.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;
use std::sync::{Arc, mpsc as sync_mpsc};
use std::time::Duration;

use anyhow::Context as _;
use tokio::process::Command;
use tokio::sync::mpsc;

use super::correspondent::Correspondent;
use super::{entries, find, story};
use crate::daemon::Office;
use crate::game::Seat;
use crate::ledger;
use crate::referee::Stage;

/// The line between letters and answers.
const RULE: &str = "────────────────────────────────────────────────────────────────────────";

/// Time between two checks of the mailbox.
const LOOK: Duration = Duration::from_millis(100);

/// The person at the terminal, who has the first seat.
pub struct Prompt<'a> {
    office: &'a Arc<Office>,
    folder: &'a Path,
    match_id: String,
    correspondent: Correspondent,
    keyboard: Keyboard,
    /// Whether the terminal belongs to an editor or a mail program, so that Ctrl-C is meant for that.
    has_guest: Rc<Cell<bool>>,
    /// Whether the board has been opened in a viewer.
    has_viewer: bool,
    /// Whether the last answer was sent at its footer. An END that follows is then ignored.
    was_footer: bool,
}

/// A choice at the prompt.
enum Wish {
    Send(String),
    Edit,
    Mutt,
    Stop,
    /// The end of the input.
    Ended,
}

impl<'a> Prompt<'a> {
    pub fn new(
        office: &'a Arc<Office>,
        folder: &'a Path,
        match_id: String,
        correspondent: Correspondent,
    ) -> Prompt<'a> {
        let keyboard = Keyboard::new();
        let has_guest = Rc::default();
        Prompt {
            office,
            folder,
            match_id,
            correspondent,
            keyboard,
            has_guest,
            has_viewer: false,
            was_footer: false,
        }
    }

    /// Returns a shared flag that shows whether the terminal belongs to another program.
    pub fn has_guest(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.has_guest)
    }

    /// Shows letters and sends answers until the match is over or the person quits.
    pub async fn run(mut self) -> anyhow::Result<()> {
        loop {
            self.wait_for_letters().await?;
            self.show_letters()?;
            if find(self.office, &self.match_id).await?.stage == Stage::Over {
                return self.show_replay().await;
            }
            let words = match self.wish().await? {
                Wish::Send(words) => words,
                Wish::Edit => self.edit().await?,
                Wish::Mutt => {
                    self.lend_terminal(Command::new("mutt").arg("-F").arg(self.folder.join("muttrc")))
                        .await?;
                    continue;
                }
                Wish::Stop => return Ok(()),
                Wish::Ended => {
                    println!("Nothing more to read here. The referee goes on for a mail program.");
                    std::future::pending().await
                }
            };
            if words.trim().is_empty() {
                println!("Nothing was sent.");
            } else {
                self.correspondent.send(&words)?;
            }
        }
    }

    /// Waits until every letter has been answered, and it is the person's move or the match is over.
    async fn wait_for_letters(&self) -> anyhow::Result<()> {
        let unread = self.folder.join("mail/referee/new");
        loop {
            let is_read = std::fs::read_dir(&unread)?.next().is_none();
            let queues = self.office.store.queues().await?;
            let game_match = find(self.office, &self.match_id).await?;
            let is_settled = game_match.stage == Stage::Over || game_match.awaits(Seat::First);
            if is_read && queues.letters_waiting + queues.dispatches_waiting == 0 && is_settled {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn show_letters(&mut self) -> anyhow::Result<()> {
        for letter in self.correspondent.read_new_letters()? {
            println!();
            println!("{RULE}");
            println!("Subject: {}", letter.subject);
            println!();
            let is_link = |word: &&str| word.starts_with("file://") && word.contains('#');
            let link = letter.text.split_whitespace().find(is_link);
            // A page opens the link: in a terminal it would take several lines.
            let is_shown = |line: &&str| link.is_none_or(|link| !line.contains(link));
            letter.text.trim_end().lines().filter(is_shown).for_each(|line| println!("{line}"));
            if let Some(picture) = letter.picture {
                let file = self.folder.join("board.png");
                std::fs::write(&file, picture).with_context(|| file.display().to_string())?;
                println!();
                println!("The board as a picture: {}", file.display());
                // A viewer that is already open shows later boards, too.
                self.has_viewer = self.has_viewer || link.is_none() && open(&file);
            }
            link.map(|link| self.open_board(link)).transpose()?;
        }
        Ok(())
    }

    /// Opens the board that writes the letter, by way of a page: programs that open files drop the fragment of a link.
    fn open_board(&self, link: &str) -> anyhow::Result<()> {
        let page = self.folder.join("board.html");
        let html = format!("<!doctype html>\n<meta http-equiv=refresh content=\"0; url={link}\">\n");
        std::fs::write(&page, html).with_context(|| page.display().to_string())?;
        println!("The board that writes your answer, renewed with each letter: file://{}", page.display());
        println!("Tap your orders there, copy the letter, and paste it here.");
        open(&page);
        Ok(())
    }

    /// Runs a program that takes over the terminal, and returns whether it succeeded.
    async fn lend_terminal(&self, program: &mut Command) -> anyhow::Result<bool> {
        self.has_guest.set(true);
        let status = program.status().await;
        self.has_guest.set(false);
        Ok(status.with_context(|| format!("failed to run {program:?}"))?.success())
    }

    /// Reads an answer, or a single letter that stands for a choice.
    async fn wish(&mut self) -> anyhow::Result<Wish> {
        let has_mutt = is_installed("mutt");
        println!("{RULE}");
        println!("Your answer: the letter from the board, or orders, and a line END to send them.");
        let mutt = if has_mutt { "m opens mutt, " } else { "" };
        println!("In place of the first line: e opens $EDITOR, {mutt}q stops.");
        let mut words = String::new();
        loop {
            print!("> ");
            io::stdout().flush()?;
            let Some(line) = self.keyboard.line().await else {
                println!();
                return Ok(Wish::Ended);
            };
            let line = line.trim_end();
            let is_end = line.trim().eq_ignore_ascii_case("end");
            match line.trim() {
                "" if self.was_footer => {}
                _ if is_end && self.was_footer => self.was_footer = false,
                _ if is_end => return Ok(Wish::Send(words)),
                "e" if words.is_empty() => return Ok(Wish::Edit),
                "m" if words.is_empty() && has_mutt => return Ok(Wish::Mutt),
                "q" if words.is_empty() => return Ok(Wish::Stop),
                _ => {
                    // The board's letter ends with its footer. An END may be glued to it, if the line was not ended.
                    self.was_footer = line.starts_with("Reply token: ");
                    let line = if self.was_footer { line.trim_end_matches("END") } else { line };
                    words.push_str(line);
                    words.push('\n');
                    if self.was_footer {
                        return Ok(Wish::Send(words));
                    }
                }
            }
        }
    }

    /// Lets the person write in an editor, above the quoted letter. Returns the text without the quote. Returns
    /// an empty text if the editor fails, which is how one discards a text.
    async fn edit(&self) -> anyhow::Result<String> {
        let draft = self.folder.join("answer.txt");
        let quoted = self.correspondent.latest_text().lines().map(|line| format!("> {line}\n"));
        std::fs::write(&draft, format!("\n{}", quoted.collect::<String>()))?;
        // $EDITOR may have arguments.
        let run = r#"${VISUAL:-${EDITOR:-vi}} "$1""#;
        if !self.lend_terminal(Command::new("sh").args(["-c", run, "sh"]).arg(&draft)).await? {
            return Ok(String::new());
        }
        let written = std::fs::read_to_string(&draft).with_context(|| draft.display().to_string())?;
        Ok(written.lines().filter(|line| !line.starts_with('>')).map(|line| format!("{line}\n")).collect())
    }

    async fn show_replay(&self) -> anyhow::Result<()> {
        let entries = entries(&self.office.store, &self.match_id).await?;
        let record = ledger::record(&entries).context("the ledger does not begin with the opening")?;
        let game_match = find(self.office, &self.match_id).await?;
        let page = story::write_replay(self.folder, self.office, &game_match, record)?;
        println!();
        println!("To see the match as each side saw it and as it was, open {}", page.display());
        open(&page);
        Ok(())
    }
}

/// Opens a file as a click on it would, if there is a screen. Returns whether a program was started for it.
fn open(file: &Path) -> bool {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let mut viewer = Command::new("xdg-open");
    viewer.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    has_screen && viewer.spawn().is_ok()
}

/// Whether there is a program of this name.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Reads lines from the terminal one by one, so that an editor gets all other keys. Nothing waits for the thread
/// that reads, because it may be blocked when the program ends.
struct Keyboard {
    ask: sync_mpsc::Sender<()>,
    lines: mpsc::Receiver<Option<String>>,
}

impl Keyboard {
    fn new() -> Keyboard {
        let (ask, asked) = sync_mpsc::channel();
        let (found, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for () in asked {
                let line = io::stdin().lines().next().and_then(Result::ok);
                if found.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Keyboard { ask, lines }
    }

    /// Returns the next line, or `None` if there is none.
    async fn line(&mut self) -> Option<String> {
        self.ask.send(()).ok()?;
        self.lines.recv().await?
    }
}
