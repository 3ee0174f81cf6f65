//! Letters that decisions write: worded, limited, sent again, and returned.

pub mod alarms;
pub mod answers;
pub mod budgets;
pub mod gms;
pub mod mail;
pub mod rating_mail;
pub mod resend;
pub mod returned;
pub mod ruling_mail;
