//! TLS 1.2 and 1.3, with PEM files.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why TLS cannot be set up: one line that names the file and says what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
    /// What to do.
    pub advice: &'static str,
}

impl fmt::Display for TlsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, problem) = (self.path.display(), &self.problem);
        write!(formatter, "{path}: {problem}; {}", self.advice)
    }
}

impl std::error::Error for TlsError {}

const CERTIFICATE: &str = "give a PEM file with the server's certificate and those that signed it";
const KEY: &str = "give a PEM file with the private key, not encrypted, of the certificate";
const CLIENT_CA: &str = "give a PEM file with the certificates that sign those of clients";

/// Reads a certificate chain and its key. With `client_ca`, clients must present a certificate that was signed by one of those.
///
/// # Errors
/// When a file cannot be read, or is not what it should be.
pub fn load(
    certificate: &Path,
    key: &Path,
    client_ca: Option<&Path>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(default_provider());
    let chain = certificates(certificate, CERTIFICATE)?;
    let private_key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| invalid_file(key, &tls_error(&error, "a private key"), KEY))?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid_file(certificate, &error, CERTIFICATE))?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(path, CLIENT_CA)? {
                let added = roots.add(root);
                added.map_err(|error| invalid_file(path, &error, CLIENT_CA))?;
            }
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(
                verifier.map_err(|error| invalid_file(path, &error, CLIENT_CA))?,
            )
        }
    };
    let config = builder.with_single_cert(chain, private_key);
    let config = config.map_err(|error| invalid_file(key, &error, KEY))?;
    Ok(Arc::new(config))
}

fn certificates(
    path: &Path,
    advice: &'static str,
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found =
        found.map_err(|error| invalid_file(path, &tls_error(&error, "a certificate"), advice))?;
    if found.is_empty() {
        return Err(invalid_file(path, &"does not have a certificate", advice));
    }
    Ok(found)
}

fn tls_error(error: &PemError, what: &str) -> String {
    match error {
        PemError::Io(error) => format!("cannot be read: {error}"),
        PemError::NoItemsFound => format!("does not have {what}"),
        other => format!("does not have {what}: {other}"),
    }
}

fn invalid_file(path: &Path, problem: &dyn fmt::Display, advice: &'static str) -> TlsError {
    // Only the first line of the library's message.
    let problem = problem.to_string().replace(['\r', '\n'], " ");
    TlsError {
        path: path.to_owned(),
        problem,
        advice,
    }
}
