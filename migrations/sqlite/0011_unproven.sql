-- Letters with a seat's reply token that were not proven to be its player's. Each waits for the player's word.

CREATE TABLE unproven_letter (
    letter       TEXT    PRIMARY KEY NOT NULL REFERENCES letter (digest),
    code         TEXT    NOT NULL, -- of the notice that asks the player
    player_id    INTEGER NOT NULL,
    address      TEXT    NOT NULL, -- from which the letter claims to be
    match_id     TEXT    NOT NULL,
    seat         TEXT    NOT NULL CHECK (seat IN ('first', 'second')),
    noted_at     INTEGER NOT NULL,
    told         INTEGER NOT NULL CHECK (told IN (0, 1)), -- whether a notice went out because of this letter
    stage        TEXT    NOT NULL CHECK (stage IN ('open', 'confirmed', 'denied')),
    confirmed_by TEXT -- the digest of the player's answer
) STRICT;
CREATE INDEX unproven_letter_by_player ON unproven_letter (player_id, noted_at);
