-- What CLUB says of matches and letters: which entry verified a match up to where, and which lists a delivery.

CREATE TABLE verified (
    match_id TEXT    NOT NULL REFERENCES match (id),
    seq      INTEGER NOT NULL, -- of the last entry of the match's ledger then
    book_seq INTEGER NOT NULL, -- of the entry in CLUB
    PRIMARY KEY (match_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE late_delivery (
    dispatch_id INTEGER PRIMARY KEY REFERENCES dispatch (id),
    book_seq    INTEGER NOT NULL
) STRICT;
CREATE INDEX late_delivery_by_entry ON late_delivery (book_seq);
