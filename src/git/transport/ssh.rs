//! The system's `ssh`, and whether it has a key.

/// Options that keep ssh from prompting and from waiting without end.
pub const COMMAND: &str =
    "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3";

/// Whether ssh is installed and has a key to offer. An operator's own command is taken as working.
pub(in crate::git) fn has_identity(command: &str) -> bool {
    if command != COMMAND {
        return true;
    }
    let listed = std::process::Command::new("ssh-add").arg("-l").output();
    let agent = listed.is_ok_and(|listed| listed.status.success());
    let keys = dirs().is_some_and(|folder| {
        ["id_ed25519", "id_rsa", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "config"]
            .iter()
            .any(|name| folder.join(name).is_file())
    });
    agent || keys
}

/// The user's folder of ssh keys.
fn dirs() -> Option<std::path::PathBuf> {
    std::env::home_dir().map(|home| home.join(".ssh"))
}
