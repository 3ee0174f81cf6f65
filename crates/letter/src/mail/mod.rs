//! Letters as mail: addresses, header fields, MIME structure, charsets, limits, and marks of our own mail.

pub mod address;
pub mod bounded_head;
pub mod charset;
pub mod dialect;
pub mod digest;
pub mod header;
pub mod identity;
pub mod limits;
pub mod pictures;
pub mod recipients;
pub mod return_id;
pub mod structure;
pub mod subject;
