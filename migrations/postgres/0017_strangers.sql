-- Letters of players and GMs are taken before those of strangers, of which there may be any number.

ALTER TABLE letter ADD COLUMN known BIGINT NOT NULL DEFAULT 0 CHECK (known IN (0, 1)); -- from a player's or a GM's address, or with a seat's reply token

-- What waits already keeps its order.
UPDATE letter SET known = 1 WHERE fate = 'waiting';

CREATE INDEX letter_waiting ON letter (known, received_at, id) WHERE fate = 'waiting';
CREATE INDEX letter_of_stranger ON letter (sender, known) WHERE fate = 'waiting' AND known = 0;
