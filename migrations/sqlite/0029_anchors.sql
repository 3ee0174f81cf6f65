-- What the anchors of CLUB are made of: the secret of each, and which ledgers had grown since the anchor before it. The
-- hashes are those of `entry`.

CREATE TABLE anchor_secret (
    book_seq INTEGER PRIMARY KEY, -- of the entry in CLUB
    secret   TEXT    NOT NULL CHECK (length(secret) = 64)
) STRICT;

CREATE TABLE anchored_head (
    book_seq INTEGER NOT NULL,
    match_id TEXT    NOT NULL REFERENCES match (id),
    seq      INTEGER NOT NULL, -- of the last entry of the match's ledger
    PRIMARY KEY (book_seq, match_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX anchored_head_by_match ON anchored_head (match_id, book_seq);

CREATE TRIGGER anchor_secret_is_not_changed BEFORE UPDATE ON anchor_secret
BEGIN SELECT RAISE(ABORT, 'an anchor is never changed'); END;
CREATE TRIGGER anchor_secret_is_not_deleted BEFORE DELETE ON anchor_secret
BEGIN SELECT RAISE(ABORT, 'an anchor is never deleted'); END;
CREATE TRIGGER anchored_head_is_not_changed BEFORE UPDATE ON anchored_head
BEGIN SELECT RAISE(ABORT, 'an anchor is never changed'); END;
CREATE TRIGGER anchored_head_is_not_deleted BEFORE DELETE ON anchored_head
BEGIN SELECT RAISE(ABORT, 'an anchor is never deleted'); END;
