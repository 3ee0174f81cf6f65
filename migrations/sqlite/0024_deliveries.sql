-- Which of our letters the ledger has listed as delivered. The next entry of a match lists those that a mail server has
-- taken since.

ALTER TABLE dispatch ADD COLUMN pin TEXT; -- as the ledger pins its contents; empty in a match whose ledger lists no deliveries
ALTER TABLE dispatch ADD COLUMN listed INTEGER NOT NULL DEFAULT 0 CHECK (listed IN (0, 1));

CREATE INDEX dispatch_unlisted ON dispatch (match_id) WHERE listed = 0 AND pin IS NOT NULL AND sent_at IS NOT NULL;
CREATE TRIGGER dispatch_keeps_its_pin BEFORE UPDATE OF pin ON dispatch
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
