//! What is selected, for both databases.

/// Columns of a match, in all that reads one.
macro_rules! match_columns {
    () => {
        "SELECT id, game, stage, wake_at, snapshot, version FROM match "
    };
}

/// Columns of a dispatch.
macro_rules! dispatch_columns {
    () => {
        "d.id, d.message_id, d.recipient, d.kind, d.match_id, d.seat, d.created_at, d.due_at, d.sent_at, d.tries, \
         d.error, d.returned_at "
    };
}

/// Columns of an invitation.
macro_rules! invitation_columns {
    () => {
        "SELECT code, inviter, inviter_name, invited, game, offer, stage, match_id, created_at, lapses_at \
         FROM invitation "
    };
}

/// Players, once for each address.
macro_rules! player_columns {
    () => {
        "SELECT p.id, p.name, p.bouncing, a.address FROM player p LEFT JOIN address a ON a.player_id = p.id "
    };
}

/// Seats, once for each address of their players.
macro_rules! seat_columns {
    () => {
        "SELECT s.token, s.match_id, s.seat, p.id, p.name, p.bouncing, a.address FROM seat s \
         JOIN player p ON p.id = s.player_id LEFT JOIN address a ON a.player_id = p.id "
    };
}

/// A letter that waits, with its bytes.
macro_rules! waiting_columns {
    () => {
        "SELECT l.digest, r.bytes, l.received_at, l.tries FROM letter l \
         JOIN letter_raw r ON r.letter_id = l.id \
         WHERE l.fate = 'waiting' AND (l.wait_until IS NULL OR l.wait_until <= $2) "
    };
}

/// A dispatch to be sent, with its bytes.
macro_rules! outgoing_columns {
    () => {
        "SELECT d.id, d.message_id, d.recipient, r.bytes, d.kind, d.match_id, d.tries FROM dispatch d \
         JOIN dispatch_raw r ON r.dispatch_id = d.id WHERE d.due_at <= $2 "
    };
}

pub(super) use {
    dispatch_columns, invitation_columns, match_columns, outgoing_columns, player_columns, seat_columns,
    waiting_columns,
};
