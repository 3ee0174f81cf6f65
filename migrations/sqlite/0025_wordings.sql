-- The templates and settings that letters were worded with, so that the audit can word them again after a change.

CREATE TABLE wording (
    digest   TEXT PRIMARY KEY NOT NULL CHECK (length(digest) = 64), -- as entries name it
    contents TEXT NOT NULL -- JSON
) STRICT;

CREATE TRIGGER wording_is_not_changed BEFORE UPDATE ON wording
BEGIN SELECT RAISE(ABORT, 'a wording is never changed'); END;
CREATE TRIGGER wording_is_not_deleted BEFORE DELETE ON wording
BEGIN SELECT RAISE(ABORT, 'a wording is never deleted'); END;
