-- Logins at mail providers, sealed with a key that is not in the database. Several daemons share one, and the holder of
-- the lease renews it.

CREATE TABLE login (
    name         TEXT   PRIMARY KEY,
    sealed       BYTEA  NOT NULL,
    version      BIGINT NOT NULL, -- counts how often it was replaced
    holder       TEXT,
    leased_until BIGINT           -- by the clock of the database
);
