//! Whether a letter bears a DKIM signature of its sender's domain that holds.
