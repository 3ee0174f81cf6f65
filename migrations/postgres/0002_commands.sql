-- Invitations and open seats; letters that are tried again later; dispatches that came back.

-- An offer to play: to one address, or (`invited` empty) to anyone.
CREATE TABLE invitation (
    code            TEXT    PRIMARY KEY,
    inviter         TEXT    NOT NULL, -- an address
    inviter_name    TEXT    NOT NULL,
    invited         TEXT,
    game            TEXT    NOT NULL,
    offer           TEXT    NOT NULL, -- JSON: options, days, seat
    stage           TEXT    NOT NULL CHECK (stage IN ('open', 'taken', 'declined', 'lapsed')),
    match_id        TEXT    REFERENCES match (id),
    created_at      BIGINT  NOT NULL,
    lapses_at       BIGINT  NOT NULL
);
CREATE INDEX invitation_open ON invitation (lapses_at) WHERE stage = 'open';

ALTER TABLE letter ADD COLUMN wait_until BIGINT;

ALTER TABLE dispatch ADD COLUMN returned_at BIGINT;

CREATE INDEX entry_by_kind ON entry (kind, at);
