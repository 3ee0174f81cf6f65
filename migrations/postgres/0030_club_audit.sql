-- What CLUB says of matches and letters: which entry verified a match up to where, and which lists a delivery.

CREATE TABLE verified (
    match_id TEXT   COLLATE "C" NOT NULL REFERENCES match (id),
    seq      BIGINT NOT NULL, -- of the last entry of the match's ledger then
    book_seq BIGINT NOT NULL, -- of the entry in CLUB
    PRIMARY KEY (match_id, seq)
);

CREATE TABLE late_delivery (
    dispatch_id BIGINT PRIMARY KEY REFERENCES dispatch (id),
    book_seq    BIGINT NOT NULL
);
CREATE INDEX late_delivery_by_entry ON late_delivery (book_seq);
