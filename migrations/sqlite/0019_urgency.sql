-- What goes first when not everything can be sent, and how much was sent: providers limit both.

ALTER TABLE dispatch ADD COLUMN urgency INTEGER NOT NULL DEFAULT 4; -- 0 goes first

UPDATE dispatch SET urgency = CASE
    WHEN kind = 'alarm' THEN 0
    WHEN kind = 'answer' AND match_id IS NOT NULL THEN 1
    WHEN kind IN ('report', 'invitation') THEN 2
    WHEN kind = 'answer' THEN 5
    WHEN kind = 'reminder' THEN 6
    ELSE 4
END WHERE due_at IS NOT NULL;

DROP INDEX dispatch_due;
CREATE INDEX dispatch_queue ON dispatch (urgency, due_at, created_at) WHERE due_at IS NOT NULL;

-- How many letters were sent in each minute. The program deletes rows of past days.
CREATE TABLE sending (
    minute  INTEGER NOT NULL, -- when it begins
    urgency INTEGER NOT NULL,
    sent    INTEGER NOT NULL,
    PRIMARY KEY (minute, urgency)
) STRICT;
