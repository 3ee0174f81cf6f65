//! `fogpost player`: the club's players, their names and addresses.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use super::arguments::{ActingGm, Output, SeatArgument, address, person, seat, whom};
use super::instruct::carry_out;
use super::output::{print_json, print_table};
use crate::daemon::audit::forget;
use crate::daemon::{APPLICANT, Applicant, Office};
use crate::letter::Address;
use crate::referee::{Act, Instruction, MatchAction, PlayerAct};
use crate::report::count_of;
use crate::request::Whom;
use crate::store::Player;

/// The mark of a blocked person in the list.
const UNREAD: &str = "letters go unread";

/// Add players, list, show, rename, merge, block and forget them, change their addresses, and renew their reply tokens
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
    /// Add a player under this name, or admit somebody who waits to be admitted
    Add {
        /// An address of the player
        #[arg(value_parser = address)]
        address: Address,
        /// The name; without one, that of the letter or of the mailbox
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
    /// List all players, who waits to be admitted, and who is blocked
    List,
    /// Show a player and their matches
    Show {
        /// Name, a part of it, number or address
        #[arg(value_parser = whom)]
        player: Whom,
    },
    /// Rename a player, in running matches too; both sides are told
    Rename {
        /// Name, a part of it, number or address
        #[arg(value_parser = whom)]
        player: Whom,
        /// The name
        #[arg(required = true)]
        name: Vec<String>,
    },
    /// Merge two players who are one person: the second gets the first one's seats and addresses
    Merge {
        /// The player to merge and remove: name, a part of it, number or address
        #[arg(value_parser = whom)]
        gone: Whom,
        /// The player to keep, likewise
        #[arg(value_parser = whom)]
        into: Whom,
    },
    /// Write to a player at this address from now on; the older ones stay, unless removed with --remove
    Address {
        /// Name, a part of it, number or address
        #[arg(value_parser = whom)]
        player: Whom,
        /// The new address, or with --remove the one to remove
        #[arg(value_parser = address)]
        address: Address,
        /// Remove this address
        #[arg(long)]
        remove: bool,
    },
    /// Record that mail to the player arrives again
    BounceClear {
        /// Name, a part of it, number or address
        #[arg(value_parser = whom)]
        player: Whom,
    },
    /// Ignore letters from a person; the person is told once
    Block {
        /// An address of the person, or a player's name, a part of it or number
        #[arg(value_parser = whom)]
        player: Whom,
    },
    /// Read letters from a blocked person again
    Unblock {
        /// An address of the person, or a player's name, a part of it or number
        #[arg(value_parser = whom)]
        player: Whom,
    },
    /// Forget a player whose matches are over: delete the addresses, the name, and the bytes of all letters
    /// from and to them
    ///
    /// The ledgers keep the digests of the letters, and stay whole. This cannot be undone.
    Forget {
        /// Name, a part of it, number or address
        #[arg(value_parser = whom)]
        player: Whom,
        /// Confirm the deletion
        #[arg(long, required_unless_present = "check")]
        yes: bool,
    },
    /// Give a seat a new reply token, which voids the old one
    Token {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second, or the player who sits there
        #[arg(value_parser = seat)]
        seat: SeatArgument,
    },
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| {
            if let Command::Forget { player, .. } = &self.command {
                let people = office.store.players().await?;
                let player = person(player, &people).map_err(anyhow::Error::msg)?.id;
                return forget(office, player, self.output).await;
            }
            if let Command::Token { id, seat } = &self.command {
                let action = MatchAction::Act(Act::RenewToken(seat.seat(office, id).await?));
                let instruction = Instruction::Match { id: id.clone(), turn: None, action };
                return carry_out(office, &self.gm, &instruction, self.output).await;
            }
            match self.command.instruction() {
                Some(instruction) => carry_out(office, &self.gm, &instruction, self.output).await,
                None => list(office, self.output.json).await,
            }
        })
    }
}

impl Command {
    /// Returns the instruction to carry out, or `None` if the command is not an instruction.
    fn instruction(self) -> Option<Instruction> {
        let (whom, act) = match self {
            Command::Add { address, name } => {
                return Some(Instruction::PlayerAdd { address, name: name.join(" ") });
            }
            Command::Decline { address, words } => {
                return Some(Instruction::PlayerDecline { address, words: words.join(" ") });
            }
            Command::List | Command::Forget { .. } | Command::Token { .. } => return None,
            Command::Show { player } => (player, PlayerAct::Show),
            Command::Rename { player, name } => (player, PlayerAct::Rename(name.join(" "))),
            Command::Merge { gone, into } => (gone, PlayerAct::MergeInto(into)),
            Command::Address { player, address, remove } => (
                player,
                if remove { PlayerAct::RemoveAddress(address) } else { PlayerAct::AddAddress(address) },
            ),
            Command::BounceClear { player } => (player, PlayerAct::BounceClear),
            Command::Block { player } => (player, PlayerAct::Block),
            Command::Unblock { player } => (player, PlayerAct::Unblock),
        };
        Some(Instruction::Player { whom, act })
    }
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
    let mut blocked = office.store.blocked_addresses().await?;
    for player in office.store.players().await? {
        let is_blocked = player.addresses.iter().any(|own| blocked.contains(own));
        blocked.retain(|address| !player.addresses.contains(address));
        if json {
            let Player { id, name, addresses, bouncing, .. } = &player;
            let number = format!("P-{id}");
            print_json(&json!({
                "player": number, "name": name, "addresses": addresses, "bouncing": bouncing, "blocked": is_blocked,
            }));
            continue;
        }
        let marks = [(player.bouncing, "mail bounces"), (is_blocked, UNREAD)];
        let marks: Vec<&str> = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| mark).collect();
        let number = format!("P-{}", player.id);
        rows.push(vec![number, player.name, player.addresses.join(", "), marks.join(", ")]);
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
    for address in blocked {
        if json {
            print_json(&json!({ "player": null, "addresses": [address], "blocked": true }));
        } else {
            rows.push(vec!["".to_owned(), "(no player)".to_owned(), address, UNREAD.to_owned()]);
        }
    }
    if !json {
        print_table(&["number", "player", "addresses", ""], rows);
    }
    Ok(ExitCode::SUCCESS)
}
