-- When a player is forgotten, the letters that stay in an archived match are packed anew, because the text that they had in
-- common may come from letters of the player.

CREATE FUNCTION is_forgotten(of_match TEXT) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM match WHERE id = of_match AND forgotten IS NOT NULL)
$$;

CREATE FUNCTION dictionary_is_made_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.match_id = OLD.match_id AND is_forgotten(OLD.match_id) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a dictionary is never changed';
END $$;
DROP TRIGGER dictionary_is_not_changed ON dictionary;
CREATE TRIGGER dictionary_is_not_changed BEFORE UPDATE ON dictionary
    FOR EACH ROW EXECUTE FUNCTION dictionary_is_made_anew();

CREATE OR REPLACE FUNCTION dispatch_raw_is_repacked() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_match TEXT := (SELECT match_id FROM dispatch WHERE id = OLD.dispatch_id);
BEGIN
    IF NEW.dispatch_id = OLD.dispatch_id AND NEW.form = 3 AND is_archived(of_match)
        AND (OLD.form <> 3 OR is_forgotten(of_match)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a dispatch is never changed';
END $$;

CREATE OR REPLACE FUNCTION letter_raw_is_repacked() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_match TEXT := (SELECT match_id FROM letter WHERE id = OLD.letter_id);
BEGIN
    IF NEW.letter_id = OLD.letter_id AND NEW.form = 3 AND is_archived(of_match)
        AND (OLD.form <> 3 OR is_forgotten(of_match)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a letter is never changed';
END $$;
