//! Buckets of object stores: S3 and what speaks its protocol, Google Cloud Storage, Azure.
//!
//! The protocols are `object_store`'s, which takes credentials and endpoints from the variables that the clouds' own
//! tools read. Every request goes through [`net::Client`], with its guard on hosts and its limits.

use std::time::{Duration, SystemTime};

use http_body_util::BodyExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig, UpdateVersion};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use super::Error;
use super::listing::OBJECT;
use super::place::{Place, PlaceEntry, WriteCondition};
use codelode_net as net;

/// Schemes of URLs that name a bucket.
pub(super) const SCHEMES: [&str; 3] = ["s3", "gs", "az"];
/// The longest answer: an object that does not get smaller when it is packed, and some room.
const MOST: u64 = 2 * OBJECT;
/// Times that a request is sent again after a failure that may pass, and the longest time for all of them.
const RETRIES: (usize, Duration) = (5, Duration::from_secs(60));

/// A folder in a bucket.
pub(super) struct Bucket {
    url: Url,
    store: Box<dyn ObjectStore>,
    runtime: Runtime,
}

impl Bucket {
    /// The bucket that a URL names: `s3://bucket/folder`.
    pub fn open(url: Url, client: &net::Client) -> Result<Self, Error> {
        let name = url.host_str().unwrap_or_default();
        let connector = Connector(client.clone());
        let retry = RetryConfig { max_retries: RETRIES.0, retry_timeout: RETRIES.1, ..RetryConfig::default() };
        // Whether TLS may be left out is for the client's guard to say.
        let store: Result<Box<dyn ObjectStore>, _> = match url.scheme() {
            "s3" => AmazonS3Builder::from_env()
                .with_bucket_name(name)
                .with_allow_http(true)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Box::new(store) as _),
            "gs" => GoogleCloudStorageBuilder::from_env()
                .with_bucket_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Box::new(store) as _),
            _ => MicrosoftAzureBuilder::from_env()
                .with_container_name(name)
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| Box::new(store) as _),
        };
        let store = store.map_err(|source| Error::Bucket { place: url.to_string(), source: Box::new(source) })?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.map_err(Error::io("cannot start a thread for", url.as_str()))?;
        Ok(Self { url, store, runtime })
    }

    fn path(&self, path: &str) -> Path {
        Path::from(format!("{}/{path}", self.url.path()))
    }

    fn failed(&self, source: object_store::Error) -> Error {
        Error::Bucket { place: self.shown(), source: Box::new(source) }
    }
}

impl Place for Bucket {
    fn shown(&self) -> String {
        self.url.to_string()
    }

    fn get(&self, path: &str, most: u64) -> Result<Option<(Vec<u8>, String)>, Error> {
        let path = self.path(path);
        let read = async {
            let found = self.store.get(&path).await?;
            let (size, tag) = (found.meta.size, found.meta.e_tag.clone());
            let bytes = if size > most { None } else { Some(found.bytes().await?) };
            Ok((bytes, tag.unwrap_or_default()))
        };
        match self.runtime.block_on(read) {
            Ok((Some(bytes), tag)) if bytes.len() as u64 <= most => Ok(Some((bytes.into(), tag))),
            Ok(_) => Err(Error::damaged(&format!("{}: {path}", self.shown()), "it is larger than announced")),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn put(&self, path: &str, bytes: &[u8], when: WriteCondition<'_>) -> Result<bool, Error> {
        let mode = match when {
            WriteCondition::Always => PutMode::Overwrite,
            WriteCondition::Absent => PutMode::Create,
            WriteCondition::Is(tag) => PutMode::Update(UpdateVersion { e_tag: Some(tag.to_owned()), version: None }),
        };
        let is_sure = mode == PutMode::Overwrite;
        let path = self.path(path);
        let put = self.store.put_opts(&path, bytes.to_vec().into(), PutOptions { mode, ..PutOptions::default() });
        match self.runtime.block_on(put) {
            Ok(_) => Ok(true),
            // The object to replace may have gone.
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotFound { .. },
            ) if !is_sure => Ok(false),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<PlaceEntry>, Error> {
        let folder = self.path(folder);
        let listed = self.runtime.block_on(self.store.list_with_delimiter(Some(&folder)));
        let objects = listed.map_err(|source| self.failed(source))?.objects;
        let found = |object: object_store::ObjectMeta| {
            let age = SystemTime::now().duration_since(object.last_modified.into()).unwrap_or_default();
            Some(PlaceEntry { name: object.location.filename()?.to_owned(), age })
        };
        Ok(objects.into_iter().filter_map(found).collect())
    }

    fn folders(&self, folder: &str) -> Result<Option<Vec<String>>, Error> {
        let folder = self.path(folder);
        let listed = self.runtime.block_on(self.store.list_with_delimiter(Some(&folder)));
        let prefixes = listed.map_err(|source| self.failed(source))?.common_prefixes;
        let names = prefixes.into_iter().filter_map(|prefix| prefix.filename().map(str::to_owned));
        Ok(Some(names.filter(|name| !name.starts_with('.')).collect()))
    }

    fn tag(&self, path: &str, _: u64) -> Result<Option<String>, Error> {
        match self.runtime.block_on(self.store.head(&self.path(path))) {
            Ok(found) => Ok(Some(found.e_tag.unwrap_or_default())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn remove(&self, path: &str) -> Result<(), Error> {
        match self.runtime.block_on(self.store.delete(&self.path(path))) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(self.failed(source)),
        }
    }
}

/// Gives `object_store` the client of this program.
#[derive(Debug)]
struct Connector(net::Client);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service(self.0.clone())))
    }
}

/// See [`Connector`].
#[derive(Debug)]
struct Service(net::Client);

#[async_trait::async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let unfit =
            |why: &dyn std::fmt::Display| HttpError::new(HttpErrorKind::Unknown, net::Error::BadUrl(why.to_string()));
        let (head, body) = request.into_parts();
        let method = match head.method.as_str() {
            "GET" => net::Method::Get,
            "HEAD" => net::Method::Head,
            "PUT" => net::Method::Put,
            "POST" => net::Method::Post,
            "DELETE" => net::Method::Delete,
            other => return Err(unfit(&other)),
        };
        let url = Url::parse(&head.uri.to_string()).map_err(|err| unfit(&err))?;
        let headers = head.headers.iter();
        let headers = headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let request = net::Request {
            method,
            headers: headers.collect(),
            body: body.collect().await?.to_bytes().to_vec(),
            limit: MOST,
            // `object_store` decides what is sent again.
            attempts: 1,
            is_signed: true,
            ..net::Request::get(url)
        };
        let client = self.0.clone();
        let answer = tokio::task::spawn_blocking(move || client.fetch(&request)).await;
        let answer = answer.map_err(|err| HttpError::new(HttpErrorKind::Unknown, err))?.map_err(failure)?;
        let mut response = HttpResponse::new(answer.bytes.into());
        *response.status_mut() = answer.head.status.try_into().map_err(|_| unfit(&answer.head.status))?;
        *response.headers_mut() = answer.head.headers().clone();
        Ok(response)
    }
}

/// A failure in `object_store`'s words: only one that may pass is tried again.
fn failure(err: net::Error) -> HttpError {
    let kind = if err.is_passing() { HttpErrorKind::Interrupted } else { HttpErrorKind::Unknown };
    HttpError::new(kind, err)
}
