-- Letters of a match that ended long ago are packed anew, with a text that they have in common, and the pictures of our
-- letters are replaced by texts with their digests.

ALTER TABLE match ADD COLUMN archived_at INTEGER;
CREATE INDEX match_to_archive ON match (ended_at) WHERE ended_at IS NOT NULL AND archived_at IS NULL;

CREATE TABLE dictionary (
    match_id TEXT PRIMARY KEY NOT NULL REFERENCES match (id),
    bytes    BLOB NOT NULL -- the length of the text as 4 bytes, and the text deflated
) STRICT;

ALTER TABLE letter_raw ADD COLUMN form INTEGER NOT NULL DEFAULT 0; -- 0: whole bytes; 3: deflated after the dictionary of its match

CREATE TRIGGER dictionary_is_not_changed BEFORE UPDATE ON dictionary
BEGIN SELECT RAISE(ABORT, 'a dictionary is never changed'); END;
CREATE TRIGGER dictionary_is_not_deleted BEFORE DELETE ON dictionary
BEGIN SELECT RAISE(ABORT, 'a dictionary is never deleted'); END;
-- INSERT OR REPLACE does not fire the triggers of deletion.
CREATE TRIGGER dictionary_is_not_replaced BEFORE INSERT ON dictionary
WHEN EXISTS (SELECT 1 FROM dictionary WHERE match_id = NEW.match_id)
BEGIN SELECT RAISE(ABORT, 'a dictionary is never changed'); END;

DROP TRIGGER dispatch_raw_is_not_changed;
CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
WHEN NOT (
    NEW.dispatch_id = OLD.dispatch_id AND OLD.form <> 3 AND NEW.form = 3
    AND EXISTS (SELECT 1 FROM dispatch d JOIN match m ON m.id = d.match_id
                WHERE d.id = OLD.dispatch_id AND m.stage = 'over' AND m.archived_at IS NOT NULL)
)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;

DROP TRIGGER letter_raw_is_not_changed;
CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
WHEN NOT (
    NEW.letter_id = OLD.letter_id AND OLD.form <> 3 AND NEW.form = 3
    AND EXISTS (SELECT 1 FROM letter l JOIN match m ON m.id = l.match_id
                WHERE l.id = OLD.letter_id AND m.stage = 'over' AND m.archived_at IS NOT NULL)
)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;

DROP TRIGGER dispatch_picture_is_not_changed;
CREATE TRIGGER dispatch_picture_is_not_changed BEFORE UPDATE ON dispatch_picture
WHEN NOT (
    NEW.dispatch_id = OLD.dispatch_id AND NEW.place = OLD.place
    AND CAST(NEW.picture AS TEXT) LIKE 'This picture was dropped.%'
    AND NOT CAST(OLD.picture AS TEXT) LIKE 'This picture was dropped.%'
    AND EXISTS (SELECT 1 FROM dispatch d JOIN match m ON m.id = d.match_id
                WHERE d.id = OLD.dispatch_id AND m.stage = 'over' AND m.archived_at IS NOT NULL)
)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
