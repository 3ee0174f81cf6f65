-- A row that is put in the place of another, or given another number, is changed history as well. SQLite does not fire the
-- triggers of deletion for INSERT OR REPLACE and UPDATE OR REPLACE, nor those of a column for the rowid by another
-- name. (What bears a number that stands already is refused for an entry by entry_follows.)

CREATE TRIGGER entry_is_not_replaced BEFORE INSERT ON entry
WHEN EXISTS (SELECT 1 FROM entry WHERE rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'an entry is never changed'); END;

CREATE TRIGGER letter_is_not_replaced BEFORE INSERT ON letter
WHEN EXISTS (SELECT 1 FROM letter WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM letter WHERE digest = NEW.digest)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_keeps_its_number BEFORE UPDATE ON letter WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
CREATE TRIGGER letter_raw_is_not_replaced BEFORE INSERT ON letter_raw
WHEN EXISTS (SELECT 1 FROM letter_raw WHERE letter_id = NEW.letter_id)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;

CREATE TRIGGER dispatch_is_not_replaced BEFORE INSERT ON dispatch
WHEN EXISTS (SELECT 1 FROM dispatch WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM dispatch WHERE message_id = NEW.message_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_keeps_its_number BEFORE UPDATE ON dispatch WHEN NEW.id <> OLD.id
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_raw_is_not_replaced BEFORE INSERT ON dispatch_raw
WHEN EXISTS (SELECT 1 FROM dispatch_raw WHERE dispatch_id = NEW.dispatch_id)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
