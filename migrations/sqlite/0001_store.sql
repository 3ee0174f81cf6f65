-- What fogpost keeps. Instants are Unix milliseconds, digests are 64 hexadecimal digits. The same tables and
-- columns are in migrations/postgres.

PRAGMA application_id = 1718577008; -- 'fogp': tells a database of ours from anybody else's

CREATE TABLE player (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    bouncing   INTEGER NOT NULL DEFAULT 0 CHECK (bouncing IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE address (
    address   TEXT    PRIMARY KEY NOT NULL,
    player_id INTEGER NOT NULL REFERENCES player (id),
    rank      INTEGER NOT NULL,
    UNIQUE (player_id, rank)
) STRICT;

CREATE TABLE match (
    id       TEXT    PRIMARY KEY NOT NULL,
    game     TEXT    NOT NULL,
    stage    TEXT    NOT NULL,
    wake_at  INTEGER,
    snapshot TEXT    NOT NULL,
    version  INTEGER NOT NULL CHECK (version > 0)
) STRICT;
CREATE INDEX match_by_wake ON match (wake_at, id) WHERE wake_at IS NOT NULL;
CREATE INDEX match_by_stage ON match (stage, id);

CREATE TABLE seat (
    match_id  TEXT    NOT NULL REFERENCES match (id),
    seat      TEXT    NOT NULL CHECK (seat IN ('first', 'second')),
    player_id INTEGER NOT NULL REFERENCES player (id),
    token     TEXT    NOT NULL UNIQUE,
    PRIMARY KEY (match_id, seat)
) STRICT;
CREATE INDEX seat_by_player ON seat (player_id);

-- A letter as it arrived, and what became of it. Its bytes stand apart, so that deciding it does not move them.
CREATE TABLE letter (
    id          INTEGER PRIMARY KEY,
    digest      TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    received_at INTEGER NOT NULL,
    whence      TEXT    NOT NULL,
    message_id  TEXT    NOT NULL,
    sender      TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    size        INTEGER NOT NULL,
    sent_as     TEXT, -- the digest of sender and Message-ID, of one length whatever a stranger writes there
    fate        TEXT    NOT NULL CHECK (fate IN
                    ('waiting', 'ruled', 'answered', 'automatic', 'repeated', 'ignored', 'set_aside')),
    note        TEXT    NOT NULL DEFAULT '',
    match_id    TEXT    REFERENCES match (id),
    seat        TEXT    CHECK (seat IN ('first', 'second')),
    tries       INTEGER NOT NULL DEFAULT 0,
    decided_at  INTEGER
) STRICT;
CREATE INDEX letter_by_time ON letter (received_at);
CREATE INDEX letter_by_fate ON letter (fate, received_at);
CREATE INDEX letter_by_match ON letter (match_id, received_at) WHERE match_id IS NOT NULL;
CREATE INDEX letter_by_sent_as ON letter (sent_as) WHERE sent_as IS NOT NULL;

CREATE TABLE letter_raw (
    letter_id INTEGER PRIMARY KEY REFERENCES letter (id),
    bytes     BLOB    NOT NULL
) STRICT;

CREATE TABLE entry (
    match_id TEXT    NOT NULL REFERENCES match (id),
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    json     TEXT    NOT NULL,
    hash     TEXT    NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (match_id, seq)
) STRICT;

-- The outbox. `due_at` is when it is to be tried (next), or when the lease of the one who tries it ends; it is
-- empty once the dispatch is sent (`sent_at`) or given up (neither).
CREATE TABLE dispatch (
    id         INTEGER PRIMARY KEY,
    message_id TEXT    NOT NULL UNIQUE,
    recipient  TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    match_id   TEXT    REFERENCES match (id),
    seat       TEXT    CHECK (seat IN ('first', 'second')),
    answers    TEXT    REFERENCES letter (digest),
    created_at INTEGER NOT NULL,
    due_at     INTEGER,
    leased     INTEGER NOT NULL DEFAULT 0 CHECK (leased IN (0, 1)),
    sent_at    INTEGER,
    tries      INTEGER NOT NULL DEFAULT 0,
    error      TEXT    NOT NULL DEFAULT '',
    CHECK (due_at IS NULL OR sent_at IS NULL)
) STRICT;
CREATE INDEX dispatch_due ON dispatch (due_at, created_at) WHERE due_at IS NOT NULL;
CREATE INDEX dispatch_unsent ON dispatch (id) WHERE sent_at IS NULL;
CREATE INDEX dispatch_by_match ON dispatch (match_id) WHERE match_id IS NOT NULL;
CREATE INDEX dispatch_by_recipient ON dispatch (recipient, created_at) WHERE answers IS NOT NULL;

CREATE TABLE dispatch_raw (
    dispatch_id INTEGER PRIMARY KEY REFERENCES dispatch (id),
    bytes       BLOB    NOT NULL
) STRICT;

CREATE TABLE memo (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- History stands: neither ledger nor letters nor what was sent is changed or deleted.

CREATE TRIGGER entry_follows BEFORE INSERT ON entry
WHEN NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM entry WHERE match_id = NEW.match_id)
BEGIN SELECT RAISE(ABORT, 'the entries of a match follow one another without gaps'); END;

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;

CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_raw_is_not_deleted BEFORE DELETE ON letter_raw
BEGIN SELECT RAISE(ABORT, 'a letter is never deleted'); END;

CREATE TRIGGER letter_is_not_changed
BEFORE UPDATE OF id, digest, received_at, whence, message_id, sender, subject, size, sent_as ON letter
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_is_not_deleted BEFORE DELETE ON letter
BEGIN SELECT RAISE(ABORT, 'a letter is never deleted'); END;

CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_raw_is_not_deleted BEFORE DELETE ON dispatch_raw
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
