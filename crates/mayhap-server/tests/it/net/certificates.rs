//! TLS, with certificates that are made here.

use super::service::{Client, Server, local, request, serve};
use mayhap_server::net::{ListenOptions, tls};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder with an authority, a certificate of the server and one of a client.
struct Files(PathBuf);

impl Files {
    fn new(test: &str) -> Self {
        let name = format!("mayhap-tls-{test}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let files = Self(folder);
        files.write("ca.pem", &authority.pem());
        for name in ["server", "client", "other"] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            let certificate = params.signed_by(&key, &authority).unwrap();
            files.write(&format!("{name}.pem"), &certificate.pem());
            files.write(&format!("{name}.key"), &key.serialize_pem());
        }
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn serve(&self, client_ca: Option<&Path>) -> Server {
        let config = tls::load(
            &self.path("server.pem"),
            &self.path("server.key"),
            client_ca,
        );
        serve(ListenOptions {
            tls: Some((vec!["127.0.0.1:0".parse().unwrap()], config.unwrap())),
            ..local()
        })
    }

    fn connect(
        &self,
        server: &Server,
        version: &'static SupportedProtocolVersion,
        is_known: bool,
    ) -> Client<StreamOwned<ClientConnection, TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(self.path("ca.pem")).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_protocol_versions(&[version]).unwrap();
        let builder = builder.with_root_certificates(roots);
        let config = if is_known {
            let chain = vec![CertificateDer::from_pem_file(self.path("client.pem")).unwrap()];
            let key = PrivateKeyDer::from_pem_file(self.path("client.key")).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        } else {
            builder.with_no_client_auth()
        };
        let name = ServerName::try_from("localhost").unwrap();
        let session = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(server.running.addresses[1]).unwrap();
        Client(BufReader::new(StreamOwned::new(session, stream)))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const VERSIONS: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS12, &rustls::version::TLS13];

#[test]
fn both_versions_carry_requests_and_replies() {
    let files = Files::new("both");
    let server = files.serve(None);
    for version in VERSIONS {
        let mut client = files.connect(&server, version, false);
        assert_eq!(client.ask("PING"), "+PONG");
        let handles = server.service.clients.lock().unwrap().clone();
        assert!(handles.iter().all(|client| client.is_tls));
        // Larger than all buffers on the way.
        for length in [1, 16_384, 100_000, 5_000_000] {
            let bytes = [
                request(&[b"BIG", length.to_string().as_bytes()]),
                b"PING\r\n".to_vec(),
            ];
            client.send(&bytes.concat());
            assert_eq!(client.line(), format!("${length}"));
            let mut big = vec![0; length + 2];
            client.0.read_exact(&mut big).unwrap();
            assert!(big.starts_with(b"x") && big.ends_with(b"x\r\n"));
            assert_eq!(client.line(), "+PONG");
        }
        let word = vec![b'w'; 3_000_000];
        client.send(&request(&[b"ECHO", &word]));
        assert_eq!(
            (client.line(), client.line()),
            ("*1".into(), "$3000000".into())
        );
        assert_eq!(client.line().len(), word.len());
        client.send(&b"COUNT\r\n".repeat(20_000));
        for _ in 0..20_000 {
            assert!(client.line().starts_with(':'));
        }
        assert_eq!(client.ask("QUIT"), "+OK");
        assert!(client.is_closed());
    }
    // Plain ones are served beside.
    assert_eq!(server.client().ask("PING"), "+PONG");
    server.stop();
}

#[test]
fn only_clients_with_a_certificate_are_let_in_when_one_is_wanted() {
    let files = Files::new("clients");
    let server = files.serve(Some(&files.path("ca.pem")));
    for version in VERSIONS {
        let mut known = files.connect(&server, version, true);
        assert_eq!(known.ask("PING"), "+PONG");
        let mut stranger = files.connect(&server, version, false);
        let asked = stranger.0.get_mut().write_all(b"PING\r\n");
        let mut answer = String::new();
        let read = stranger.0.read_to_string(&mut answer);
        assert!(asked.is_err() || read.is_err());
        assert_eq!(answer, "");
        assert_eq!(known.ask("PING"), "+PONG");
    }
    server.stop();
}

#[test]
fn a_client_without_tls_is_closed() {
    let files = Files::new("plain");
    let server = files.serve(None);
    let mut stranger = TcpStream::connect(server.running.addresses[1]).unwrap();
    stranger.write_all(b"PING\r\nPING\r\nPING\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stranger.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"+PONG"));
    server.stop();
}

#[test]
fn wrong_files_are_named_in_one_line() {
    let files = Files::new("wrong");
    files.write("empty.pem", "");
    files.write(
        "noise.pem",
        "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n",
    );
    let ca = Some("empty.pem");
    for (certificate, key, client_ca, named, problem) in [
        ("none.pem", "server.key", None, "none.pem", "cannot be read"),
        (
            "empty.pem",
            "server.key",
            None,
            "empty.pem",
            "does not have a certificate",
        ),
        (
            "noise.pem",
            "server.key",
            None,
            "noise.pem",
            "does not have a certificate",
        ),
        (
            "server.key",
            "server.key",
            None,
            "server.key",
            "does not have a certificate",
        ),
        ("server.pem", "none.key", None, "none.key", "cannot be read"),
        (
            "server.pem",
            "server.pem",
            None,
            "server.pem",
            "does not have a private key",
        ),
        (
            "server.pem",
            "other.key",
            None,
            "other.key",
            "keys may not be consistent",
        ),
        (
            "server.pem",
            "server.key",
            ca,
            "empty.pem",
            "does not have a certificate",
        ),
    ] {
        let client_ca = client_ca.map(|name| files.path(name));
        let (certificate, key) = (files.path(certificate), files.path(key));
        let error = tls::load(&certificate, &key, client_ca.as_deref()).unwrap_err();
        assert_eq!(error.path, files.path(named));
        let line = error.to_string();
        assert!(line.contains(named) && line.contains(problem), "{line}");
        assert!(line.contains("; give a PEM file with"), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
