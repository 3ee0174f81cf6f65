//! A token server (RFC 6749, RFC 8628) that rotates its refresh tokens, and refuses those that were replaced.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The parameters of a request.
pub type Form = BTreeMap<String, String>;

pub struct Tokens {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub struct State {
    /// The number of the current refresh token, `refresh-1`. Others are refused.
    pub number: usize,
    /// How long access tokens are good for, in seconds.
    pub lifetime: u64,
    /// What else is in an answer with tokens, such as `,"more":1`.
    pub more: &'static str,
    /// How many polls with a device code are answered with `authorization_pending`.
    pub pending: usize,
    /// An answer to give instead: its status and body.
    pub instead: Option<(u16, &'static str)>,
    /// Whether answers to renewals are held back, while the refresh token is replaced at once.
    pub holds_renewals: bool,
    /// All requests, in order.
    pub requests: Vec<Form>,
}

impl State {
    pub fn count(&self, grant: &str) -> usize {
        self.requests.iter().filter(|form| form.get("grant_type").is_some_and(|found| found == grant)).count()
    }
}

impl Tokens {
    pub async fn start() -> Tokens {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let state = Arc::new(Mutex::new(State { lifetime: 3600, ..State::default() }));
        let all = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let state = Arc::clone(&all);
                tokio::spawn(async move { answer(tcp, &state, port).await.unwrap_or_default() });
            }
        });
        Tokens { port, state }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }
}

async fn answer(tcp: TcpStream, state: &Mutex<State>, port: u16) -> std::io::Result<()> {
    let mut stream = BufReader::new(tcp);
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().expect("a number");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let pairs = String::from_utf8(body).expect("a form");
    let form: Form = pairs.split('&').filter_map(|pair| pair.split_once('=')).map(decoded).collect();
    let is_renewal = form.get("grant_type").is_some_and(|grant| grant == "refresh_token");
    let (status, text) = state.lock().expect("no panic").reply(form, port);
    while is_renewal && state.lock().expect("no panic").holds_renewals {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status} Fake\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{text}"
    );
    stream.get_mut().write_all(answer.as_bytes()).await
}

fn decoded((name, value): (&str, &str)) -> (String, String) {
    let value = value.replace('+', " ");
    (name.to_owned(), percent_encoding::percent_decode_str(&value).decode_utf8_lossy().into_owned())
}

impl State {
    fn reply(&mut self, form: Form, port: u16) -> (u16, String) {
        let grant = form.get("grant_type").cloned().unwrap_or_default();
        let refresh = form.get("refresh_token").cloned();
        self.requests.push(form);
        if let Some((status, text)) = self.instead {
            return (status, text.to_owned());
        }
        match grant.as_str() {
            "" => {
                let page = format!("http://127.0.0.1:{port}/device");
                let text = format!(
                    "{{\"device_code\":\"dev\",\"user_code\":\"ABCD-EFGH\",\"verification_uri\":\"{page}\",\
                     \"expires_in\":900,\"interval\":0}}"
                );
                (200, text)
            }
            "urn:ietf:params:oauth:grant-type:device_code" if self.pending > 0 => {
                self.pending -= 1;
                (400, "{\"error\":\"authorization_pending\"}".to_owned())
            }
            "refresh_token" if refresh != Some(format!("refresh-{}", self.number)) => (
                400,
                "{\"error\":\"invalid_grant\",\"error_description\":\"AADSTS700082: expired\"}".to_owned(),
            ),
            _ => {
                self.number += 1;
                let (number, lifetime, more) = (self.number, self.lifetime, self.more);
                let text = format!(
                    "{{\"access_token\":\"access-{number}\",\"token_type\":\"Bearer\",\"expires_in\":{lifetime},\
                     \"refresh_token\":\"refresh-{number}\"{more}}}"
                );
                (200, text)
            }
        }
    }
}
