//! Lists stored embeddings, for people at a terminal.

use serde::Serialize;

use codelode_store::Registry;

/// Embeddings of a store by one model.
#[derive(Debug, Serialize)]
pub struct StoredEmbeddings {
    /// The checkouts that share them.
    pub repos: Vec<String>,
    /// Identity of the model.
    pub model: String,
    /// Number of texts.
    pub texts: usize,
    /// Dimensions of each vector.
    pub dimensions: usize,
    /// Size of the file.
    pub bytes: u64,
}

/// Embeddings of all stores.
pub fn stored(registry: &Registry) -> Vec<StoredEmbeddings> {
    let sidecars = registry.all();
    let mut all = Vec::new();
    for store in registry.stores().0 {
        let key = store.key();
        let own = sidecars.iter().filter(|sidecar| sidecar.store == key);
        let repos: Vec<String> = own.map(|sidecar| sidecar.repo.clone()).collect();
        all.extend(store.all_vectors().into_iter().map(|table| StoredEmbeddings {
            repos: repos.clone(),
            model: table.identity().to_owned(),
            texts: table.len(),
            dimensions: table.dimensions(),
            bytes: table.bytes(),
        }));
    }
    all
}
