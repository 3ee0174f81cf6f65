-- What is claimed is known to the one daemon; what a letter answered by a dispatch says tells two of them apart.

ALTER TABLE dispatch DROP COLUMN leased;
ALTER TABLE dispatch ADD COLUMN asked TEXT; -- the digest of what the letter says that it answers

-- The match whose letters are kept together where several daemons share them; always empty here.
ALTER TABLE letter ADD COLUMN lane TEXT NOT NULL DEFAULT '';
