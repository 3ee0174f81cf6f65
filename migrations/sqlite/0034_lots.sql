-- The key from which the secret of somebody's next match against the house is drawn. Its SHA-256 was told to the address, so
-- the key is never changed; it is deleted when a match is drawn from it.

CREATE TABLE lot (
    address TEXT PRIMARY KEY NOT NULL,
    key     TEXT NOT NULL,
    told_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER lot_is_not_changed BEFORE UPDATE ON lot
BEGIN SELECT RAISE(ABORT, 'a lot is never changed'); END;
