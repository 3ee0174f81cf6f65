-- Who held a seat: each reply token and address that the ledger of a match pins, with the key that opens the pin.

CREATE TABLE seat_pin (
    pin      TEXT COLLATE "C" PRIMARY KEY CHECK (length(pin) = 64), -- HMAC-SHA-256 of the value, as an entry names it
    match_id TEXT COLLATE "C" NOT NULL REFERENCES match (id),
    seat     TEXT NOT NULL CHECK (seat IN ('first', 'second')),
    kind     TEXT NOT NULL CHECK (kind IN ('address', 'token')),
    key      TEXT, -- 32 hexadecimal digits; empty, like the value, once the player is forgotten
    value    TEXT
);
CREATE INDEX seat_pin_by_match ON seat_pin (match_id);

CREATE TRIGGER seat_pin_is_not_changed BEFORE UPDATE OF pin, match_id, seat, kind ON seat_pin
    FOR EACH ROW EXECUTE FUNCTION refuse('a pin is never changed');
CREATE TRIGGER seat_pin_is_only_forgotten BEFORE UPDATE OF key, value ON seat_pin
    FOR EACH ROW WHEN (NEW.key IS NOT NULL OR NEW.value IS NOT NULL)
    EXECUTE FUNCTION refuse('a pin is never changed');
CREATE TRIGGER seat_pin_is_not_deleted BEFORE DELETE ON seat_pin
    FOR EACH ROW EXECUTE FUNCTION refuse('a pin is never deleted');
CREATE TRIGGER seat_pin_is_not_truncated BEFORE TRUNCATE ON seat_pin
    EXECUTE FUNCTION refuse('a pin is never deleted');
