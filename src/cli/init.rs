//! `fogpost init`: writes a first config file and creates the mailbox that it names.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::config::presets::{LoginWay, PASSWORD_FILE, Preset};
use crate::config::{Config, EXAMPLE};
use crate::post::inbox::Inbox;
use crate::post::maildir;
use crate::store::private;

/// Write a commented config file, and create an empty mailbox beside it
#[derive(clap::Args)]
pub struct Args {
    /// The provider of the club's mailbox: gmail, microsoft365, outlook, fastmail, icloud, mailbox-org, gmx,
    /// or own for a server of your own. Without it, the club gets a mailbox on this machine, to try it out
    #[arg(long, value_name = "PROVIDER", value_parser = provider)]
    provider: Option<&'static Preset>,
}

fn provider(key: &str) -> Result<&'static Preset, String> {
    Preset::named(key).ok_or_else(|| {
        let known: Vec<_> = Preset::all().iter().map(|preset| preset.key.as_str()).collect();
        format!("known providers are {}; docs/providers.md covers others", known.join(", "))
    })
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let name = config.display();
        // The file may later contain passwords, so others must not be able to read it.
        let mut file = private::create_new(config).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                anyhow::anyhow!("{name} already exists; choose another name with --config FILE")
            } else {
                anyhow::anyhow!("{name}: {error}")
            }
        })?;
        let text = self.provider.map_or(EXAMPLE.to_owned(), Preset::config);
        file.write_all(text.as_bytes()).with_context(|| name.to_string())?;
        match self.provider {
            Some(preset) => prepare_login(preset, config)?,
            None => create_mailbox(config)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Creates the mailbox of the example.
fn create_mailbox(config: &Path) -> anyhow::Result<()> {
    if let Inbox::Maildir(inbox) = Config::load(config)?.inbox {
        maildir::create(&inbox.path).with_context(|| inbox.path.display().to_string())?;
        println!("{} is a mailbox for trying it out.", inbox.path.display());
    }
    let name = config.display();
    println!("{name} is written. Set the club's name and addresses in it, then run: fogpost doctor");
    Ok(())
}

/// Explains how to log in. Creates an empty file for the password, so that the file is private from the
/// beginning.
fn prepare_login(preset: &Preset, config: &Path) -> anyhow::Result<()> {
    println!("{} is written, for {}.", config.display(), preset.name);
    println!("Set the club's name, its addresses and the users in it.");
    let kind = match &preset.login {
        LoginWay::Password(kind) => kind,
        LoginWay::Microsoft(_) => {
            println!(
                "Register a program with Microsoft and set its client_id; docs/providers.md explains how."
            );
            println!("Then log in with: fogpost login. Finally run: fogpost doctor");
            return Ok(());
        }
    };
    let password_file = config.with_file_name(PASSWORD_FILE);
    match private::create_new(&password_file) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error).with_context(|| password_file.display().to_string()),
    }
    println!("Write the password into {}: {kind}.", password_file.display());
    println!("docs/providers.md says what to click at the provider. Then run: fogpost doctor");
    Ok(())
}
