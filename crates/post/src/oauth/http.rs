//! One request to a token server: HTTPS by hyper over our own TLS, without redirects.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use oauth2::http::header::{HOST, HeaderValue};
use oauth2::http::{Request, Response, Uri};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::{Error, tls};

/// Time limit for the whole exchange.
const LIMIT: Duration = Duration::from_secs(30);

/// Maximum bytes of an answer. Tokens have a few thousand.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Sends a request and returns the answer, whatever its status is.
pub(super) async fn send(
    request: Request<Vec<u8>>,
    ca_file: Option<PathBuf>,
) -> Result<Response<Vec<u8>>, Error> {
    let host = request.uri().host().unwrap_or_default().to_owned();
    let answer = timeout(LIMIT, send_without_limit(request, ca_file)).await;
    answer.unwrap_or_else(|_elapsed| Err(unreachable(&host, io::ErrorKind::TimedOut.into())))
}

async fn send_without_limit(
    request: Request<Vec<u8>>,
    ca_file: Option<PathBuf>,
) -> Result<Response<Vec<u8>>, Error> {
    let uri = request.uri().clone();
    let host = uri.host().unwrap_or_default().to_owned();
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let tcp = TcpStream::connect((host.as_str(), port)).await.map_err(|error| unreachable(&host, error))?;
    if !is_secure {
        let peer = tcp.peer_addr().map_err(|error| unreachable(&host, error))?;
        if !peer.ip().to_canonical().is_loopback() {
            let text = format!("{uri} is not secure; the address of a token server must begin with https");
            return Err(Error::Configuration(text));
        }
        return exchange(tcp, request, &host).await;
    }
    let trust = tls::client_config(ca_file.as_deref())?;
    let stream = TlsConnector::from(trust).connect(tls::server_name(&host)?, tcp).await;
    exchange(stream.map_err(|error| tls::handshake_fault(&host, error))?, request, &host).await
}

async fn exchange<S>(stream: S, mut request: Request<Vec<u8>>, host: &str) -> Result<Response<Vec<u8>>, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let broken = |error: hyper::Error| unreachable(host, io::Error::other(error));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // The connection does its work on a task of its own; it ends with the sender.
    tokio::spawn(connection);
    let authority = request.uri().authority().map_or("", |authority| authority.as_str());
    let authority = HeaderValue::from_str(authority).map_err(|_| Error::Malformed)?;
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    // hyper's connection sends a request as it is, and only a proxy expects the whole URI.
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| Error::Malformed)?;
    request.headers_mut().insert(HOST, authority);
    let request = request.map(|body| Full::new(Bytes::from(body)));
    let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await.map_err(|_| Error::Malformed)?;
    Ok(Response::from_parts(head, body.to_bytes().to_vec()))
}

fn unreachable(host: &str, error: io::Error) -> Error {
    Error::io(format!("cannot reach the token server {host}"), error)
}
