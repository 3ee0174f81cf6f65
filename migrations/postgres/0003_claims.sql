-- What is claimed is locked by the one who works on it; what a letter answered by a dispatch says tells two of them
-- apart.

ALTER TABLE dispatch DROP COLUMN leased;
ALTER TABLE dispatch ADD COLUMN asked TEXT; -- the digest of what the letter says that it answers

-- The match whose letters are kept together, since several daemons share them; empty for letters to no match.
ALTER TABLE letter ADD COLUMN lane TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX letter_by_lane ON letter (lane, received_at, id) WHERE fate = 'waiting';
