//! The program between a mailbox and mail servers that misbehave on demand.

mod club;
mod dispatch;
#[path = "../../crates/post/tests/post/fakes/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the post office")]
mod fakes;
mod logins;
mod moves;
#[path = "../../crates/post/tests/post/oauth_outbox.rs"]
mod oauth_outbox;
#[path = "../support/place.rs"]
#[allow(dead_code, reason = "shared with the tests of the store")]
mod place;
mod providers;
mod quota;
mod refused;
#[path = "../../crates/post/tests/post/support.rs"]
#[allow(dead_code, reason = "shared with the tests of the post office")]
mod support;
