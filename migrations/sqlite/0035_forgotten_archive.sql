-- When a player is forgotten, the letters that stay in an archived match are packed anew, because the text that they had in
-- common may come from letters of the player.

DROP TRIGGER dictionary_is_not_changed;
CREATE TRIGGER dictionary_is_not_changed BEFORE UPDATE ON dictionary
WHEN NEW.match_id <> OLD.match_id
    OR NOT EXISTS (SELECT 1 FROM match WHERE id = OLD.match_id AND forgotten IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a dictionary is never changed'); END;

DROP TRIGGER dispatch_raw_is_not_changed;
CREATE TRIGGER dispatch_raw_is_not_changed BEFORE UPDATE ON dispatch_raw
WHEN NOT (
    NEW.dispatch_id = OLD.dispatch_id AND NEW.form = 3
    AND EXISTS (SELECT 1 FROM dispatch d JOIN match m ON m.id = d.match_id
                WHERE d.id = OLD.dispatch_id AND m.stage = 'over' AND m.archived_at IS NOT NULL
                AND (OLD.form <> 3 OR m.forgotten IS NOT NULL))
)
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;

DROP TRIGGER letter_raw_is_not_changed;
CREATE TRIGGER letter_raw_is_not_changed BEFORE UPDATE ON letter_raw
WHEN NOT (
    NEW.letter_id = OLD.letter_id AND NEW.form = 3
    AND EXISTS (SELECT 1 FROM letter l JOIN match m ON m.id = l.match_id
                WHERE l.id = OLD.letter_id AND m.stage = 'over' AND m.archived_at IS NOT NULL
                AND (OLD.form <> 3 OR m.forgotten IS NOT NULL))
)
BEGIN SELECT RAISE(ABORT, 'a letter is never changed'); END;
