-- The text of a sent letter is stored compressed, its picture in a table of its own. Letters that are stored already
-- stay whole: they are immutable, and the program reads both forms.

ALTER TABLE dispatch_raw ADD COLUMN form INTEGER NOT NULL DEFAULT 0; -- 0: whole bytes; 1: deflated, without the picture

CREATE TABLE dispatch_picture (
    dispatch_id INTEGER PRIMARY KEY REFERENCES dispatch (id),
    place       INTEGER NOT NULL, -- the offset in the text at which the picture's base64 belongs
    picture     BLOB    NOT NULL
) STRICT;

CREATE TRIGGER dispatch_picture_is_not_changed BEFORE UPDATE ON dispatch_picture
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_picture_is_not_deleted BEFORE DELETE ON dispatch_picture
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
-- INSERT OR REPLACE does not fire the triggers of deletion.
CREATE TRIGGER dispatch_picture_is_not_replaced BEFORE INSERT ON dispatch_picture
WHEN EXISTS (SELECT 1 FROM dispatch_picture WHERE dispatch_id = NEW.dispatch_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
