//! Advice in place of content that cannot be read.

use crate::letter::UnreadableContent;

/// Returns a sentence that explains the fault to the sender, and what to send instead.
pub fn advice(what: UnreadableContent) -> &'static str {
    match what {
        UnreadableContent::Encrypted => {
            "Your letter is encrypted, and I cannot open it. Please send it unencrypted."
        }
        UnreadableContent::OpaqueSigned => {
            "Your letter is signed in a way that hides its text (S/MIME, \"opaque\"). Please send it without a signature, or clear-signed."
        }
        UnreadableContent::Winmail => {
            "Your letter came as winmail.dat, which only Outlook can open. Please send it as plain text."
        }
        UnreadableContent::OfficeDocument => {
            "Your letter holds only a document. Please write your orders into the letter itself."
        }
        UnreadableContent::Pdf => {
            "Your letter holds only a PDF. Please write your orders into the letter itself."
        }
        UnreadableContent::Picture => {
            "Your letter holds only a picture. Please write your orders into the letter itself."
        }
        UnreadableContent::Forwarded => {
            "Your letter holds only another letter, attached. Please write your orders into the letter itself."
        }
        UnreadableContent::OtherFile => {
            "Your letter holds only a file. Please write your orders into the letter itself."
        }
    }
}
