-- Invitations and open seats; letters that are tried again later; dispatches that came back.

-- An offer to play: to one address, or (`invited` empty) to anyone.
CREATE TABLE invitation (
    code            TEXT    PRIMARY KEY NOT NULL,
    inviter         TEXT    NOT NULL, -- an address
    inviter_name    TEXT    NOT NULL,
    invited         TEXT,
    game            TEXT    NOT NULL,
    offer           TEXT    NOT NULL, -- JSON: options, days, seat
    stage           TEXT    NOT NULL CHECK (stage IN ('open', 'taken', 'declined', 'lapsed')),
    match_id        TEXT    REFERENCES match (id),
    created_at      INTEGER NOT NULL,
    lapses_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX invitation_open ON invitation (lapses_at) WHERE stage = 'open';

ALTER TABLE letter ADD COLUMN wait_until INTEGER;

ALTER TABLE dispatch ADD COLUMN returned_at INTEGER;

CREATE INDEX entry_by_kind ON entry (kind, at);
