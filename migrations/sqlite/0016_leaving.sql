-- The running matches that the question whether to leave listed. Only these are resigned.
ALTER TABLE player_change ADD COLUMN matches TEXT NOT NULL DEFAULT '[]'; -- JSON
