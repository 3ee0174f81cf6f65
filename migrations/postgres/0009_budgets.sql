-- What keeps one letter from causing many others.

-- How much of a budget is used, by hour or by day. The program deletes rows of past days.
CREATE TABLE budget (
    subject TEXT    COLLATE "C" NOT NULL, -- an address, a seat, or empty for the whole club
    kind    TEXT    COLLATE "C" NOT NULL,
    period  BIGINT  NOT NULL, -- when the hour or the day begins
    used    BIGINT  NOT NULL,
    most    BIGINT  NOT NULL, -- the limit when it was last used
    PRIMARY KEY (subject, kind, period)
);

-- What is known of an address, besides the player who has it.
CREATE TABLE standing (
    address         TEXT    COLLATE "C" PRIMARY KEY,
    proven_at       BIGINT, -- when a letter from there showed that its owner reads our letters
    unwilling_since BIGINT, -- since when nobody may challenge it
    blocked_since   BIGINT -- since when the GM lets its letters go unread
);

-- The question to an address whether a letter came from there, and the commands that wait for the answer.
CREATE TABLE question (
    address   TEXT    COLLATE "C" PRIMARY KEY,
    code      TEXT    NOT NULL,
    lines     TEXT    NOT NULL, -- JSON: the commands, as written
    asked_at  BIGINT  NOT NULL,
    lapses_at BIGINT  NOT NULL
);

CREATE INDEX invitation_by_inviter ON invitation (inviter, invited);
