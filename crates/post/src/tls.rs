//! Trust in mail servers: their certificates, and the connections that need none.

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use super::Error;

/// Trusts only the authorities in `ca_file`. Without a file, trusts those of the system, or Mozilla's if the
/// system has none.
pub(super) fn client_config(ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring offers TLS 1.2 and 1.3")
        .with_root_certificates(roots(ca_file)?)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = ca_file {
        for certificate in CertificateDer::pem_file_iter(path).map_err(|e| ca_fault(path, &e))? {
            roots.add(certificate.map_err(|e| ca_fault(path, &e))?).map_err(|e| ca_fault(path, &e))?;
        }
        if roots.is_empty() {
            return Err(ca_fault(path, &"it contains no certificate"));
        }
        return Ok(roots);
    }
    // Skip certificates that rustls cannot parse: one of them must not keep us from trusting the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(roots)
}

fn ca_fault(file: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::Configuration(format!("ca_file {}: {why}", file.display()))
}

pub(super) fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| Error::Configuration(format!("{host} is not a valid name for a certificate")))
}

/// Allows an unprotected connection only to this machine, because passwords and letters go over it.
pub(super) fn allow_plain(peer: IpAddr) -> Result<(), Error> {
    if peer.to_canonical().is_loopback() {
        return Ok(());
    }
    Err(Error::Configuration(
        "tls = \"none\" is allowed only on this machine; set \"tls\" or \"starttls\"".to_owned(),
    ))
}

/// Explains that a port speaks TLS from the first byte.
pub(super) fn speaks_tls(port: u16, section: &str, other: u16) -> String {
    format!("port {port} speaks TLS from the start: set {section}.tls = \"tls\", or port = {other}")
}

/// Explains that a port begins without TLS.
pub(super) fn speaks_starttls(port: u16, section: &str, other: u16) -> String {
    format!("port {port} begins without TLS: set {section}.tls = \"starttls\", or port = {other}")
}

/// Maps a failed handshake: a rejected certificate is a configuration fault, everything else is transient.
pub(super) fn handshake_fault(host: &str, error: io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(why)) => {
            Error::Configuration(format!("the certificate of {host} was rejected: {why:?}"))
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            let cause =
                "the server answers without TLS on this port; try tls = \"starttls\", or the port for TLS";
            Error::io(format!("no secure connection to {host}"), io::Error::other(cause))
        }
        _ => Error::io(format!("no secure connection to {host}"), error),
    }
}

/// Explains why a server without TLS from the start has not greeted us in time.
pub(super) fn silent_greeting(host: &str, port: u16) -> Error {
    let cause = "the server says nothing; if this port speaks TLS from the start, set tls = \"tls\"";
    Error::io(format!("no greeting from {host}:{port}"), io::Error::new(io::ErrorKind::TimedOut, cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_connection_is_allowed_to_this_machine_only() {
        for (ip, allowed) in
            [("127.0.0.1", true), ("127.8.8.8", true), ("::1", true), ("::ffff:127.0.0.1", true)]
        {
            assert_eq!(allow_plain(ip.parse().expect("an address")).is_ok(), allowed, "{ip}");
        }
        for ip in ["10.0.0.1", "192.168.1.1", "::2", "0.0.0.0"] {
            let error = allow_plain(ip.parse().expect("an address")).expect_err(ip);
            assert!(!error.is_transient());
        }
    }

    #[test]
    fn a_ca_file_without_a_certificate_is_a_configuration_fault() {
        let missing = client_config(Some(Path::new("/nowhere/ca.pem"))).expect_err("missing");
        assert!(matches!(missing, Error::Configuration(ref text) if text.contains("/nowhere/ca.pem")));
        let empty = tempfile::NamedTempFile::new().expect("a file");
        assert!(client_config(Some(empty.path())).is_err());
    }
}
