-- Letters with a seat's reply token that were not proven to be its player's. Each waits for the player's word.

CREATE TABLE unproven_letter (
    letter       TEXT    COLLATE "C" PRIMARY KEY REFERENCES letter (digest),
    code         TEXT    NOT NULL, -- of the notice that asks the player
    player_id    BIGINT  NOT NULL,
    address      TEXT    NOT NULL, -- from which the letter claims to be
    match_id     TEXT    NOT NULL,
    seat         TEXT    NOT NULL CHECK (seat IN ('first', 'second')),
    noted_at     BIGINT  NOT NULL,
    told         BOOLEAN NOT NULL, -- whether a notice went out because of this letter
    stage        TEXT    NOT NULL CHECK (stage IN ('open', 'confirmed', 'denied')),
    confirmed_by TEXT -- the digest of the player's answer
);
CREATE INDEX unproven_letter_by_player ON unproven_letter (player_id, noted_at);
