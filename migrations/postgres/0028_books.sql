-- Books: hash chains like that of a match, for what is not a match. CLUB holds the anchors, and what the audit verified.

CREATE TABLE book (
    id       TEXT   COLLATE "C" PRIMARY KEY,
    kind     TEXT   NOT NULL,
    stage    TEXT   NOT NULL,
    wake_at  BIGINT,
    snapshot TEXT   NOT NULL,
    version  BIGINT NOT NULL CHECK (version > 0)
);

CREATE TABLE book_entry (
    book_id TEXT   COLLATE "C" NOT NULL REFERENCES book (id),
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    kind    TEXT   NOT NULL,
    json    TEXT   NOT NULL,
    hash    TEXT   NOT NULL CHECK (length(hash) = 64),
    PRIMARY KEY (book_id, seq)
);
CREATE INDEX book_entry_by_kind ON book_entry (book_id, kind, seq);

CREATE FUNCTION book_entry_follows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq <> 1 + (SELECT COALESCE(MAX(seq), 0) FROM book_entry WHERE book_id = NEW.book_id) THEN
        RAISE EXCEPTION 'the entries of a book follow one another without gaps';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER book_entry_follows BEFORE INSERT ON book_entry
    FOR EACH ROW EXECUTE FUNCTION book_entry_follows();

CREATE TRIGGER book_entry_is_not_changed BEFORE UPDATE ON book_entry
    FOR EACH ROW EXECUTE FUNCTION refuse('an entry is never changed');
CREATE TRIGGER book_entry_is_not_deleted BEFORE DELETE ON book_entry
    FOR EACH ROW EXECUTE FUNCTION refuse('an entry is never deleted');
CREATE TRIGGER book_entry_is_not_truncated BEFORE TRUNCATE ON book_entry
    EXECUTE FUNCTION refuse('an entry is never deleted');
