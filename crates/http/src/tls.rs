//! TLS with a certificate and its key from files, which are read again when they change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use codelode_base::config::Http;

/// A certificate with its key.
pub(super) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    read: Mutex<Read>,
}

struct Read {
    stamp: Stamp,
    acceptor: TlsAcceptor,
}

type Stamp = [Option<(SystemTime, u64, u64)>; 2];

impl Tls {
    /// TLS of the settings; `None` for a server without.
    pub(super) fn of(http: &Http) -> Result<Option<Self>, String> {
        let (certificate, key) = match (&http.tls_cert, &http.tls_key) {
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (None, None) => return Ok(None),
            _ => return Err("TLS takes a certificate and its key; give --tls-cert and --tls-key".to_owned()),
        };
        let stamp = stamp(&certificate, &key);
        let acceptor = acceptor(&certificate, &key)?;
        if CertificateDer::from_pem_file(&certificate).is_ok_and(|first| is_of_authority(&first)) {
            tracing::warn!(
                "{} is the certificate of an authority (CA:TRUE), which strict clients refuse; give one that it signed, or a self-signed one with CA:FALSE (openssl req -x509 -addext basicConstraints=critical,CA:FALSE)",
                certificate.display()
            );
        }
        Ok(Some(Self { certificate, key, read: Mutex::new(Read { stamp, acceptor }) }))
    }

    /// Acceptor with the newest certificate. Files that do not fit each other are being replaced: the former ones hold
    /// until they do.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let stamp = stamp(&self.certificate, &self.key);
        // A panic leaves either version.
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.stamp != stamp {
            read.stamp = stamp;
            match acceptor(&self.certificate, &self.key) {
                Ok(acceptor) => read.acceptor = acceptor,
                Err(problem) => tracing::error!("{problem}; the former certificate is still in use"),
            }
        }
        read.acceptor.clone()
    }
}

/// Whether a certificate says that it is one of an authority: by its extension of that name, if it is true.
fn is_of_authority(certificate: &[u8]) -> bool {
    // The name of the extension, whether it is critical, and a sequence that begins with true.
    const NAME: &[u8] = &[0x06, 0x03, 0x55, 0x1d, 0x13];
    const CRITICAL: &[u8] = &[0x01, 0x01, 0xff];
    let Some(at) = memchr::memmem::find(certificate, NAME) else { return false };
    let rest = &certificate[at + NAME.len()..];
    let rest = rest.strip_prefix(CRITICAL).unwrap_or(rest);
    matches!(rest, [0x04, _, 0x30, _, 0x01, 0x01, 0xff, ..])
}

fn stamp(certificate: &Path, key: &Path) -> Stamp {
    [certificate, key].map(|path| {
        let file = fs::metadata(path).ok()?;
        Some((file.modified().ok()?, file.len(), file.ino()))
    })
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let unreadable = |path: &Path, err: &dyn std::fmt::Display| format!("cannot read {} as PEM: {err}", path.display());
    let chain = CertificateDer::pem_file_iter(certificate).map_err(|err| unreadable(certificate, &err))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|err| unreadable(certificate, &err))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|err| unreadable(key, &err))?;
    let unfit = |err| format!("{} and {} are of no use: {err}", certificate.display(), key.display());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(unfit)?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, secret).map_err(unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
