-- A player can be forgotten once the matches are over: the addresses go, and the bytes of the letters from and to the
-- player. Digests stay, so every chain stays whole.

ALTER TABLE player ADD COLUMN forgotten_at BIGINT;
ALTER TABLE match ADD COLUMN forgotten TEXT; -- who was forgotten: P-12
ALTER TABLE letter ADD COLUMN forgotten_at BIGINT;
ALTER TABLE dispatch ADD COLUMN forgotten_at BIGINT;

DROP TRIGGER letter_is_not_changed ON letter;
CREATE TRIGGER letter_is_not_changed
    BEFORE UPDATE OF id, digest, received_at, whence, message_id, sender, subject, size, sent_as ON letter
    FOR EACH ROW WHEN (NOT (
        OLD.forgotten_at IS NULL AND NEW.forgotten_at IS NOT NULL
        AND NEW.id = OLD.id AND NEW.digest = OLD.digest AND NEW.received_at = OLD.received_at AND NEW.size = OLD.size
        AND NEW.sender = '' AND NEW.subject = '' AND NEW.message_id = '' AND NEW.sent_as IS NULL
    ))
    EXECUTE FUNCTION refuse('a letter is never changed');

DROP TRIGGER letter_bytes_are_kept ON letter;
CREATE TRIGGER letter_bytes_are_kept BEFORE UPDATE OF bytes_deleted_at ON letter
    FOR EACH ROW WHEN (NEW.forgotten_at IS NULL AND NOT (
        OLD.bytes_deleted_at IS NULL
        AND COALESCE(NEW.bytes_deleted_at - OLD.received_at, 0) >= 604800000
        AND OLD.in_ledger = 0
        AND OLD.fate IN ('answered', 'automatic', 'repeated', 'ignored', 'set_aside')
    ))
    EXECUTE FUNCTION refuse('a letter is never deleted');

DROP TRIGGER dispatch_is_not_changed ON dispatch;
CREATE TRIGGER dispatch_is_not_changed
    BEFORE UPDATE OF id, message_id, recipient, kind, match_id, seat, answers, asked, created_at ON dispatch
    FOR EACH ROW WHEN (NOT (
        OLD.forgotten_at IS NULL AND NEW.forgotten_at IS NOT NULL AND NEW.recipient = ''
        AND NEW.id = OLD.id AND NEW.message_id = OLD.message_id AND NEW.kind = OLD.kind
        AND NEW.match_id IS NOT DISTINCT FROM OLD.match_id AND NEW.seat IS NOT DISTINCT FROM OLD.seat
        AND NEW.created_at = OLD.created_at
    ))
    EXECUTE FUNCTION refuse('a dispatch is never changed');

CREATE FUNCTION sent_bytes_are_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM dispatch WHERE id = OLD.dispatch_id AND forgotten_at IS NOT NULL) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'a dispatch is never deleted';
END $$;
DROP TRIGGER dispatch_raw_is_not_deleted ON dispatch_raw;
CREATE TRIGGER dispatch_raw_is_not_deleted BEFORE DELETE ON dispatch_raw
    FOR EACH ROW EXECUTE FUNCTION sent_bytes_are_kept();
DROP TRIGGER dispatch_picture_is_not_deleted ON dispatch_picture;
CREATE TRIGGER dispatch_picture_is_not_deleted BEFORE DELETE ON dispatch_picture
    FOR EACH ROW EXECUTE FUNCTION sent_bytes_are_kept();
