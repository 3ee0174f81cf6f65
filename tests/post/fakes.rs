//! Two mail servers, one for SMTP and one for IMAP, that do as they should until the test tells them otherwise.

pub mod imap;
pub mod smtp;
