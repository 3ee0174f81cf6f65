//! `fogpost player`: the club's people.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::matches::{ask, seat};
use crate::daemon::Office;
use crate::game::Seat;
use crate::letter::Address;
use crate::referee::{Act, Instruction, MatchAction};

/// Add players, list, show, rename and merge them, and renew their reply tokens
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// What came of it as JSON, one object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Add a player, so that he is known by this name
    Add {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
        /// The name
        name: Vec<String>,
    },
    /// List all players
    List,
    /// Show a player and his matches
    Show {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Give a player another name, also in the matches that are open; both sides are told
    Rename {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
        /// The name
        #[arg(required = true)]
        name: Vec<String>,
    },
    /// Two players are one: seats and addresses of the first go to the second
    Merge {
        /// An address of the one who is no more
        #[arg(value_parser = address)]
        gone: Address,
        /// An address of the one who stays
        #[arg(value_parser = address)]
        into: Address,
    },
    /// Letters to the player arrive again
    BounceClear {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Give a seat a new reply token; the old one is void
    Token {
        /// Its name, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
    },
}

pub(super) fn address(text: &str) -> Result<Address, String> {
    Address::parse(text).map_err(|_| "name@example.org would do".to_owned())
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command.instruction() {
            Some(instruction) => ask(office, &instruction, self.json).await,
            None => list(office, self.json).await,
        })
    }
}

impl Command {
    /// What is to be carried out; LIST carries out nothing.
    fn instruction(self) -> Option<Instruction> {
        Some(match self {
            Command::Add { address, name } => Instruction::PlayerAdd { address, name: name.join(" ") },
            Command::List => return None,
            Command::Show { address } => Instruction::PlayerShow(address),
            Command::Rename { address, name } => Instruction::PlayerRename { address, name: name.join(" ") },
            Command::Merge { gone, into } => Instruction::PlayerMerge { gone, into },
            Command::BounceClear { address } => Instruction::PlayerBounceClear(address),
            Command::Token { id, seat } => {
                Instruction::Match { id, turn: None, action: MatchAction::Act(Act::RenewToken(seat)) }
            }
        })
    }
}

async fn list(office: &Office, json: bool) -> anyhow::Result<ExitCode> {
    let mut rows = Vec::new();
    for player in office.store.players().await? {
        if json {
            let (name, addresses, bouncing) = (&player.name, &player.addresses, player.bouncing);
            println!("{}", json!({ "name": name, "addresses": addresses, "bouncing": bouncing }));
            continue;
        }
        let bouncing = if player.bouncing { "letters come back" } else { "" };
        rows.push(vec![player.name, player.addresses.join(", "), bouncing.to_owned()]);
    }
    if !json {
        println!("{}", super::table(&["player", "addresses", ""], rows));
    }
    Ok(ExitCode::SUCCESS)
}
