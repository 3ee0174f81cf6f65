//! The post office against Maildirs, commands, and two fake servers that misbehave on demand.

mod club;
mod dispatch;
mod dns;
mod fakes;
mod folders;
mod hostile;
mod imap;
mod logins;
mod maildir;
mod mixups;
mod moves;
mod oauth;
#[path = "../support/place.rs"]
#[allow(dead_code, reason = "shared with the tests of the store")]
mod place;
mod providers;
mod quota;
mod refused;
mod sendmail;
mod settings;
mod smtp;
mod spam;
mod support;
