-- The GM who accepted a letter that was taken for automatic mail, exceeded a limit, or was set aside.

ALTER TABLE letter ADD COLUMN accepted_by TEXT;
