-- The ID in a dispatch's return path, by which a bounce is matched where a server changed the Message-ID.

ALTER TABLE dispatch ADD COLUMN return_id TEXT;

CREATE UNIQUE INDEX dispatch_return_id ON dispatch (return_id) WHERE return_id IS NOT NULL;
CREATE TRIGGER dispatch_keeps_its_return_id BEFORE UPDATE OF return_id ON dispatch WHEN OLD.return_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the return path of a dispatch is never changed'); END;
