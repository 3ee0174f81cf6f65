-- The templates and settings that letters were worded with, so that the audit can word them again after a change.

CREATE TABLE wording (
    digest   TEXT COLLATE "C" PRIMARY KEY CHECK (length(digest) = 64), -- as entries name it
    contents TEXT NOT NULL -- JSON
);

CREATE TRIGGER wording_is_not_changed BEFORE UPDATE ON wording
    FOR EACH ROW EXECUTE FUNCTION refuse('a wording is never changed');
CREATE TRIGGER wording_is_not_deleted BEFORE DELETE ON wording
    FOR EACH ROW EXECUTE FUNCTION refuse('a wording is never deleted');
CREATE TRIGGER wording_is_not_truncated BEFORE TRUNCATE ON wording
    EXECUTE FUNCTION refuse('a wording is never deleted');
