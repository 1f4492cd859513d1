//! Nodes that answer questions: each says every few seconds that it lives, in a table whose rows the servers forget after a
//! while. A drained node goes on answering, and is drained.

use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::queue::ALIVE;
use super::{Error, Queue};

/// Table of nodes that live, and that of drained ones, whose rows stay.
const SERVING: &str = "serving";
const DRAINED: &str = "drained";
/// The most nodes that are read.
const MOST: usize = 1_000;

/// A node that answers questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// URL at which other nodes ask it.
    pub url: String,
    /// Version of its program.
    pub version: String,
    /// Seconds since 1970 at which it began.
    pub since: i64,
    /// Repositories whose indexes it holds now.
    pub held: u64,
    /// Whether it is drained.
    #[serde(default)]
    pub drained: bool,
    /// Key with which other nodes prove to it that they are nodes, in hexadecimal digits. Only those that read this table
    /// know it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

impl Queue {
    /// Makes the tables of nodes that are lacking at the servers.
    pub fn prepare_members(&self) -> Result<(), Error> {
        self.patiently(|| async {
            self.prepare_table(SERVING, ALIVE).await?;
            self.prepare_table(DRAINED, std::time::Duration::ZERO).await
        })
    }

    /// Says that a node lives. Its name becomes a key.
    pub fn join(&self, member: &Member) -> Result<(), Error> {
        let json = serde_json::to_vec(member).expect("numbers and texts are JSON");
        self.runtime.block_on(async {
            let put = self.table(SERVING).await?.put(&member.name, json.into()).await;
            put.map(drop).map_err(self.failed("does not note a node"))
        })
    }

    /// Says that a node lives no more.
    pub fn part(&self, name: &str) -> Result<(), Error> {
        self.runtime.block_on(async {
            let gone = self.table(SERVING).await?.purge(name).await;
            gone.map_err(self.failed("does not forget a node"))
        })
    }

    /// Nodes that live, by name. Without the tables there are none.
    pub fn members(&self) -> Result<Vec<Member>, Error> {
        self.runtime.block_on(async {
            if self.context.get_key_value(self.stream_name(SERVING)).await.is_err() {
                // Servers that are away are told apart from a queue that no node has joined.
                self.context.query_account().await.map_err(self.failed("cannot be asked"))?;
                return Ok(Vec::new());
            }
            let mut members = self.rows::<Member>(SERVING).await?;
            let table = self.table(DRAINED).await?;
            let mut keys = table.keys().await.map_err(self.failed("does not list a table"))?.take(MOST);
            let mut drained = Vec::new();
            while let Some(key) = keys.next().await {
                drained.push(key.map_err(self.failed("does not list a table"))?);
            }
            members.iter_mut().for_each(|member| member.drained = drained.contains(&member.name));
            members.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(members)
        })
    }

    /// Gives a node no repositories any more, or gives it some again. Whether there is a node of this name.
    pub fn drain(&self, name: &str, drained: bool) -> Result<bool, Error> {
        let is_known = self.members()?.iter().any(|member| member.name == name);
        self.runtime.block_on(async {
            let table = self.table(DRAINED).await?;
            if drained && is_known {
                table.put(name, "1".into()).await.map_err(self.failed("does not drain a node"))?;
            } else if !drained {
                table.purge(name).await.map_err(self.failed("does not take a node back"))?;
            }
            Ok(is_known)
        })
    }
}
