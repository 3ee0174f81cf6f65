//! The program `fogpost`: parses the command line and calls the library.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match fogpost::cli::Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fogpost: {error:#}");
            ExitCode::FAILURE
        }
    }
}
