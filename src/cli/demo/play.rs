//! `fogpost demo --play`: the person at the terminal plays against the house by letter, on this machine: at a prompt,
//! or with mutt.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use anyhow::{Context, anyhow, bail, ensure};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::correspondent::Correspondent;
use super::prompt::Prompt;
use super::{find, named_address, office, open_office, put, utf8};
use crate::cli::output::program;
use crate::daemon::status::service::{SignalRequest, Signals};
use crate::daemon::status::this_daemon;
use crate::daemon::{Holder, NewMatch, Office, instruct, loops, site};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::house::{self, HouseLevel};
use crate::letter::printable::is_printable;
use crate::post::maildirs::folder_of;
use crate::post::{ShutdownSignal, maildir};
use crate::referee::{Match, Stage, house_level};

/// A match of a person against the house, checked before anything is created.
pub struct DemoPlay {
    /// Absolute, without symbolic links.
    folder: PathBuf,
    game: GameKind,
    level: &'static HouseLevel,
}

impl DemoPlay {
    /// # Errors
    /// Returns an error if the house has no such level in the game, or if mutt could not use the folder.
    pub fn new(folder: &Path, game: GameKind, level: &str) -> anyhow::Result<DemoPlay> {
        ensure!(!house::levels(game).is_empty(), "the house does not play {}", game.name());
        let levels: Vec<_> = house::levels(game).iter().map(|level| level.name).collect();
        let level = house_level(game, level).map_err(|_| {
            anyhow!("the house has no level {level} in {}; try {}", game.name(), levels.join(", "))
        })?;
        let folder = absolute(folder).with_context(|| folder.display().to_string())?;
        if let Some(c) = utf8(&folder)?.chars().find(|c| is_special_in_muttrc(*c)) {
            bail!("mutt would misread {c:?} in the path {folder:?}; choose another folder with --folder");
        }
        Ok(DemoPlay { folder, game, level })
    }

    /// Opens the match in the folder, which exists by now, and referees it until Ctrl-C. The person begins.
    pub async fn run(self) -> anyhow::Result<()> {
        let DemoPlay { folder, game, level } = self;
        let office = office(&folder, &site_section(&folder)).await?;
        let you = named_address("You")?;
        write_mail(&folder, you.address.as_str())?;
        let correspondent = Correspondent::new(you.clone(), &folder.join("mail"));
        let new = NewMatch {
            game,
            choices: house::choices_at(game, level, &[]).map_err(anyhow::Error::msg)?,
            players: BySeat::new(Holder::Player(you), Holder::House(level)),
            terms: office.config.terms.clone(),
        };
        let game_match = instruct::open(&office, new).await?;
        // Send the invitation now, so that it is in the mailbox before anybody looks.
        loops::once(&office).await?;
        play(&office, &folder, &game_match, correspondent).await
    }

    /// Goes on with the match in a folder, from its last letter.
    pub async fn resume(folder: &Path) -> anyhow::Result<()> {
        let folder = fs::canonicalize(folder).with_context(|| folder.display().to_string())?;
        ensure!(folder.join("muttrc").exists(), "{} holds no match of `demo --play`", folder.display());
        let office = open_office(&folder.join("config.toml")).await?;
        let mut correspondent = Correspondent::new(named_address("You")?, &folder.join("mail"));
        correspondent.skip_to_last()?;
        for id in office.store.match_ids().await? {
            let game_match = find(&office, &id).await?;
            if game_match.stage != Stage::Over {
                return play(&office, &folder, &game_match, correspondent).await;
            }
        }
        bail!("the match in {} is over; a new one begins with --play", folder.display())
    }
}

/// Referees the match until its end, Ctrl-C or `q`.
async fn play(
    office: &Arc<Office>,
    folder: &Path,
    game_match: &Match,
    correspondent: Correspondent,
) -> anyhow::Result<()> {
    let _held = office.store.lock(&this_daemon()).await?;
    tell(game_match, folder);
    referee(office, Prompt::new(office, folder, game_match.id.clone(), correspondent)).await?;
    // The last letter may link pages that the referee had no time to write.
    site::build_once(office).await?;
    let is_over = find(office, &game_match.id).await?.stage == Stage::Over;
    office.close().await;
    // The name by which it was called works here, even if the program is not installed.
    let program = program();
    if is_over {
        println!("To play again: {program} demo --play {}", game_match.game);
    } else {
        println!("To go on later: {program} demo --resume '{}'", folder.display());
    }
    Ok(())
}

/// Returns the config of a site in the folder, so that letters link the board.
fn site_section(folder: &Path) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');
    let folder = percent_encode(folder.as_os_str().as_encoded_bytes(), KEPT);
    format!("\n[site]\nfolder = \"site\"\nurl = \"file://{folder}/site\"\n")
}

/// Returns the absolute path, without symbolic links, that a folder will have when it is created.
fn absolute(folder: &Path) -> io::Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    let present = folder.ancestors().find(|path| path.exists()).unwrap_or(&folder);
    let missing = folder.strip_prefix(present).expect("it is an ancestor");
    Ok(fs::canonicalize(present)?.join(missing))
}

/// Whether a character has a special meaning inside the quotes of a muttrc or a shell script, or is not
/// printed unchanged. mutt splits `sendmail` at spaces even inside quotes.
fn is_special_in_muttrc(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '\\' | '$' | '`') || !is_printable(c)
}

/// Runs the daemon until it is told to stop, or the person at the prompt quits.
async fn referee(office: &Arc<Office>, prompt: Prompt<'_>) -> anyhow::Result<()> {
    let mut signals = Signals::listen().context("failed to listen for signals")?;
    let (stopper, stop) = ShutdownSignal::new();
    let mut running = std::pin::pin!(loops::run(Arc::clone(office), stop));
    let has_guest = prompt.has_guest();
    let mut prompt = std::pin::pin!(prompt.run());
    loop {
        tokio::select! {
            // Check signals first: Ctrl-C may also end a program in the terminal, and is seen before that
            // program's end.
            biased;
            request = signals.next() => match request {
                SignalRequest::Interrupt if has_guest.get() => {}
                SignalRequest::Shutdown | SignalRequest::Interrupt => break,
                SignalRequest::Reload => {}
            },
            ended = &mut running => return ended,
            ended = &mut prompt => {
                ended?;
                break;
            }
        }
    }
    stopper.stop();
    running.await
}

/// Prints the name of the match, and how to play it with a mail program.
fn tell(game_match: &Match, folder: &Path) {
    let folder = folder.display();
    println!(
        "{} is open: {} between you and {}. You have a letter, and answer it here.",
        game_match.id,
        game_match.game.name(),
        game_match.players.second
    );
    println!("Or read and answer with mutt in another terminal, where r answers and y sends:");
    println!();
    println!("    mutt -F '{folder}/muttrc'");
    println!();
    println!("Ctrl-C stops the referee here.");
}

/// Creates the mailboxes, mutt's config, and the program with which mutt sends.
fn write_mail(folder: &Path, address: &str) -> anyhow::Result<()> {
    let own = folder_of(&folder.join("mail"), address);
    for place in [&own, &folder.join("mail/sent")] {
        maildir::create(place)?;
    }
    let fill = |text: &str| {
        text.replace("{folder}", &folder.display().to_string())
            .replace("{address}", address)
            .replace("{own}", &own.display().to_string())
    };
    let send = folder.join("send");
    put(&send, &fill(include_str!("send")))?;
    fs::set_permissions(&send, fs::Permissions::from_mode(0o700))?;
    put(&folder.join("muttrc"), &fill(include_str!("muttrc")))
}
