-- What players have chosen for their letters.

ALTER TABLE player ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'; -- JSON
-- When the player's next daily digest is due: 0 until it is scheduled, and nothing if the player wants none.
ALTER TABLE player ADD COLUMN digest_at BIGINT;
CREATE INDEX player_by_digest ON player (digest_at) WHERE digest_at IS NOT NULL;
