//! Ways to tamper with the database by hand: a description, the statements, and words of the finding.
//!
//! `{id}` stands for the match and `{other}` for another one of the same players; see `tampered` for the other names.

/// Ways to tamper with the ledger's entries.
pub const WITH_ENTRIES: &[(&str, &str, &str)] = &[
    (
        "an order is changed",
        "UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE match_id = '{id}' AND seq = {sealed}",
        "was changed",
    ),
    (
        "a hash is changed",
        "UPDATE entry SET hash = substr(hash, 3) || substr(hash, 1, 2) WHERE match_id = '{id}' AND seq = 3",
        "entry #3",
    ),
    (
        "a time is changed in its column",
        "UPDATE entry SET at = at - 1000 WHERE match_id = '{id}' AND seq = 4",
        "entry #4",
    ),
    (
        "a kind is changed in its column",
        "UPDATE entry SET kind = 'GmNoted' WHERE match_id = '{id}' AND seq = 2",
        "entry #2",
    ),
    (
        "an entry gets another number",
        "UPDATE entry SET seq = seq + 1000 WHERE match_id = '{id}' AND seq = {last}",
        "entry #",
    ),
    (
        "the last entry is deleted",
        "DELETE FROM entry WHERE match_id = '{id}' AND seq = {last}",
        "the snapshot",
    ),
    ("an entry in the middle is deleted", "DELETE FROM entry WHERE match_id = '{id}' AND seq = 4", "entry #"),
    ("the first entry is deleted", "DELETE FROM entry WHERE match_id = '{id}' AND seq = 1", "entry #"),
    ("all entries are deleted", "DELETE FROM entry WHERE match_id = '{id}'", "the snapshot"),
    (
        "an entry is put before the first",
        "INSERT INTO entry SELECT match_id, 0, at, kind, json, hash FROM entry WHERE match_id = '{id}' AND seq = 1",
        "entry #",
    ),
    (
        "an entry of the other match is added",
        "INSERT INTO entry SELECT '{id}', {last} + 1, at, kind, json, hash FROM entry WHERE match_id = '{other}' AND seq = 1",
        "entry #",
    ),
    (
        "two entries change places",
        "UPDATE entry SET seq = 1000 WHERE match_id = '{id}' AND seq = 3; UPDATE entry SET seq = 3 WHERE match_id = '{id}' AND seq = 4; UPDATE entry SET seq = 4 WHERE match_id = '{id}' AND seq = 1000",
        "entry #3",
    ),
    ("an entry is no JSON", "UPDATE entry SET json = '{' WHERE match_id = '{id}' AND seq = 5", "entry #5"),
];

/// Ways to tamper with letters that arrived.
pub const WITH_RECEIVED_LETTERS: &[(&str, &str, &str)] = &[
    (
        "a letter is said to have come earlier",
        "UPDATE letter SET received_at = received_at - 1000 WHERE id = {letter}",
        "another time of arrival",
    ),
    (
        "a letter is said to be ignored",
        "UPDATE letter SET status = 'ignored' WHERE id = {letter}",
        "not stored as ruled on",
    ),
    (
        "a letter's bytes are changed",
        "UPDATE letter_raw SET bytes = x'28b52ffd20021100000d0a' WHERE letter_id = {letter}",
        "letter ",
    ),
    ("a letter's bytes are deleted", "DELETE FROM letter_raw WHERE letter_id = {letter}", "it is missing"),
    (
        "two letters' bytes change places",
        "UPDATE letter_raw SET letter_id = -1 WHERE letter_id = {letter}; UPDATE letter_raw SET letter_id = {letter} WHERE letter_id = {second}; UPDATE letter_raw SET letter_id = {second} WHERE letter_id = -1",
        "its bytes were changed",
    ),
    (
        "a letter is deleted",
        "UPDATE dispatch SET answers = NULL; DELETE FROM letter_raw WHERE letter_id = {letter}; DELETE FROM letter WHERE id = {letter}",
        "it is missing",
    ),
    (
        "a letter has another digest",
        "UPDATE dispatch SET answers = NULL; UPDATE letter SET digest = substr(digest, 3) || substr(digest, 1, 2) WHERE id = {letter}",
        "it is missing",
    ),
    (
        "a letter is added",
        "INSERT INTO letter (digest, received_at, origin, message_id, sender, subject, size, status, lane, match_id, seat) SELECT substr(digest, 3) || substr(digest, 1, 2), received_at, origin, 'x', sender, subject, size, 'ruled', lane, match_id, seat FROM letter WHERE id = {letter}",
        "no entry names it",
    ),
];

/// Ways to tamper with letters that we sent.
pub const WITH_SENT_LETTERS: &[(&str, &str, &str)] = &[
    (
        "its recipient is changed",
        "UPDATE dispatch SET recipient = 'eve@players.example' WHERE id = {report}",
        "recipient other than its own",
    ),
    (
        "its Message-ID is changed",
        "UPDATE dispatch SET message_id = 'x' || message_id WHERE id = {report}",
        "our letter <",
    ),
    (
        "its kind is changed",
        "UPDATE dispatch SET kind = 'notice' WHERE id = {report}",
        "of another kind or to another seat",
    ),
    (
        "its seat is changed",
        "UPDATE dispatch SET seat = CASE seat WHEN 'first' THEN 'second' ELSE 'first' END WHERE id = {report}",
        "our letter <",
    ),
    (
        "it is deleted",
        "DELETE FROM dispatch_picture WHERE dispatch_id = {report}; DELETE FROM dispatch_raw WHERE dispatch_id = {report}; DELETE FROM dispatch WHERE id = {report}",
        "it is missing",
    ),
    ("it is of no match", "UPDATE dispatch SET match_id = NULL WHERE id = {report}", "it is missing"),
    (
        "it is of the other match",
        "UPDATE dispatch SET match_id = '{other}' WHERE id = {report}",
        "it is missing",
    ),
    (
        "one is added",
        "INSERT INTO dispatch (message_id, recipient, kind, match_id, seat, created_at, sent_at, urgency) SELECT 'x' || message_id, recipient, kind, match_id, seat, created_at, sent_at, urgency FROM dispatch WHERE id = {report}; INSERT INTO dispatch_raw (dispatch_id, bytes) SELECT MAX(id), x'28b52ffd2000010000' FROM dispatch",
        "our letter <x",
    ),
    (
        "its text is changed",
        "UPDATE dispatch_raw SET bytes = x'28b52ffd20021100000d0a' WHERE dispatch_id = {report}",
        "a picture has no place in its letter",
    ),
    ("its bytes are deleted", "DELETE FROM dispatch_raw WHERE dispatch_id = {report}", "it is missing"),
    (
        "two letters' bytes change places",
        "UPDATE dispatch_raw SET dispatch_id = -1 WHERE dispatch_id = {report}; UPDATE dispatch_raw SET dispatch_id = {report} WHERE dispatch_id = {next}; UPDATE dispatch_raw SET dispatch_id = {next} WHERE dispatch_id = -1",
        "our letter <",
    ),
    (
        "its picture is changed",
        "UPDATE dispatch_picture SET picture = x'00' WHERE dispatch_id = {report}",
        "our letter <",
    ),
    ("its picture is deleted", "DELETE FROM dispatch_picture WHERE dispatch_id = {report}", "our letter <"),
    (
        "it cannot be unpacked",
        "UPDATE dispatch_raw SET bytes = x'ffffffff' WHERE dispatch_id = {report}",
        "the database",
    ),
    (
        "its picture is said to have been another one",
        "DELETE FROM dispatch_picture WHERE dispatch_id = {report}; UPDATE dispatch SET dropped_at = 0, dropped = (SELECT hash FROM entry LIMIT 1) WHERE id = {report}",
        "our letter <",
    ),
    (
        "it is not stored as delivered",
        "UPDATE dispatch SET sent_at = NULL WHERE id = {report}",
        "not stored as sent",
    ),
    (
        "it is said to have been delivered earlier",
        "UPDATE dispatch SET sent_at = sent_at - 60000 WHERE id = {report}",
        "not stored as sent",
    ),
];

/// Ways to tamper with the holders of seats.
pub const WITH_SEATS: &[(&str, &str, &str)] = &[
    (
        "a seat is given to the other player",
        "UPDATE seat SET player_id = (SELECT player_id FROM seat WHERE match_id = '{id}' AND seat = 'second') WHERE match_id = '{id}' AND seat = 'first'",
        "is not as the ledger pins it",
    ),
    (
        "a player gets another address",
        "INSERT INTO address SELECT 'eve@elsewhere.example', player_id, 7 FROM seat WHERE match_id = '{id}' AND seat = 'first'",
        "is not as the ledger pins it",
    ),
    (
        "a player's address is changed",
        "UPDATE address SET address = 'eve@elsewhere.example' WHERE address = 'ann@players.example'",
        "is not as the ledger pins it",
    ),
    (
        "a seat has another token",
        "UPDATE seat SET token = 'x' || token WHERE match_id = '{id}' AND seat = 'first'",
        "the token of the first seat",
    ),
    (
        "a pinned address is changed",
        "UPDATE seat_pin SET value = 'eve@elsewhere.example' WHERE match_id = '{id}' AND kind = 'address' AND seat = 'first'",
        "was changed",
    ),
    (
        "what opens a pin is deleted",
        "DELETE FROM seat_pin WHERE match_id = '{id}' AND kind = 'token' AND seat = 'second'",
        "is not kept",
    ),
    (
        "a player is said to be forgotten",
        "UPDATE match SET forgotten = 'P-9' WHERE id = '{id}'",
        "P-9 is stored as forgotten here, but the ledger does not record that",
    ),
];
