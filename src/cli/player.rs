//! `fogpost player`: the club's players, their names and addresses.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::arguments::{ActingGm, address, seat};
use super::instruct::carry_out;
use super::output::{print_json, print_table};
use crate::daemon::Office;
use crate::daemon::audit::forget;
use crate::game::Seat;
use crate::letter::Address;
use crate::referee::{Act, Instruction, MatchAction};
use crate::store::Player;

/// Add players, list, show, rename, merge, block and forget them, and renew their reply tokens
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    gm: ActingGm,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    json: bool,
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
    /// List all players
    List,
    /// Show a player and their matches
    Show {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Rename a player, also in running matches; both sides are told
    Rename {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
        /// The name
        #[arg(required = true)]
        name: Vec<String>,
    },
    /// Merge two players who are one person: the second gets the first one's seats and addresses
    Merge {
        /// Address of the player to merge and remove
        #[arg(value_parser = address)]
        gone: Address,
        /// Address of the player to keep
        #[arg(value_parser = address)]
        into: Address,
    },
    /// Record that mail to the player arrives again
    BounceClear {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Ignore letters from a person; the person is told once
    Block {
        /// An address of the person
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Read letters from a blocked person again
    Unblock {
        /// An address of the person
        #[arg(value_parser = address)]
        address: Address,
    },
    /// Forget a player whose matches are over: delete the addresses, the name, and the bytes of all letters
    /// from and to them
    ///
    /// The ledgers keep the digests of the letters, and stay whole. This cannot be undone.
    Forget {
        /// The player, as shown by `list`: P-12
        #[arg(value_parser = player_number)]
        player: i64,
        /// Confirm that this is meant
        #[arg(long, required = true)]
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
            return super::in_club(config, async |office| forget(office, player, self.json).await);
        }
        super::in_club(config, async |office| match self.command.instruction() {
            Some(instruction) => carry_out(office, &self.gm, &instruction, self.json).await,
            None => list(office, self.json).await,
        })
    }
}

impl Command {
    /// Returns the instruction to carry out, or `None` for a list, which needs none.
    fn instruction(self) -> Option<Instruction> {
        Some(match self {
            Command::Add { address, name } => Instruction::PlayerAdd { address, name: name.join(" ") },
            Command::List | Command::Forget { .. } => return None,
            Command::Show { address } => Instruction::PlayerShow(address),
            Command::Rename { address, name } => Instruction::PlayerRename { address, name: name.join(" ") },
            Command::Merge { gone, into } => Instruction::PlayerMerge { gone, into },
            Command::BounceClear { address } => Instruction::PlayerBounceClear(address),
            Command::Block { address } => Instruction::PlayerBlock { address, on: true },
            Command::Unblock { address } => Instruction::PlayerBlock { address, on: false },
            Command::Token { id, seat } => {
                Instruction::Match { id, turn: None, action: MatchAction::Act(Act::RenewToken(seat)) }
            }
        })
    }
}

/// Parses `P-12`, or the number alone.
fn player_number(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix("P-").or(text.strip_prefix("p-")).unwrap_or(text);
    digits.parse().map_err(|_| "must be a player's number, such as P-12; `player list` shows it".to_owned())
}

async fn forget(office: &Office, player: i64, json: bool) -> anyhow::Result<ExitCode> {
    let matches = forget::forget(office, player).await?;
    if json {
        print_json(&json!({ "forgotten": format!("P-{player}"), "matches": matches }));
    } else {
        println!("P-{player} is forgotten; the letters of {} matches are withheld", matches.len());
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
    if !json {
        print_table(&["", "player", "addresses", ""], rows);
    }
    Ok(ExitCode::SUCCESS)
}
