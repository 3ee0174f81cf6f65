//! Two mail servers, one for SMTP and one for IMAP, and a token server, that behave well unless a test scripts a fault.

pub mod imap;
pub mod smtp;
pub mod tokens;
