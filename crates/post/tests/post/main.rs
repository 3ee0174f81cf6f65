//! Mailboxes and mail servers: Maildirs, commands, and two fake servers that misbehave on demand.

mod dns;
mod fakes;
mod folders;
mod hostile;
mod imap;
mod maildir;
mod mixups;
mod moves;
mod oauth;
mod oauth_outbox;
mod proof;
mod sendmail;
mod settings;
mod smtp;
mod spam;
mod support;
mod times;
