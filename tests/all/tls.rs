//! A server over HTTP with TLS, and its certificates.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::web::{PATIENCE, Reply, Site};

/// Writes a new certificate for this machine, with its key.
pub fn certify(folder: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
    fs::write(folder.join("cert.pem"), made.cert.pem()).expect("the folder is ours");
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("the folder is ours");
}

/// The answer to a probe from a client that trusts this certificate alone.
fn probe(site: &Site, certificate: &Path) -> std::io::Result<String> {
    get(site.connect(), certificate, "/healthz")
}

/// The answer to a request over TLS.
pub fn get(stream: TcpStream, certificate: &Path, path: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).expect("it is one")).expect("it may be trusted");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("ring knows them").with_root_certificates(roots).with_no_client_auth();
    let name = "localhost".try_into().expect("it is a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("it can connect");
    let mut stream = StreamOwned::new(connection, stream);
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn a_certificate_is_served_and_replaced_without_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    certify(folder.path());
    let flags = ["--tls-cert", certificate.to_str().expect("a path"), "--tls-key", key.to_str().expect("a path")];
    let site = Site::start(&flags);
    assert!(probe(&site, &certificate).expect("it is trusted").starts_with("HTTP/1.1 200"));
    let former = folder.path().join("former.pem");
    fs::copy(&certificate, &former).expect("there is room");

    // Half of a replacement does not end the service.
    fs::write(&key, "no key").expect("the folder is ours");
    assert!(probe(&site, &former).is_ok());
    certify(folder.path());
    let begun = Instant::now();
    while probe(&site, &certificate).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the new certificate is not used");
    }
    assert!(probe(&site, &former).is_err(), "the former one is gone");

    // A client without TLS gets no answer, and keeps no other out.
    let mut plain = site.connect();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("it listens");
    assert_eq!(Reply::read(&mut plain).status, 0);
    assert!(probe(&site, &certificate).is_ok());
}

#[test]
fn a_certificate_of_an_authority_is_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    let flags = ["--tls-cert", certificate.to_str().expect("a path"), "--tls-key", key.to_str().expect("a path")];
    for (is_ca, is_warned_of) in [
        (rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained), true),
        (rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0)), true),
        (rcgen::IsCa::ExplicitNoCa, false),
        (rcgen::IsCa::NoCa, false),
    ] {
        let mut of = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        of.is_ca = is_ca;
        let signing_key = rcgen::KeyPair::generate().expect("random bytes");
        fs::write(&certificate, of.self_signed(&signing_key).expect("it is whole").pem()).expect("the folder is ours");
        fs::write(&key, signing_key.serialize_pem()).expect("the folder is ours");
        let site = Site::start(&flags);
        assert_eq!(site.log().contains("CA:FALSE"), is_warned_of, "{}", site.log());
    }
}

#[test]
fn half_a_certificate_is_refused_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    certify(folder.path());
    let certificate = folder.path().join("cert.pem");
    let certificate = certificate.to_str().expect("a path");
    assert!(Site::refused(&["--tls-cert", certificate], &[]).contains("--tls-key"));
    let said = Site::refused(&["--tls-cert", certificate, "--tls-key", certificate], &[]);
    assert!(said.contains("as PEM"), "{said}");
}
