//! Files that belong to the pages: style, icon and client. Their addresses hold a hash, so browsers may keep them.

use std::sync::LazyLock;

/// Name, kind and content of each file.
const FILES: [(&str, &str, &[u8]); 3] = [
    // Made from `client` by `npm run bundle` there.
    ("client.js", "text/javascript; charset=utf-8", include_bytes!("assets/client.js")),
    ("style.css", "text/css; charset=utf-8", include_bytes!("assets/style.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("assets/icon.svg")),
];

/// The address of each file.
static ADDRESSES: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let address = |(name, _, bytes): &(&'static str, &str, &[u8])| {
        let hash = blake3::hash(bytes).to_hex();
        (*name, format!("/static/{}/{name}", &hash[..12]))
    };
    FILES.iter().map(address).collect()
});

/// The address of a file.
pub(super) fn address(name: &str) -> &'static str {
    ADDRESSES.iter().find(|(known, _)| *known == name).map_or("", |(_, address)| address)
}

/// The file at an address, also of an earlier version of this program: its kind and content.
pub(super) fn find(path: &str) -> Option<(&'static str, &'static [u8])> {
    let (_, name) = path.strip_prefix("/static/")?.split_once('/')?;
    FILES.iter().find(|(known, ..)| *known == name).map(|(_, kind, bytes)| (*kind, *bytes))
}
