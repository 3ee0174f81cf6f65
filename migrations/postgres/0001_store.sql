-- What fogpost keeps. Instants are Unix milliseconds, digests are 64 hexadecimal digits. The same tables and
-- columns are in migrations/sqlite. Ids of matches sort by bytes (COLLATE "C"), there as here.

CREATE TABLE player (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       TEXT    NOT NULL,
    bouncing   BOOLEAN NOT NULL DEFAULT FALSE,
    created_at BIGINT  NOT NULL
);

CREATE TABLE address (
    address   TEXT   PRIMARY KEY,
    player_id BIGINT NOT NULL REFERENCES player (id),
    rank      BIGINT NOT NULL,
    UNIQUE (player_id, rank)
);

CREATE TABLE match (
    id       TEXT   COLLATE "C" PRIMARY KEY,
    game     TEXT   NOT NULL,
    stage    TEXT   NOT NULL,
    wake_at  BIGINT,
    snapshot TEXT   NOT NULL,
    version  BIGINT NOT NULL CHECK (version > 0)
);
CREATE INDEX match_by_wake ON match (wake_at, id) WHERE wake_at IS NOT NULL;
CREATE INDEX match_by_stage ON match (stage, id);

CREATE TABLE seat (
    match_id  TEXT   COLLATE "C" NOT NULL REFERENCES match (id),
    seat      TEXT   NOT NULL CHECK (seat IN ('first', 'second')),
    player_id BIGINT NOT NULL REFERENCES player (id),
    token     TEXT   NOT NULL UNIQUE,
    PRIMARY KEY (match_id, seat)
);
CREATE INDEX seat_by_player ON seat (player_id);

-- A letter as it arrived, and what became of it. Its bytes stand apart, so that deciding it does not move them.
CREATE TABLE letter (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest      TEXT   COLLATE "C" NOT NULL UNIQUE CHECK (length(digest) = 64),
    received_at BIGINT NOT NULL,
    whence      TEXT   NOT NULL,
    message_id  TEXT   NOT NULL,
    sender      TEXT   NOT NULL,
    subject     TEXT   NOT NULL,
    size        BIGINT NOT NULL,
    sent_as     TEXT, -- the digest of sender and Message-ID, of one length whatever a stranger writes there
    fate        TEXT   NOT NULL CHECK (fate IN
                    ('waiting', 'ruled', 'answered', 'automatic', 'repeated', 'ignored', 'set_aside')),
    note        TEXT   NOT NULL DEFAULT '',
    match_id    TEXT   COLLATE "C" REFERENCES match (id),
    seat        TEXT   CHECK (seat IN ('first', 'second')),
    tries       BIGINT NOT NULL DEFAULT 0,
    decided_at  BIGINT
);
CREATE INDEX letter_by_time ON letter (received_at, id);
CREATE INDEX letter_by_fate ON letter (fate, received_at, id);
CREATE INDEX letter_by_match ON letter (match_id, received_at, id) WHERE match_id IS NOT NULL;
CREATE INDEX letter_by_sent_as ON letter (sent_as) WHERE sent_as IS NOT NULL;

CREATE TABLE letter_raw (
    letter_id BIGINT PRIMARY KEY REFERENCES letter (id),
    bytes     BYTEA  NOT NULL
);

CREATE TABLE entry (
    match_id TEXT   COLLATE "C" NOT NULL REFERENCES match (id),
    seq      BIGINT NOT NULL,
    at       BIGINT NOT NULL,
    kind     TEXT   NOT NULL,
    json     TEXT   NOT NULL,
    hash     TEXT   NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (match_id, seq)
);

-- The outbox. `due_at` is when it is to be tried (next), or when the lease of the one who tries it ends; it is
-- empty once the dispatch is sent (`sent_at`) or given up (neither).
CREATE TABLE dispatch (
    id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id TEXT    NOT NULL UNIQUE,
    recipient  TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    match_id   TEXT    COLLATE "C" REFERENCES match (id),
    seat       TEXT    CHECK (seat IN ('first', 'second')),
    answers    TEXT    COLLATE "C" REFERENCES letter (digest),
    created_at BIGINT  NOT NULL,
    due_at     BIGINT,
    leased     BOOLEAN NOT NULL DEFAULT FALSE,
    sent_at    BIGINT,
    tries      BIGINT  NOT NULL DEFAULT 0,
    error      TEXT    NOT NULL DEFAULT '',
    CHECK (due_at IS NULL OR sent_at IS NULL)
);
CREATE INDEX dispatch_due ON dispatch (due_at, created_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX dispatch_unsent ON dispatch (id) WHERE sent_at IS NULL;
CREATE INDEX dispatch_by_match ON dispatch (match_id, id) WHERE match_id IS NOT NULL;
CREATE INDEX dispatch_by_recipient ON dispatch (recipient, created_at, id) WHERE answers IS NOT NULL;

CREATE TABLE dispatch_raw (
    dispatch_id BIGINT PRIMARY KEY REFERENCES dispatch (id),
    bytes       BYTEA  NOT NULL
);

CREATE TABLE memo (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- History stands: neither ledger nor letters nor what was sent is changed or deleted.

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;

CREATE FUNCTION entry_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM entry WHERE match_id = NEW.match_id) THEN
        RAISE EXCEPTION 'the entries of a match follow one another without gaps';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER entry_follows BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION entry_follows();

CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
    FOR EACH ROW EXECUTE FUNCTION refuse('an entry is never changed');
CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
    FOR EACH ROW EXECUTE FUNCTION refuse('an entry is never deleted');
CREATE TRIGGER entry_is_not_truncated BEFORE TRUNCATE ON entry
    EXECUTE FUNCTION refuse('an entry is never deleted');

CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
    FOR EACH ROW EXECUTE FUNCTION refuse('a letter is never changed');
CREATE TRIGGER letter_raw_is_not_deleted BEFORE DELETE ON letter_raw
    FOR EACH ROW EXECUTE FUNCTION refuse('a letter is never deleted');
CREATE TRIGGER letter_raw_is_not_truncated BEFORE TRUNCATE ON letter_raw
    EXECUTE FUNCTION refuse('a letter is never deleted');

CREATE TRIGGER letter_is_not_changed
    BEFORE UPDATE OF id, digest, received_at, whence, message_id, sender, subject, size, sent_as ON letter
    FOR EACH ROW EXECUTE FUNCTION refuse('a letter is never changed');
CREATE TRIGGER letter_is_not_deleted BEFORE DELETE ON letter
    FOR EACH ROW EXECUTE FUNCTION refuse('a letter is never deleted');
CREATE TRIGGER letter_is_not_truncated BEFORE TRUNCATE ON letter
    EXECUTE FUNCTION refuse('a letter is never deleted');

CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
    FOR EACH ROW EXECUTE FUNCTION refuse('a dispatch is never changed');
CREATE TRIGGER dispatch_raw_is_not_deleted BEFORE DELETE ON dispatch_raw
    FOR EACH ROW EXECUTE FUNCTION refuse('a dispatch is never deleted');
CREATE TRIGGER dispatch_raw_is_not_truncated BEFORE TRUNCATE ON dispatch_raw
    EXECUTE FUNCTION refuse('a dispatch is never deleted');
