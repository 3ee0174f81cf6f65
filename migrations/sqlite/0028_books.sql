-- Books: hash chains like that of a match, for what is not a match. CLUB holds the anchors, and what the audit verified.

CREATE TABLE book (
    id       TEXT    PRIMARY KEY NOT NULL,
    kind     TEXT    NOT NULL,
    stage    TEXT    NOT NULL,
    wake_at  INTEGER,
    snapshot TEXT    NOT NULL,
    version  INTEGER NOT NULL CHECK (version > 0)
) STRICT;

CREATE TABLE book_entry (
    book_id TEXT    NOT NULL REFERENCES book (id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    json    TEXT    NOT NULL,
    hash    TEXT    NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (book_id, seq)
) STRICT;
CREATE INDEX book_entry_by_kind ON book_entry (book_id, kind, seq);

CREATE TRIGGER book_entry_follows BEFORE INSERT ON book_entry
WHEN NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM book_entry WHERE book_id = NEW.book_id)
BEGIN SELECT RAISE(ABORT, 'the entries of a book follow one another without gaps'); END;

CREATE TRIGGER book_entry_is_not_changed BEFORE UPDATE ON book_entry
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;
CREATE TRIGGER book_entry_is_not_deleted BEFORE DELETE ON book_entry
BEGIN SELECT RAISE(ABORT, 'an entry is never deleted'); END;
