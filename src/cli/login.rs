//! `fogpost login`: lets a person log in once at the provider of the club's mailbox, which replaces a
//! password.

use std::io::BufRead as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::config::Config;
use crate::post::oauth;

/// Time limit for a connection to send a request.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// Time limit for a person to log in in the browser.
const BROWSER_LIMIT: Duration = Duration::from_secs(5 * 60);

/// Maximum bytes to read of the browser's request.
const MAX_REQUEST_BYTES: u64 = 16 * 1024;

/// Log in at the provider of the mailbox, for [inbox.imap.oauth] and [outbox.smtp.oauth]
///
/// Shows a page to open and a code to enter there, on any device. If the provider has no such codes, shows a
/// page to open on this machine. The daemon uses a new login at once, without a restart. Each machine of the
/// club needs its own login.
#[derive(clap::Args)]
pub struct Args {
    /// Log in with a browser on another machine, and paste the address of the page it ends on
    #[arg(long)]
    paste: bool,
}

impl Args {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let config = Config::load(path)?;
        if config.oauth_logins().is_empty() {
            bail!(
                "{} has no [inbox.imap.oauth] or [outbox.smtp.oauth]; passwords need no login",
                path.display()
            );
        }
        super::block_on(async {
            for login in config.oauth_logins() {
                self.log_in(login).await?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }

    async fn log_in(&self, login: &oauth::OauthLogin) -> anyhow::Result<()> {
        match login.device_url() {
            Some(_) if !self.paste => by_device_code(login).await?,
            Some(_) | None if self.paste => by_pasted_address(login).await?,
            Some(_) | None => in_browser(login).await?,
        }
        println!("Logged in; the tokens are in {}.", login.token_file.display());
        Ok(())
    }
}

async fn by_device_code(login: &oauth::OauthLogin) -> anyhow::Result<()> {
    let waiting = login.begin_device_login().await?;
    println!("Open {} on any device and enter the code {}", waiting.page(), waiting.code());
    println!("Log in there as the owner of the club's mailbox. Waiting ...");
    Ok(login.finish_device_login(&waiting).await?)
}

async fn in_browser(login: &oauth::OauthLogin) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("failed to listen on 127.0.0.1")?;
    let port = listener.local_addr()?.port();
    let waiting = login.begin_browser_login(format!("http://127.0.0.1:{port}/"))?;
    println!("Open this page on this machine, and log in as the owner of the club's mailbox:");
    println!("{}", waiting.page);
    let target = timeout(BROWSER_LIMIT, answer_one_request(&listener));
    let target = target.await.context("nobody logged in within five minutes")??;
    Ok(login.finish_browser_login(waiting, &target).await?)
}

/// Waits for the browser's request, says that the page can be closed, and returns its path and query.
async fn answer_one_request(listener: &TcpListener) -> anyhow::Result<String> {
    let (mut browser, line) = loop {
        let (tcp, _) = listener.accept().await?;
        let mut browser = BufReader::new(tcp);
        let mut line = String::new();
        let mut request = (&mut browser).take(MAX_REQUEST_BYTES);
        // Browsers open connections in advance, and may send the request over a later one.
        if let Ok(Ok(1..)) = timeout(REQUEST_LIMIT, request.read_line(&mut line)).await {
            break (browser, line);
        }
    };
    let text = "fogpost has the answer; see its terminal. You can close this page.\n";
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: \
         close\r\n\r\n{text}"
    );
    browser.get_mut().write_all(answer.as_bytes()).await?;
    browser.get_mut().shutdown().await?;
    line.split(' ').nth(1).map(ToOwned::to_owned).context("the browser's request is malformed")
}

async fn by_pasted_address(login: &oauth::OauthLogin) -> anyhow::Result<()> {
    // Nobody listens there, so the browser shows an error, and the address to paste.
    let waiting = login.begin_browser_login("http://127.0.0.1/".to_owned())?;
    println!("Open this page in any browser, and log in as the owner of the club's mailbox:");
    println!("{}", waiting.page);
    println!("At the end the browser cannot open a page at 127.0.0.1. Paste the address of that page here:");
    let mut pasted = String::new();
    std::io::stdin().lock().read_line(&mut pasted).context("failed to read standard input")?;
    Ok(login.finish_browser_login(waiting, pasted.trim()).await?)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn a_connection_without_a_request_is_not_the_browsers_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        drop(TcpStream::connect(address).await.expect("a connection"));
        let mut browser = TcpStream::connect(address).await.expect("a connection");
        browser.write_all(b"GET /?code=1&state=2 HTTP/1.1\r\n\r\n").await.expect("it is sent");
        assert_eq!(answer_one_request(&listener).await.expect("a request"), "/?code=1&state=2");
    }
}
