//! Sample letters about changes that players ask for.

use super::{ANN, DAY, MATCH_ID};
use crate::referee::{ChangeReply, Reply};
use crate::report::{ChangeLetter, ClubLetter};

fn address() -> String {
    "maximiliana.featherstonehaugh@mail.players.example".to_owned()
}

fn day() -> String {
    DAY.to_owned()
}

fn many_matches() -> Vec<String> {
    vec![MATCH_ID.to_owned(); 20]
}

pub fn letters() -> Vec<ClubLetter> {
    let code = || "7K3M9P2Q4R".to_owned();
    let name = || ANN.to_owned();
    let letters = vec![
        ChangeLetter::AskAdd { address: address(), code: code(), lapses: day() },
        ChangeLetter::AskRemove { address: address(), code: code(), lapses: day() },
        ChangeLetter::AskLeave { matches: many_matches(), code: code(), lapses: day() },
        ChangeLetter::AskLeave { matches: Vec::new(), code: code(), lapses: day() },
        ChangeLetter::AskNew { code: code(), lapses: day() },
        ChangeLetter::Added { address: address(), code: code(), undo_until: day() },
        ChangeLetter::Removed { code: Some(code()), undo_until: day() },
        ChangeLetter::Removed { code: None, undo_until: day() },
        ChangeLetter::Claimed { address: address() },
        ChangeLetter::Undone { name: name(), address: address(), matches: many_matches() },
        ChangeLetter::Undone { name: name(), address: address(), matches: Vec::new() },
        ChangeLetter::Left { name: name(), matches: many_matches() },
        ChangeLetter::Left { name: name(), matches: Vec::new() },
    ];
    letters.into_iter().map(|letter| ClubLetter::Change { letter }).collect()
}

pub fn replies() -> Vec<Reply> {
    let changes = [
        ChangeReply::Asked { to: address(), lapses: day() },
        ChangeReply::AskedBefore { to: address() },
        ChangeReply::AskedNew { address: address(), lapses: day() },
        ChangeReply::NewAwaited { address: address(), lapses: day() },
        ChangeReply::Added { address: address(), undo_until: day() },
        ChangeReply::Removed { address: address() },
        ChangeReply::Left { matches: many_matches(), kept: Vec::new() },
        ChangeReply::Left { matches: many_matches(), kept: many_matches() },
        ChangeReply::Left { matches: Vec::new(), kept: Vec::new() },
        ChangeReply::Denied,
        ChangeReply::Undone { address: address() },
        ChangeReply::NoPlayer,
        ChangeReply::Own { address: address() },
        ChangeReply::NotOwn { address: address() },
        ChangeReply::Taken { address: address() },
        ChangeReply::Unusable { address: address() },
        ChangeReply::TooManyAddresses { most: 10 },
        ChangeReply::TooManyOpen,
        ChangeReply::NoneLeft { address: address() },
        ChangeReply::TooNew { command: "ADDRESS", until: day() },
        ChangeReply::Crowded { address: address() },
        ChangeReply::LeaveUnconfirmed,
        ChangeReply::AnswerApart,
    ];
    let confirmed = changes.clone().map(|change| Reply::LettersConfirmed {
        address: address(),
        letters: 2,
        change: Some(change),
    });
    changes.map(|change| Reply::Change { change }).into_iter().chain(confirmed).collect()
}
