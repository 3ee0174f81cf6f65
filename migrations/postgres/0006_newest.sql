-- Answers are asked for of the last hour: those of an hour lie together, so that new ones are written side by side
-- however many readers there are. And few dispatches are ever given up.

DROP INDEX dispatch_by_recipient;
CREATE INDEX dispatch_by_hour ON dispatch ((created_at / 3600000), recipient) WHERE answers IS NOT NULL;

DROP INDEX dispatch_unsent;
CREATE INDEX dispatch_given_up ON dispatch (id) WHERE sent_at IS NULL AND due_at IS NULL;
