//! Letters that decisions write: wording and limiting them, sending them again, and dealing with returned
//! ones.

pub mod alarms;
pub mod answers;
pub mod budgets;
pub mod fog;
pub mod gms;
pub mod mail;
pub mod rating_mail;
pub mod resend;
pub mod returned;
pub mod ruling_mail;
