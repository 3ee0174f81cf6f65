//! `fogpost player`: the club's players, their names and addresses.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::arguments::{ActingGm, Output, address, seat};
use super::instruct::carry_out;
use super::output::{print_json, print_table};
use crate::daemon::audit::forget;
use crate::daemon::{APPLICANT, Applicant, Office};
use crate::game::Seat;
use crate::letter::Address;
use crate::referee::{Act, Instruction, MatchAction};
use crate::report::count_of;
use crate::store::Player;

/// Add players, list, show, rename, merge, block and forget them, and renew their reply tokens
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    gm: ActingGm,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Add a player under this name
    Add {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
        /// The name
        name: Vec<String>,
    },
    /// Decline somebody who waits to be admitted; they are told
    Decline {
        /// The address of the person, as the digest and `list` show it
        #[arg(value_parser = address)]
        address: Address,
        /// A word for them
        words: Vec<String>,
    },
    /// List all players, and who waits to be admitted
    List,
    /// Show a player and their matches
    Show {
        /// An address of the player, or the number that `list` shows: P-12
        #[arg(value_parser = player)]
        player: PlayerArgument,
    },
    /// Rename a player, in running matches too; both sides are told
    Rename {
        /// An address of the player, or the number
        #[arg(value_parser = player)]
        player: PlayerArgument,
        /// The name
        #[arg(required = true)]
        name: Vec<String>,
    },
    /// Merge two players who are one person: the second gets the first one's seats and addresses
    Merge {
        /// Address or number of the player to merge and remove
        #[arg(value_parser = player)]
        gone: PlayerArgument,
        /// Address or number of the player to keep
        #[arg(value_parser = player)]
        into: PlayerArgument,
    },
    /// Record that mail to the player arrives again
    BounceClear {
        /// An address of the player, or the number
        #[arg(value_parser = player)]
        player: PlayerArgument,
    },
    /// Ignore letters from a person; the person is told once
    Block {
        /// An address of the person, or a player's number
        #[arg(value_parser = player)]
        player: PlayerArgument,
    },
    /// Read letters from a blocked person again
    Unblock {
        /// An address of the person, or a player's number
        #[arg(value_parser = player)]
        player: PlayerArgument,
    },
    /// Forget a player whose matches are over: delete the addresses, the name, and the bytes of all letters
    /// from and to them
    ///
    /// The ledgers keep the digests of the letters, and stay whole. This cannot be undone.
    Forget {
        /// The player, as shown by `list`: P-12
        #[arg(value_parser = player_number)]
        player: i64,
        /// Confirm the deletion
        #[arg(long, required_unless_present = "check")]
        yes: bool,
    },
    /// Give a seat a new reply token, which voids the old one
    Token {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
    },
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        if let Command::Forget { player, .. } = self.command {
            return super::in_club(config, async |office| forget(office, player, self.output).await);
        }
        super::in_club(config, async |office| match self.command.instruction(office).await? {
            Some(instruction) => carry_out(office, &self.gm, &instruction, self.output).await,
            None => list(office, self.output.json).await,
        })
    }
}

/// A player, by an address or by the number.
#[derive(Clone, Debug)]
enum PlayerArgument {
    Address(Address),
    Number(i64),
}

impl PlayerArgument {
    /// Returns an address of the player.
    async fn address(self, office: &Office) -> anyhow::Result<Address> {
        let number = match self {
            PlayerArgument::Address(address) => return Ok(address),
            PlayerArgument::Number(number) => number,
        };
        let players = office.store.players().await?;
        let Some(player) = players.into_iter().find(|player| player.id == number) else {
            bail!("there is no player P-{number}; `fogpost player list` shows all");
        };
        // The house has a name in place of an address, and a forgotten player has no address.
        let address = player.addresses.first().and_then(|address| Address::parse(address).ok());
        address.with_context(|| format!("P-{number} is {}, who has no mail address", player.name))
    }
}

impl Command {
    /// Returns the instruction to carry out, or `None` if the command is not an instruction.
    async fn instruction(self, office: &Office) -> anyhow::Result<Option<Instruction>> {
        Ok(Some(match self {
            Command::Add { address, name } => Instruction::PlayerAdd { address, name: name.join(" ") },
            Command::Decline { address, words } => {
                Instruction::PlayerDecline { address, words: words.join(" ") }
            }
            Command::List | Command::Forget { .. } => return Ok(None),
            Command::Show { player } => Instruction::PlayerShow(player.address(office).await?),
            Command::Rename { player, name } => {
                Instruction::PlayerRename { address: player.address(office).await?, name: name.join(" ") }
            }
            Command::Merge { gone, into } => Instruction::PlayerMerge {
                gone: gone.address(office).await?,
                into: into.address(office).await?,
            },
            Command::BounceClear { player } => Instruction::PlayerBounceClear(player.address(office).await?),
            Command::Block { player } => {
                Instruction::PlayerBlock { address: player.address(office).await?, on: true }
            }
            Command::Unblock { player } => {
                Instruction::PlayerBlock { address: player.address(office).await?, on: false }
            }
            Command::Token { id, seat } => {
                Instruction::Match { id, turn: None, action: MatchAction::Act(Act::RenewToken(seat)) }
            }
        }))
    }
}

/// Parses an address, or a number such as `P-12`.
fn player(text: &str) -> Result<PlayerArgument, String> {
    match player_number(text) {
        Ok(number) => Ok(PlayerArgument::Number(number)),
        Err(_) => address(text)
            .map(PlayerArgument::Address)
            .map_err(|_| "try name@example.org, or a number such as P-12".to_owned()),
    }
}

/// Parses `P-12`, or the number alone.
fn player_number(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix("P-").or(text.strip_prefix("p-")).unwrap_or(text);
    digits.parse().map_err(|_| "must be a player's number, such as P-12; `player list` shows it".to_owned())
}

async fn forget(office: &Office, player: i64, output: Output) -> anyhow::Result<ExitCode> {
    let matches = match output.check {
        true => forget::matches_of_forgotten(office, player).await?,
        false => forget::forget(office, player).await?,
    };
    let letters = count_of(matches.len(), "match", "matches");
    if output.json {
        let done = if output.check { "would_forget" } else { "forgotten" };
        print_json(&json!({ done: format!("P-{player}"), "matches": matches }));
    } else if output.check {
        println!("P-{player} would be forgotten, and the letters of {letters} withheld; nothing was done");
    } else {
        println!("P-{player} is forgotten; the letters of {letters} are withheld");
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(office: &Office, json: bool) -> anyhow::Result<ExitCode> {
    let mut rows = Vec::new();
    for player in office.store.players().await? {
        if json {
            let Player { id, name, addresses, bouncing, .. } = &player;
            let number = format!("P-{id}");
            print_json(
                &json!({ "player": number, "name": name, "addresses": addresses, "bouncing": bouncing }),
            );
            continue;
        }
        let bouncing = if player.bouncing { "mail bounces" } else { "" };
        let number = format!("P-{}", player.id);
        rows.push(vec![number, player.name, player.addresses.join(", "), bouncing.to_owned()]);
    }
    for Applicant { address, name, lines, since } in
        Applicant::read_all(&office.store.remembered_under(APPLICANT).await?)
    {
        if json {
            print_json(&json!({ "applicant": name, "address": address, "wrote": lines, "since": since }));
        } else {
            rows.push(vec!["".to_owned(), name, address, "waits to be admitted".to_owned()]);
        }
    }
    if !json {
        print_table(&["", "player", "addresses", ""], rows);
    }
    Ok(ExitCode::SUCCESS)
}
