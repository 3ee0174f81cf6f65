//! The post office against Maildirs, commands and two fake servers that misbehave on demand.

mod maildir;
mod sendmail;
mod support;
