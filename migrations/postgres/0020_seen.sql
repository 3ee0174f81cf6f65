-- Whether somebody has looked at a dispatch that was given up. Until then the status is red.

ALTER TABLE dispatch ADD COLUMN seen BIGINT NOT NULL DEFAULT 0 CHECK (seen IN (0, 1));
