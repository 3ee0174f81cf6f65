-- Logins at mail providers, sealed with a key that is not in the database. Several daemons share one, and the holder of
-- the lease renews it.

CREATE TABLE login (
    name         TEXT    PRIMARY KEY,
    sealed       BLOB    NOT NULL,
    version      INTEGER NOT NULL, -- counts how often it was replaced
    holder       TEXT,
    leased_until INTEGER           -- by the clock of the database
) STRICT;
