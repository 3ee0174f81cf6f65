-- Changes of a player's addresses, and the wish to leave: what waits for an answer, and what can still be undone.

CREATE TABLE player_change (
    code       TEXT    COLLATE "C" PRIMARY KEY, -- of the question to the registered address
    other_code TEXT    COLLATE "C" NOT NULL, -- of the letter to the address that the change is about
    player_id  BIGINT  NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('add', 'remove', 'leave')),
    address    TEXT    NOT NULL, -- which is added or removed
    registered TEXT    NOT NULL, -- the address that was asked
    with_token BOOLEAN NOT NULL, -- whether the letter that asked for it had a reply token
    stage      TEXT    NOT NULL CHECK (stage IN ('asked', 'agreed', 'done', 'denied')),
    asked_at   BIGINT  NOT NULL,
    changed_at BIGINT  NOT NULL, -- when it reached its stage
    version    BIGINT  NOT NULL
);
CREATE INDEX player_change_by_player ON player_change (player_id, changed_at);
CREATE UNIQUE INDEX player_change_by_other_code ON player_change (other_code);

-- How many letters in a row had a valid signature of their domain.
ALTER TABLE standing ADD COLUMN signed BIGINT NOT NULL DEFAULT 0;

CREATE INDEX invitation_open_to ON invitation (invited) WHERE stage = 'open';
