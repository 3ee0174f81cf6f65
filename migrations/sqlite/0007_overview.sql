-- What lists show of a match, so that they load no snapshots. The program fills these columns for the matches that are
-- stored already, because only the games know what is due.

-- The snapshot becomes the last column: SQLite reads through a long one to reach those behind it.
ALTER TABLE match RENAME COLUMN snapshot TO earlier_snapshot;

ALTER TABLE match ADD COLUMN first_name   TEXT NOT NULL DEFAULT '';
ALTER TABLE match ADD COLUMN second_name  TEXT NOT NULL DEFAULT '';
ALTER TABLE match ADD COLUMN first_house  TEXT; -- the level at which the house plays
ALTER TABLE match ADD COLUMN second_house TEXT;
ALTER TABLE match ADD COLUMN zone         TEXT NOT NULL DEFAULT 'UTC'; -- IANA name
ALTER TABLE match ADD COLUMN options      TEXT NOT NULL DEFAULT '{}'; -- JSON
ALTER TABLE match ADD COLUMN turn         INTEGER; -- empty once the match is over
ALTER TABLE match ADD COLUMN phase        TEXT;
ALTER TABLE match ADD COLUMN owing        TEXT NOT NULL DEFAULT ''; -- the seats that owe orders for the phase
ALTER TABLE match ADD COLUMN awaited      TEXT NOT NULL DEFAULT ''; -- those of them that have not filed
ALTER TABLE match ADD COLUMN deadline     INTEGER;
ALTER TABLE match ADD COLUMN ended_at     INTEGER;
ALTER TABLE match ADD COLUMN winner       TEXT CHECK (winner IN ('first', 'second'));
ALTER TABLE match ADD COLUMN reason       TEXT; -- why the match ended
ALTER TABLE match ADD COLUMN event        TEXT;
ALTER TABLE match ADD COLUMN marks        TEXT NOT NULL DEFAULT ''; -- what the GM should look at
ALTER TABLE match ADD COLUMN head_seq     INTEGER NOT NULL DEFAULT 0; -- the last entry of the ledger
ALTER TABLE match ADD COLUMN head_hash    TEXT NOT NULL DEFAULT '';

ALTER TABLE match ADD COLUMN snapshot TEXT NOT NULL DEFAULT '';
UPDATE match SET snapshot = earlier_snapshot;
ALTER TABLE match DROP COLUMN earlier_snapshot;
