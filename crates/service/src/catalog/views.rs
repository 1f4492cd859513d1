//! The state of a process for each of its callers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Context;
use codelode_base::model::Rights;

/// The most contexts kept; unused ones are dropped first.
const MOST: usize = 1024;

/// Contexts of callers. Callers with the same name and rights share one.
pub struct Views {
    base: Arc<Context>,
    of: Mutex<ByName>,
}

type ByName = HashMap<String, (Arc<Rights>, Arc<Context>)>;

impl Views {
    /// Views of a process.
    pub fn new(base: Context) -> Self {
        Self { base: Arc::new(base), of: Mutex::default() }
    }

    /// The state for callers without a name.
    pub fn base(&self) -> &Arc<Context> {
        &self.base
    }

    /// The state for a caller by its name and rights, or for one without a name.
    pub fn of(&self, caller: Option<(&str, &Arc<Rights>)>) -> Arc<Context> {
        let Some((name, rights)) = caller else { return self.base.clone() };
        let mut views = self.lock();
        match views.get(name) {
            Some((known, cx)) if Arc::ptr_eq(known, rights) => cx.clone(),
            _ => {
                if views.len() >= MOST {
                    views.retain(|_, (_, cx)| Arc::strong_count(cx) > 1);
                }
                let cx = Arc::new(self.base.seen_by(name, (**rights).clone()));
                views.insert(name.to_owned(), (rights.clone(), cx.clone()));
                cx
            }
        }
    }

    /// The contexts of all callers so far.
    pub fn all(&self) -> Vec<Arc<Context>> {
        self.lock().values().map(|(_, cx)| cx.clone()).chain([self.base.clone()]).collect()
    }

    fn lock(&self) -> MutexGuard<'_, ByName> {
        // A panic leaves the table whole.
        self.of.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
