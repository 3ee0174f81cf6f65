-- The key from which the secret of somebody's next match against the house is drawn. Its SHA-256 was told to the address, so
-- the key is never changed; it is deleted when a match is drawn from it.

CREATE TABLE lot (
    address TEXT PRIMARY KEY NOT NULL,
    key     TEXT NOT NULL,
    told_at BIGINT NOT NULL
);

CREATE TRIGGER lot_is_not_changed BEFORE UPDATE ON lot
    FOR EACH ROW EXECUTE FUNCTION refuse('a lot is never changed');
