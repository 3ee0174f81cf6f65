-- The bytes of letters that caused no entry may be deleted after some time, because strangers could fill the disk with
-- them. Digest, sender, subject and reason stay.

ALTER TABLE letter ADD COLUMN in_ledger BIGINT NOT NULL DEFAULT 0 CHECK (in_ledger IN (0, 1)); -- an entry names it; ruled letters are not marked
ALTER TABLE letter ADD COLUMN bytes_deleted_at BIGINT;

UPDATE letter SET in_ledger = 1
WHERE fate <> 'ruled' AND digest IN (
    SELECT substr(json, position('"cause":{"letter":"' IN json) + 19, 64) FROM entry
    WHERE position('"cause":{"letter":"' IN json) > 0
);

CREATE INDEX letter_unruled ON letter (received_at)
WHERE bytes_deleted_at IS NULL AND in_ledger = 0 AND fate NOT IN ('waiting', 'ruled');

-- Canonical JSON has no blanks, and quotes in a text are escaped, so this finds the cause and nothing else.
CREATE FUNCTION entry_marks_its_letter() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place INTEGER := position('"cause":{"letter":"' IN NEW.json);
BEGIN
    IF place > 0 THEN
        UPDATE letter SET in_ledger = 1
        WHERE digest = substr(NEW.json, place + 19, 64) AND fate <> 'ruled' AND in_ledger = 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER entry_marks_its_letter AFTER INSERT ON entry
    FOR EACH ROW EXECUTE FUNCTION entry_marks_its_letter();

CREATE TRIGGER letter_stays_in_ledger BEFORE UPDATE OF in_ledger ON letter
    FOR EACH ROW WHEN (OLD.in_ledger = 1 AND NEW.in_ledger = 0) EXECUTE FUNCTION refuse('a letter is never changed');

-- At the earliest after seven days.
CREATE TRIGGER letter_bytes_are_kept BEFORE UPDATE OF bytes_deleted_at ON letter
    FOR EACH ROW WHEN (NOT (
        OLD.bytes_deleted_at IS NULL
        AND COALESCE(NEW.bytes_deleted_at - OLD.received_at, 0) >= 604800000
        AND OLD.in_ledger = 0
        AND OLD.fate IN ('answered', 'automatic', 'repeated', 'ignored', 'set_aside')
    ))
    EXECUTE FUNCTION refuse('a letter is never deleted');

CREATE FUNCTION letter_raw_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM letter WHERE id = OLD.letter_id AND bytes_deleted_at IS NOT NULL) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a letter is never deleted';
END $$;
DROP TRIGGER letter_raw_is_not_deleted ON letter_raw;
CREATE TRIGGER letter_raw_is_not_deleted BEFORE DELETE ON letter_raw
    FOR EACH ROW EXECUTE FUNCTION letter_raw_is_kept();
