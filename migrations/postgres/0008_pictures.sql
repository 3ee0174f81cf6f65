-- The text of a sent letter is stored compressed, its picture in a table of its own. Letters that are stored already
-- stay whole: they are immutable, and the program reads both forms.

ALTER TABLE dispatch_raw ADD COLUMN form BIGINT NOT NULL DEFAULT 0; -- 0: whole bytes; 1: deflated, without the picture
-- PostgreSQL would only try in vain to compress them again.
ALTER TABLE dispatch_raw ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE dispatch_picture (
    dispatch_id BIGINT PRIMARY KEY REFERENCES dispatch (id),
    place       BIGINT NOT NULL, -- the offset in the text at which the picture's base64 belongs
    picture     BYTEA  NOT NULL
);
ALTER TABLE dispatch_picture ALTER COLUMN picture SET STORAGE EXTERNAL;

CREATE TRIGGER dispatch_picture_is_not_changed BEFORE UPDATE ON dispatch_picture
    FOR EACH ROW EXECUTE FUNCTION refuse('a dispatch is never changed');
CREATE TRIGGER dispatch_picture_is_not_deleted BEFORE DELETE ON dispatch_picture
    FOR EACH ROW EXECUTE FUNCTION refuse('a dispatch is never deleted');
CREATE TRIGGER dispatch_picture_is_not_truncated BEFORE TRUNCATE ON dispatch_picture
    EXECUTE FUNCTION refuse('a dispatch is never deleted');
