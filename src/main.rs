//! The program `fogpost`: parses the command line and calls the library.

use std::process::ExitCode;

use clap::Parser;
use fogpost::letter::printable::printable_text;

fn main() -> ExitCode {
    // Before anything needs a time zone, the command line included.
    fogpost::cli::zones::use_newest();
    match fogpost::cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fogpost: {}", printable_text(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
