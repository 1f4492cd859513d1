//! Descriptions of the server for those who do not know it yet: its card and catalog at a running server, and
//! `server.json` for registries. All are made from one `Card`.

#[cfg(feature = "http")]
use rmcp::model::ProtocolVersion;
use serde::Serialize;
use serde_json::{Value, json};

#[cfg(feature = "http")]
use codelode_http::{self as http, Answer};

/// Title for people.
const TITLE: &str = "codelode: code search";

/// Identity of the server.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Card {
    #[serde(rename = "$schema")]
    schema: &'static str,
    /// Name in reverse DNS, as registries know it.
    name: String,
    version: &'static str,
    title: &'static str,
    description: &'static str,
    website_url: &'static str,
    repository: Value,
    /// Addresses of a running server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<Value>,
    /// Packages that hold the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packages: Vec<Value>,
}

impl Card {
    fn new(schema: &'static str) -> Self {
        let repository = env!("CARGO_PKG_REPOSITORY");
        Self {
            schema,
            name: name(),
            version: env!("CARGO_PKG_VERSION"),
            title: TITLE,
            description: codelode_base::DESCRIPTION,
            website_url: repository,
            repository: json!({"url": repository, "source": "github"}),
            remotes: Vec::new(),
            packages: Vec::new(),
        }
    }
}

/// Name in reverse DNS: `io.github.owner/name` for a repository on GitHub.
fn name() -> String {
    let path = env!("CARGO_PKG_REPOSITORY").trim_start_matches("https://github.com/");
    format!("io.github.{path}")
}

/// `server.json` for registries: the packages that hold the program.
pub fn registry() -> Value {
    let package = |kind: &str, runner: &str| {
        json!({
            "registryType": kind,
            "identifier": "codelode",
            "version": env!("CARGO_PKG_VERSION"),
            "runtimeHint": runner,
            "transport": {"type": "stdio"},
            "packageArguments": [{"type": "positional", "value": "serve"}],
        })
    };
    let packages = vec![package("npm", "npx"), package("pypi", "uvx")];
    let card =
        Card { packages, ..Card::new("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json") };
    json!(card)
}

/// Documents of a server at an address that anyone may read, by path: the card, and the catalog that names it.
#[cfg(feature = "http")]
pub(super) fn of_server(path: &str, origin: &str, kind: &str, endpoint: &str) -> Option<Answer> {
    let (text, content) = match path {
        "/mcp/server-card" | "/.well-known/mcp/server-card.json" => {
            let versions: Vec<String> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ToString::to_string).collect();
            let url = format!("{origin}{endpoint}");
            let remotes = vec![json!({"type": kind, "url": url, "supportedProtocolVersions": versions})];
            let schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
            (json!(Card { remotes, ..Card::new(schema) }), "application/mcp-server-card+json")
        }
        "/.well-known/ai-catalog.json" | "/.well-known/mcp/catalog.json" => {
            let host = origin.split_once("://").map_or(origin, |(_, host)| host);
            let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
            let entry = json!({
                "identifier": format!("urn:air:{host}:{}", "codelode"),
                "displayName": TITLE,
                "type": "application/mcp-server-card+json",
                "url": format!("{origin}/mcp/server-card"),
            });
            let version = if path.ends_with("ai-catalog.json") { "1.0" } else { "draft" };
            (json!({"specVersion": version, "entries": [entry]}), "application/json")
        }
        _ => return None,
    };
    Some(http::public(content, text.to_string()))
}
