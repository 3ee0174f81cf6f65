-- What the anchors of CLUB are made of: the secret of each, and which ledgers had grown since the anchor before it. The
-- hashes are those of `entry`.

CREATE TABLE anchor_secret (
    book_seq BIGINT PRIMARY KEY, -- of the entry in CLUB
    secret   TEXT   NOT NULL CHECK (length(secret) = 64)
);

CREATE TABLE anchored_head (
    book_seq BIGINT NOT NULL,
    match_id TEXT   COLLATE "C" NOT NULL REFERENCES match (id),
    seq      BIGINT NOT NULL, -- of the last entry of the match's ledger
    PRIMARY KEY (book_seq, match_id)
);
CREATE INDEX anchored_head_by_match ON anchored_head (match_id, book_seq);

CREATE TRIGGER anchor_secret_is_not_changed BEFORE UPDATE ON anchor_secret
    FOR EACH ROW EXECUTE FUNCTION refuse('an anchor is never changed');
CREATE TRIGGER anchor_secret_is_not_deleted BEFORE DELETE ON anchor_secret
    FOR EACH ROW EXECUTE FUNCTION refuse('an anchor is never deleted');
CREATE TRIGGER anchor_secret_is_not_truncated BEFORE TRUNCATE ON anchor_secret
    EXECUTE FUNCTION refuse('an anchor is never deleted');
CREATE TRIGGER anchored_head_is_not_changed BEFORE UPDATE ON anchored_head
    FOR EACH ROW EXECUTE FUNCTION refuse('an anchor is never changed');
CREATE TRIGGER anchored_head_is_not_deleted BEFORE DELETE ON anchored_head
    FOR EACH ROW EXECUTE FUNCTION refuse('an anchor is never deleted');
CREATE TRIGGER anchored_head_is_not_truncated BEFORE TRUNCATE ON anchored_head
    EXECUTE FUNCTION refuse('an anchor is never deleted');
