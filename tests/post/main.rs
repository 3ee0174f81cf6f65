//! The post office against Maildirs, commands, and two fake servers that misbehave on demand.

mod dispatch;
mod dns;
mod fakes;
mod hostile;
mod imap;
mod maildir;
mod mixups;
mod oauth;
mod quota;
mod sendmail;
mod settings;
mod smtp;
mod spam;
mod support;
