-- What a dispatch was, to whom and when, stands like its bytes, and when it was sent once it was. How far it has come
-- until then is another matter.

CREATE TRIGGER dispatch_is_not_changed
BEFORE UPDATE OF id, message_id, recipient, kind, match_id, seat, answers, asked, created_at ON dispatch
BEGIN SELECT RAISE(ABORT, 'a dispatch is never changed'); END;
CREATE TRIGGER dispatch_is_not_deleted BEFORE DELETE ON dispatch
BEGIN SELECT RAISE(ABORT, 'a dispatch is never deleted'); END;
CREATE TRIGGER dispatch_is_sent_once BEFORE UPDATE OF sent_at ON dispatch WHEN OLD.sent_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a dispatch is sent once'); END;
