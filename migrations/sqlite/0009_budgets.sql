-- What keeps one letter from causing many others.

-- How much of a budget is used, by hour or by day. The program deletes rows of past days.
CREATE TABLE budget (
    subject TEXT    NOT NULL, -- an address, a seat, or empty for the whole club
    kind    TEXT    NOT NULL,
    period  INTEGER NOT NULL, -- when the hour or the day begins
    used    INTEGER NOT NULL,
    most    INTEGER NOT NULL, -- the limit when it was last used
    PRIMARY KEY (subject, kind, period)
) STRICT;

-- What is known of an address, besides the player who has it.
CREATE TABLE standing (
    address         TEXT    PRIMARY KEY NOT NULL,
    proven_at       INTEGER, -- when a letter from there showed that its owner reads our letters
    unwilling_since INTEGER, -- since when nobody may challenge it
    blocked_since   INTEGER -- since when the GM lets its letters go unread
) STRICT;

-- The question to an address whether a letter came from there, and the commands that wait for the answer.
CREATE TABLE question (
    address   TEXT    PRIMARY KEY NOT NULL,
    code      TEXT    NOT NULL,
    lines     TEXT    NOT NULL, -- JSON: the commands, as written
    asked_at  INTEGER NOT NULL,
    lapses_at INTEGER NOT NULL
) STRICT;

CREATE INDEX invitation_by_inviter ON invitation (inviter, invited);
