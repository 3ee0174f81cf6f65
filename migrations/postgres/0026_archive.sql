-- Letters of a match that ended long ago are packed anew, with a text that they have in common, and the pictures of our
-- letters are replaced by texts with their digests.

ALTER TABLE match ADD COLUMN archived_at BIGINT;
CREATE INDEX match_to_archive ON match (ended_at) WHERE ended_at IS NOT NULL AND archived_at IS NULL;

CREATE TABLE dictionary (
    match_id TEXT  PRIMARY KEY REFERENCES match (id),
    bytes    BYTEA NOT NULL -- the length of the text as 4 bytes, and the text deflated
);
ALTER TABLE dictionary ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE letter_raw ADD COLUMN form BIGINT NOT NULL DEFAULT 0; -- 0: whole bytes; 3: deflated after the dictionary of its match

CREATE TRIGGER dictionary_is_not_changed BEFORE UPDATE ON dictionary
    FOR EACH ROW EXECUTE FUNCTION refuse('a dictionary is never changed');
CREATE TRIGGER dictionary_is_not_deleted BEFORE DELETE ON dictionary
    FOR EACH ROW EXECUTE FUNCTION refuse('a dictionary is never deleted');
CREATE TRIGGER dictionary_is_not_truncated BEFORE TRUNCATE ON dictionary
    EXECUTE FUNCTION refuse('a dictionary is never deleted');

CREATE FUNCTION is_archived(of_match TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM match WHERE id = of_match AND stage = 'over' AND archived_at IS NOT NULL)
$$;

CREATE FUNCTION dispatch_raw_is_repacked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.dispatch_id = OLD.dispatch_id AND OLD.form <> 3 AND NEW.form = 3
        AND is_archived((SELECT match_id FROM dispatch WHERE id = OLD.dispatch_id)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a dispatch is never changed';
END $$;
DROP TRIGGER dispatch_raw_is_not_changed ON dispatch_raw;
CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
    FOR EACH ROW EXECUTE FUNCTION dispatch_raw_is_repacked();

CREATE FUNCTION letter_raw_is_repacked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.letter_id = OLD.letter_id AND OLD.form <> 3 AND NEW.form = 3
        AND is_archived((SELECT match_id FROM letter WHERE id = OLD.letter_id)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a letter is never changed';
END $$;
DROP TRIGGER letter_raw_is_not_changed ON letter_raw;
CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
    FOR EACH ROW EXECUTE FUNCTION letter_raw_is_repacked();

CREATE FUNCTION dispatch_picture_is_dropped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.dispatch_id = OLD.dispatch_id AND NEW.place = OLD.place
        AND encode(NEW.picture, 'escape') LIKE 'This picture was dropped.%'
        AND NOT encode(OLD.picture, 'escape') LIKE 'This picture was dropped.%'
        AND is_archived((SELECT match_id FROM dispatch WHERE id = OLD.dispatch_id)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a dispatch is never changed';
END $$;
DROP TRIGGER dispatch_picture_is_not_changed ON dispatch_picture;
CREATE TRIGGER dispatch_picture_is_not_changed BEFORE UPDATE ON dispatch_picture
    FOR EACH ROW EXECUTE FUNCTION dispatch_picture_is_dropped();
