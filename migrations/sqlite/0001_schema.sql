-- Everything that fogpost stores. Instants are Unix milliseconds, digests 64 hexadecimal digits. The PostgreSQL
-- migration creates the same tables and columns.

PRAGMA application_id = 1718577008; -- 'fogp': marks the file as a fogpost database

-- People

CREATE TABLE player (
    id           INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL,
    bouncing     INTEGER NOT NULL DEFAULT 0 CHECK (bouncing IN (0, 1)),
    created_at   INTEGER NOT NULL,
    settings     TEXT    NOT NULL DEFAULT '{}', -- JSON
    member       TEXT    NOT NULL DEFAULT '{}', -- JSON: what the club knows of them, and their wishes
    digest_at    INTEGER, -- when the next daily digest is due: 0 until it is scheduled, NULL for no digest
    forgotten_at INTEGER
) STRICT;
CREATE INDEX player_by_digest ON player (digest_at) WHERE digest_at IS NOT NULL;

CREATE TABLE address (
    address   TEXT    PRIMARY KEY NOT NULL,
    player_id INTEGER NOT NULL REFERENCES player (id),
    rank      INTEGER NOT NULL,
    UNIQUE (player_id, rank)
) STRICT;

-- What is known of an address, whether or not a player has it.
CREATE TABLE standing (
    address         TEXT    PRIMARY KEY NOT NULL,
    proven_at       INTEGER, -- when a letter from it first showed that its owner reads our letters
    unwilling_since INTEGER, -- nobody may challenge it since then
    blocked_since   INTEGER, -- the GM lets its letters go unread since then
    signed          INTEGER NOT NULL DEFAULT 0 -- letters in a row with a valid signature of their domain
) STRICT;

-- Asks an address whether some commands came from it. They wait for the answer.
CREATE TABLE question (
    address   TEXT    NOT NULL,
    code      TEXT    NOT NULL,
    lines     TEXT    NOT NULL, -- JSON: the commands, as written
    asked_at  INTEGER, -- NULL until a letter has asked
    lapses_at INTEGER NOT NULL,
    PRIMARY KEY (address, code)
) STRICT;

-- A change of a player's addresses, or the wish to leave: it waits for an answer, or can still be undone.
CREATE TABLE player_change (
    code       TEXT    PRIMARY KEY NOT NULL, -- of the question to the registered address
    other_code TEXT    NOT NULL, -- of the letter to the address that the change is about
    player_id  INTEGER NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('add', 'remove', 'leave')),
    address    TEXT    NOT NULL, -- to add or remove
    registered TEXT    NOT NULL, -- the address that was asked
    with_token INTEGER NOT NULL CHECK (with_token IN (0, 1)), -- whether the letter that asked for it had a reply token
    stage      TEXT    NOT NULL CHECK (stage IN ('asked', 'agreed', 'done', 'denied')),
    asked_at   INTEGER NOT NULL,
    changed_at INTEGER NOT NULL, -- when it reached its stage
    version    INTEGER NOT NULL,
    matches    TEXT    NOT NULL DEFAULT '[]' -- JSON: the running matches that the question listed; only these are resigned
) STRICT;
CREATE INDEX player_change_by_player ON player_change (player_id, changed_at);
CREATE UNIQUE INDEX player_change_by_other_code ON player_change (other_code);

-- Matches

-- The columns before `snapshot` are what lists show. `snapshot` is last, because SQLite reads through a long column to
-- reach the columns behind it.
CREATE TABLE match (
    id           TEXT    PRIMARY KEY NOT NULL,
    game         TEXT    NOT NULL,
    stage        TEXT    NOT NULL,
    wake_at      INTEGER,
    version      INTEGER NOT NULL CHECK (version > 0),
    first_name   TEXT    NOT NULL,
    second_name  TEXT    NOT NULL,
    first_house  TEXT, -- the level at which the house plays
    second_house TEXT,
    zone         TEXT    NOT NULL, -- IANA name
    options      TEXT    NOT NULL, -- JSON
    turn         INTEGER, -- NULL once the match is over
    phase        TEXT,
    owing        TEXT    NOT NULL, -- the seats that owe orders for the phase
    awaited      TEXT    NOT NULL, -- the owing seats that have not filed
    deadline     INTEGER,
    ended_at     INTEGER,
    winner       TEXT    CHECK (winner IN ('first', 'second')),
    reason       TEXT, -- why the match ended
    event        TEXT,
    marks        TEXT    NOT NULL, -- what the GM should look at
    head_seq     INTEGER NOT NULL, -- the last entry of the ledger
    head_hash    TEXT    NOT NULL,
    forgotten    TEXT, -- who was forgotten: P-12
    snapshot     TEXT    NOT NULL
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

-- Each reply token and address that the ledger of a match pins, with the key that opens the pin.
CREATE TABLE seat_pin (
    pin      TEXT    PRIMARY KEY NOT NULL CHECK (length(pin) = 64), -- HMAC-SHA-256 of the value, as an entry names it
    match_id TEXT    NOT NULL REFERENCES match (id),
    seat     TEXT    NOT NULL CHECK (seat IN ('first', 'second')),
    kind     TEXT    NOT NULL CHECK (kind IN ('address', 'token')),
    key      TEXT, -- 32 hexadecimal digits; NULL, like the value, once the player is forgotten
    value    TEXT
) STRICT;
CREATE INDEX seat_pin_by_match ON seat_pin (match_id);

CREATE TABLE entry (
    match_id TEXT    NOT NULL REFERENCES match (id),
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    json     TEXT    NOT NULL,
    hash     TEXT    NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (match_id, seq)
) STRICT;
CREATE INDEX entry_by_kind ON entry (kind, at);

-- A turn that a player owed to another person: whether the filing came in time. It follows from the ledger.
CREATE TABLE owed_turn (
    match_id  TEXT    NOT NULL REFERENCES match (id),
    seq       INTEGER NOT NULL, -- the entry that closed it
    seat      TEXT    NOT NULL CHECK (seat IN ('first', 'second')),
    player_id INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    in_time   INTEGER NOT NULL CHECK (in_time IN (0, 1)),
    PRIMARY KEY (match_id, seq, seat)
) STRICT;
CREATE INDEX owed_turn_by_player ON owed_turn (player_id, at);

-- The rating of a player after a rated result. It follows from the ledgers.
CREATE TABLE rating (
    player_id  INTEGER NOT NULL,
    game       TEXT    NOT NULL,
    no         INTEGER NOT NULL CHECK (no > 0), -- the number of the result among the player's, so that none is rated twice
    match_id   TEXT    NOT NULL REFERENCES match (id),
    at         INTEGER NOT NULL,
    figure     INTEGER NOT NULL, -- hundredths, like the deviation
    deviation  INTEGER NOT NULL,
    volatility INTEGER NOT NULL, -- millionths
    before     TEXT    NOT NULL, -- JSON: the rating before
    PRIMARY KEY (player_id, game, no),
    UNIQUE (player_id, game, match_id)
) STRICT;

-- Players who were merged into others. First entries of ledgers name players by number.
CREATE TABLE merged_player (
    gone INTEGER PRIMARY KEY,
    into_id INTEGER NOT NULL
) STRICT;

-- Events

CREATE TABLE event (
    id      TEXT    PRIMARY KEY NOT NULL,
    name    TEXT    NOT NULL,
    game    TEXT    NOT NULL,
    stage   TEXT    NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    wake_at INTEGER, -- when something is due, apart from results
    told    TEXT    NOT NULL -- JSON: what players and GMs were told that the book does not hold
) STRICT;
CREATE INDEX event_by_wake ON event (wake_at) WHERE wake_at IS NOT NULL;

-- The book of an event: one chain for all its seasons.
CREATE TABLE book_entry (
    event_id TEXT    NOT NULL REFERENCES event (id),
    seq      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    json     TEXT    NOT NULL,
    hash     TEXT    NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (event_id, seq)
) STRICT;

-- The matches of an event. They follow from the book, and make sure that each pair plays each game once.
CREATE TABLE event_match (
    match_id      TEXT    PRIMARY KEY NOT NULL REFERENCES match (id),
    event_id      TEXT    NOT NULL REFERENCES event (id),
    season        INTEGER NOT NULL,
    first_player  INTEGER NOT NULL,
    second_player INTEGER NOT NULL,
    is_open       INTEGER NOT NULL CHECK (is_open IN (0, 1)), -- its season is not closed
    seen          TEXT, -- the hash of the end that the event has looked at
    UNIQUE (event_id, season, first_player, second_player)
) STRICT;
CREATE INDEX event_match_open ON event_match (is_open, event_id, match_id);

-- The results that events have entered, so that no end of a match counts twice.
CREATE TABLE event_result (
    match_id TEXT NOT NULL REFERENCES match (id),
    end_hash TEXT NOT NULL,
    PRIMARY KEY (match_id, end_hash)
) STRICT;

-- Offers and limits

-- An offer to play: to one address, or to anyone if `invited` is NULL.
CREATE TABLE invitation (
    code         TEXT    PRIMARY KEY NOT NULL,
    inviter      TEXT    NOT NULL, -- an address
    inviter_name TEXT    NOT NULL,
    invited      TEXT,
    game         TEXT    NOT NULL,
    offer        TEXT    NOT NULL, -- JSON
    stage        TEXT    NOT NULL CHECK (stage IN ('open', 'taken', 'declined', 'lapsed')),
    match_id     TEXT    REFERENCES match (id),
    created_at   INTEGER NOT NULL,
    lapses_at    INTEGER NOT NULL,
    invited_name TEXT, -- how the invited player was named; NULL for an address
    rematch_of   TEXT, -- the match that a REMATCH follows
    taken_from   TEXT, -- the code of the standing offer that this seat was taken from
    taken        INTEGER NOT NULL DEFAULT 0 -- how often a standing offer was taken
) STRICT;
CREATE INDEX invitation_open ON invitation (lapses_at) WHERE stage = 'open';
CREATE INDEX invitation_by_inviter ON invitation (inviter, invited);
CREATE INDEX invitation_open_to ON invitation (invited) WHERE stage = 'open';
CREATE INDEX invitation_taken_from ON invitation (taken_from) WHERE taken_from IS NOT NULL;
-- One match at most follows another by REMATCH.
CREATE UNIQUE INDEX invitation_rematch ON invitation (rematch_of)
WHERE rematch_of IS NOT NULL AND stage IN ('open', 'taken');

-- How much of a budget is used, by hour or by day. The program deletes rows of past days.
CREATE TABLE budget (
    subject TEXT    NOT NULL, -- an address, a seat, a digest of what is said, or empty for the whole club
    kind    TEXT    NOT NULL,
    period  INTEGER NOT NULL, -- when the hour or the day begins
    used    INTEGER NOT NULL,
    most    INTEGER NOT NULL, -- the limit when it was last used
    PRIMARY KEY (subject, kind, period)
) STRICT;

-- Letters

-- A letter as it arrived, and its status. Its bytes are in another table, so that deciding it does not move them.
CREATE TABLE letter (
    id               INTEGER PRIMARY KEY,
    digest           TEXT    NOT NULL UNIQUE CHECK (length(digest) = 64),
    received_at      INTEGER NOT NULL,
    origin           TEXT    NOT NULL,
    message_id       TEXT    NOT NULL,
    sender           TEXT    NOT NULL,
    subject          TEXT    NOT NULL,
    size             INTEGER NOT NULL,
    sent_as          TEXT, -- the digest of sender and Message-ID, whose length no stranger determines
    status           TEXT    NOT NULL CHECK (status IN
                         ('waiting', 'ruled', 'answered', 'automatic', 'repeated', 'ignored', 'set_aside')),
    note             TEXT    NOT NULL DEFAULT '',
    match_id         TEXT    REFERENCES match (id),
    seat             TEXT    CHECK (seat IN ('first', 'second')),
    tries            INTEGER NOT NULL DEFAULT 0,
    decided_at       INTEGER,
    wait_until       INTEGER,
    lane             TEXT    NOT NULL, -- its letters stay in order: a match, else the sender, or all GMs
    in_ledger        INTEGER NOT NULL DEFAULT 0 CHECK (in_ledger IN (0, 1)), -- an entry names it
    bytes_deleted_at INTEGER,
    accepted_by      TEXT, -- the GM who accepted a letter that was taken for automatic mail, too big, or set aside
    known            INTEGER NOT NULL DEFAULT 0 CHECK (known IN (0, 1)), -- from a player's or a GM's address, or with a seat's token
    forgotten_at     INTEGER
) STRICT;
CREATE INDEX letter_by_time ON letter (received_at);
CREATE INDEX letter_by_status ON letter (status, received_at);
CREATE INDEX letter_by_match ON letter (match_id, received_at) WHERE match_id IS NOT NULL;
CREATE INDEX letter_by_sent_as ON letter (sent_as) WHERE sent_as IS NOT NULL;
CREATE INDEX letter_waiting ON letter (known, received_at) WHERE status = 'waiting';
CREATE INDEX letter_of_stranger ON letter (sender, known) WHERE status = 'waiting' AND known = 0;
CREATE INDEX letter_unruled ON letter (received_at)
WHERE bytes_deleted_at IS NULL AND in_ledger = 0 AND status NOT IN ('waiting', 'ruled');

CREATE TABLE letter_raw (
    letter_id INTEGER PRIMARY KEY REFERENCES letter (id),
    bytes     BLOB    NOT NULL -- compressed
) STRICT;

-- A letter with the reply token of a seat or a GM that was not proven to be theirs. It waits for their word.
CREATE TABLE unproven_letter (
    letter       TEXT    PRIMARY KEY NOT NULL REFERENCES letter (digest),
    code         TEXT    NOT NULL, -- of the notice that asks the player or the GM
    player_id    INTEGER,
    match_id     TEXT,
    seat         TEXT    CHECK (seat IN ('first', 'second')),
    gm           TEXT, -- the registered address of the GM
    address      TEXT    NOT NULL, -- the sender that the letter claims
    noted_at     INTEGER NOT NULL,
    told         INTEGER NOT NULL CHECK (told IN (0, 1)), -- whether a notice went out because of this letter
    stage        TEXT    NOT NULL CHECK (stage IN ('open', 'confirmed', 'denied')),
    confirmed_by TEXT, -- the digest of the answer
    CHECK ((gm IS NULL) = (player_id IS NOT NULL AND match_id IS NOT NULL AND seat IS NOT NULL))
) STRICT;
CREATE INDEX unproven_letter_by_player ON unproven_letter (player_id, noted_at);
CREATE INDEX unproven_letter_by_gm ON unproven_letter (gm, noted_at) WHERE gm IS NOT NULL;
CREATE INDEX unproven_letter_by_code ON unproven_letter (code);

-- The outbox

-- A letter of ours. `due_at` is when it is tried next; it is NULL once the dispatch is sent (`sent_at`), is given up
-- (`given_up_at`) or has lapsed (neither).
CREATE TABLE dispatch (
    id           INTEGER PRIMARY KEY,
    message_id   TEXT    NOT NULL UNIQUE,
    recipient    TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    match_id     TEXT    REFERENCES match (id),
    seat         TEXT    CHECK (seat IN ('first', 'second')),
    answers      TEXT    REFERENCES letter (digest),
    reminds      TEXT, -- what a reminder is about; it lapses once that has changed
    created_at   INTEGER NOT NULL,
    due_at       INTEGER,
    sent_at      INTEGER,
    given_up_at  INTEGER,
    tries        INTEGER NOT NULL DEFAULT 0,
    error        TEXT    NOT NULL DEFAULT '',
    returned_at  INTEGER,
    urgency      INTEGER NOT NULL, -- 0 goes first
    seen         INTEGER NOT NULL DEFAULT 0 CHECK (seen IN (0, 1)), -- a person has seen that it was given up
    return_id    TEXT, -- the ID in its return path, which matches a bounce if a server changed the Message-ID
    pin          TEXT, -- as the ledger pins its contents
    listed       INTEGER NOT NULL DEFAULT 0 CHECK (listed IN (0, 1)), -- an entry lists its delivery
    dropped_at   INTEGER, -- when its picture was deleted
    dropped      TEXT, -- the digest of that picture
    forgotten_at INTEGER,
    CHECK (due_at IS NULL OR sent_at IS NULL)
) STRICT;
CREATE INDEX dispatch_by_match ON dispatch (match_id) WHERE match_id IS NOT NULL;
CREATE INDEX dispatch_by_answered ON dispatch (answers) WHERE match_id IS NULL AND answers IS NOT NULL;
CREATE INDEX dispatch_given_up ON dispatch (id) WHERE given_up_at IS NOT NULL;
CREATE INDEX dispatch_never_sent ON dispatch (match_id)
WHERE match_id IS NOT NULL AND pin IS NOT NULL AND sent_at IS NULL AND due_at IS NULL;
CREATE INDEX dispatch_queue ON dispatch (urgency, due_at, created_at) WHERE due_at IS NOT NULL;
CREATE INDEX dispatch_unlisted ON dispatch (match_id)
WHERE match_id IS NOT NULL AND listed = 0 AND pin IS NOT NULL AND sent_at IS NOT NULL;
CREATE UNIQUE INDEX dispatch_return_id ON dispatch (return_id) WHERE return_id IS NOT NULL;

CREATE TABLE dispatch_raw (
    dispatch_id INTEGER PRIMARY KEY REFERENCES dispatch (id),
    bytes       BLOB    NOT NULL -- compressed, without its picture
) STRICT;

CREATE TABLE dispatch_picture (
    dispatch_id INTEGER PRIMARY KEY REFERENCES dispatch (id),
    picture     BLOB    NOT NULL
) STRICT;

-- The mailbox, and the spam folder beside it. Letters that arrived before the mark are left alone.
CREATE TABLE mailbox (
    name TEXT    PRIMARY KEY NOT NULL,
    mark INTEGER NOT NULL
) STRICT;

-- Letters that stay in their folder, and are not read again from there.
CREATE TABLE left_letter (
    mailbox TEXT NOT NULL,
    letter  TEXT NOT NULL, -- folder, UIDVALIDITY and UID, or the name of a file
    reason  TEXT NOT NULL CHECK (reason IN ('old', 'foreign', 'unfiled', 'rejected')), -- unfiled: stored, but it could not be moved
    PRIMARY KEY (mailbox, letter)
) STRICT;

-- The daemon

CREATE TABLE memo (
    key   TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT;

-- History is append-only: triggers refuse to change or delete the ledger, letters and sent mail. A row that takes the place
-- or the number of another changes history, too: SQLite fires no deletion trigger for INSERT OR REPLACE and UPDATE OR
-- REPLACE, and no column trigger for the rowid under another name.

CREATE TRIGGER entry_follows BEFORE INSERT ON entry
WHEN NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM entry WHERE match_id = NEW.match_id)
BEGIN SELECT RAISE(ABORT, 'the entries of a match follow one another without gaps'); END;
CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;
CREATE TRIGGER entry_is_not_replaced BEFORE INSERT ON entry
WHEN EXISTS (SELECT 1 FROM entry WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;

CREATE TRIGGER book_entry_follows BEFORE INSERT ON book_entry
WHEN NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM book_entry WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(ABORT, 'the entries of a book follow one another without gaps'); END;
CREATE TRIGGER book_entry_is_not_changed BEFORE UPDATE ON book_entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER book_entry_is_not_deleted BEFORE DELETE ON book_entry
BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;
CREATE TRIGGER book_entry_is_not_replaced BEFORE INSERT ON book_entry
WHEN EXISTS (SELECT 1 FROM book_entry WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;

CREATE TRIGGER seat_pin_is_not_changed BEFORE UPDATE OF pin, match_id, seat, kind ON seat_pin
BEGIN SELECT RAISE(ABORT, 'a pin is never changed'); END;
CREATE TRIGGER seat_pin_is_only_forgotten BEFORE UPDATE OF key, value ON seat_pin
WHEN NEW.key IS NOT NULL OR NEW.value IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a pin is never changed'); END;
CREATE TRIGGER seat_pin_is_not_deleted BEFORE DELETE ON seat_pin
BEGIN SELECT RAISE(ABORT, 'a pin is never deleted'); END;
CREATE TRIGGER seat_pin_is_not_replaced BEFORE INSERT ON seat_pin
WHEN EXISTS (SELECT 1 FROM seat_pin WHERE pin = NEW.pin OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a pin is never changed'); END;

CREATE TRIGGER letter_is_not_deleted BEFORE DELETE ON letter
BEGIN SELECT RAISE(ABORT, 'a letter is never deleted'); END;
CREATE TRIGGER letter_is_not_replaced BEFORE INSERT ON letter
WHEN EXISTS (SELECT 1 FROM letter WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM letter WHERE digest = NEW.digest)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_keeps_its_number BEFORE UPDATE ON letter WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_is_not_changed
BEFORE UPDATE OF id, digest, received_at, origin, message_id, sender, subject, size, sent_as ON letter
WHEN NOT (
    OLD.forgotten_at IS NULL AND NEW.forgotten_at IS NOT NULL
    AND NEW.id = OLD.id AND NEW.digest = OLD.digest AND NEW.received_at = OLD.received_at AND NEW.size = OLD.size
    AND NEW.sender = '' AND NEW.subject = '' AND NEW.message_id = '' AND NEW.sent_as IS NULL
)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_stays_in_ledger BEFORE UPDATE OF in_ledger ON letter
WHEN OLD.in_ledger = 1 AND NEW.in_ledger = 0
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
-- The bytes of letters that no entry names may be deleted seven days after they arrived, because strangers could fill the
-- disk with them.
CREATE TRIGGER letter_bytes_are_kept BEFORE UPDATE OF bytes_deleted_at ON letter
WHEN NEW.forgotten_at IS NULL AND NOT (
    OLD.bytes_deleted_at IS NULL
    AND COALESCE(NEW.bytes_deleted_at - OLD.received_at, 0) >= 604800000
    AND OLD.in_ledger = 0
    AND OLD.status IN ('answered', 'automatic', 'repeated', 'ignored', 'set_aside')
)
BEGIN SELECT RAISE(ABORT, 'a letter is never deleted'); END;
CREATE TRIGGER letter_raw_is_not_deleted BEFORE DELETE ON letter_raw
WHEN NOT EXISTS (SELECT 1 FROM letter WHERE id = OLD.letter_id AND bytes_deleted_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a letter is never deleted'); END;
CREATE TRIGGER letter_raw_is_not_replaced BEFORE INSERT ON letter_raw
WHEN EXISTS (SELECT 1 FROM letter_raw WHERE letter_id = NEW.letter_id)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;

CREATE TRIGGER dispatch_is_not_deleted BEFORE DELETE ON dispatch
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
CREATE TRIGGER dispatch_is_not_replaced BEFORE INSERT ON dispatch
WHEN EXISTS (SELECT 1 FROM dispatch WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM dispatch WHERE message_id = NEW.message_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_keeps_its_number BEFORE UPDATE ON dispatch WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_is_not_changed
BEFORE UPDATE OF id, message_id, recipient, kind, match_id, seat, answers, reminds, created_at ON dispatch
WHEN NOT (
    OLD.forgotten_at IS NULL AND NEW.forgotten_at IS NOT NULL AND NEW.recipient = ''
    AND NEW.id = OLD.id AND NEW.message_id = OLD.message_id AND NEW.kind = OLD.kind
    AND NEW.match_id IS OLD.match_id AND NEW.seat IS OLD.seat AND NEW.created_at = OLD.created_at
)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_is_sent_once BEFORE UPDATE OF sent_at ON dispatch WHEN OLD.sent_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a dispatch is sent once'); END;
CREATE TRIGGER dispatch_keeps_its_return_id BEFORE UPDATE OF return_id ON dispatch WHEN OLD.return_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the return path of a dispatch is never changed'); END;
CREATE TRIGGER dispatch_keeps_its_pin BEFORE UPDATE OF pin ON dispatch
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_raw_is_not_deleted BEFORE DELETE ON dispatch_raw
WHEN NOT EXISTS (SELECT 1 FROM dispatch WHERE id = OLD.dispatch_id AND forgotten_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
CREATE TRIGGER dispatch_raw_is_not_replaced BEFORE INSERT ON dispatch_raw
WHEN EXISTS (SELECT 1 FROM dispatch_raw WHERE dispatch_id = NEW.dispatch_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
-- The picture of a letter may be deleted seven days after the letter was sent, because it can be drawn again.
CREATE TRIGGER dispatch_picture_is_kept BEFORE UPDATE OF dropped_at, dropped ON dispatch
WHEN NOT (
    OLD.dropped_at IS NULL AND NEW.dropped IS NOT NULL
    AND COALESCE(NEW.dropped_at - OLD.sent_at, 0) >= 604800000
)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_picture_is_not_deleted BEFORE DELETE ON dispatch_picture
WHEN NOT EXISTS (SELECT 1 FROM dispatch WHERE id = OLD.dispatch_id
                 AND (dropped_at IS NOT NULL OR forgotten_at IS NOT NULL))
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
CREATE TRIGGER dispatch_picture_is_not_replaced BEFORE INSERT ON dispatch_picture
WHEN EXISTS (SELECT 1 FROM dispatch_picture WHERE dispatch_id = NEW.dispatch_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_picture_is_not_changed BEFORE UPDATE ON dispatch_picture
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;

-- Matches as they were before the procedure changed

CREATE TABLE kept_snapshot (
    digest   TEXT PRIMARY KEY NOT NULL CHECK (length(digest) = 64), -- of the JSON, as the entry MailIdentitySet names it
    match_id TEXT NOT NULL REFERENCES match (id),
    json     TEXT NOT NULL
) STRICT;
CREATE INDEX kept_snapshot_match ON kept_snapshot (match_id);
CREATE TRIGGER kept_snapshot_is_not_changed BEFORE UPDATE ON kept_snapshot
BEGIN SELECT RAISE(ABORT, 'a kept snapshot is never changed'); END;
CREATE TRIGGER kept_snapshot_is_not_deleted BEFORE DELETE ON kept_snapshot
WHEN NOT EXISTS (SELECT 1 FROM match WHERE id = OLD.match_id AND forgotten IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a kept snapshot is never deleted'); END;
CREATE TRIGGER kept_snapshot_is_not_replaced BEFORE INSERT ON kept_snapshot
WHEN EXISTS (SELECT 1 FROM kept_snapshot WHERE digest = NEW.digest OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a kept snapshot is never changed'); END;

-- How far the daily audit has verified each match. Without its row, it checks the whole match.
CREATE TABLE verified (
    match_id TEXT    PRIMARY KEY NOT NULL REFERENCES match (id),
    seq      INTEGER NOT NULL, -- of the last entry that was verified
    hash     TEXT    NOT NULL -- of that entry
) STRICT, WITHOUT ROWID;

-- The files of the site in each folder to which one was built. The folder itself is open to a web server, so it holds no list.
CREATE TABLE site_file (
    folder TEXT NOT NULL,
    path   TEXT NOT NULL, -- below the folder
    digest TEXT NOT NULL, -- of what it was made from
    PRIMARY KEY (folder, path)
) STRICT, WITHOUT ROWID;
