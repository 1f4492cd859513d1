//! Files that may hold a credential. They are left out by name and never opened, so what they hold cannot reach an
//! index or an answer. A source file that is only called after a secret, such as `secrets.py`, is code and stays.

/// Whether a folder of this name is where people keep keys.
pub(super) fn folder(name: &str) -> bool {
    matches!(name, ".ssh" | ".gnupg" | ".aws" | ".password-store")
}

/// Whether a file of this name may hold a credential. Letter case does not matter: `.ENV` holds the same.
pub(super) fn file(name: &str) -> bool {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return is_secret(&name.to_ascii_lowercase());
    }
    is_secret(name)
}

fn is_secret(name: &str) -> bool {
    is_environment(name) || is_known(name) || has_key_extension(name) || is_service_account(name)
}

/// `.env` and its variants, except those that exist to be copied and filled in.
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    if rest.is_empty() {
        return true;
    }
    let Some(variant) = rest.strip_prefix('.') else { return false };
    let last = variant.rsplit('.').next().unwrap_or(variant);
    !matches!(last, "example" | "examples" | "sample" | "template" | "tpl" | "dist" | "defaults" | "schema")
        // `.env.d.ts` and the like are code about the environment.
        && !matches!(last, "ts" | "js" | "mjs" | "py" | "rb" | "go" | "rs" | "md")
}

/// Names that programs give to files with keys and passwords.
#[rustfmt::skip]
fn is_known(name: &str) -> bool {
    matches!(
        name,
        "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ecdsa_sk" | "id_ed25519" | "id_ed25519_sk"
            | ".netrc" | "_netrc" | ".npmrc" | ".pypirc" | ".htpasswd" | ".pgpass" | ".my.cnf" | ".s3cfg"
            | ".git-credentials" | ".dockercfg" | ".dockerconfigjson" | ".boto" | ".vault-token" | ".terraformrc"
            | "credentials" | "credentials.json" | "credentials.yml" | "credentials.yaml" | "credentials.toml"
            | "credentials.xml" | "credentials.csv" | "credentials.ini"
            | "client_secret.json" | "client_secrets.json" | "application_default_credentials.json"
            | "secrets.json" | "secrets.yml" | "secrets.yaml" | "secrets.toml" | "secrets.env" | "secrets.ini"
            | "secret.json" | "secret.yml" | "secret.yaml" | "secret.toml"
            | "master.key" | "kubeconfig" | "local.settings.json" | "terraform.tfstate" | "terraform.tfstate.backup"
    )
}

/// Extensions of keys, certificates with keys, and key stores.
fn has_key_extension(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    match extension {
        "pem" | "key" | "p12" | "pfx" | "p8" | "pk8" | "ppk" | "jks" | "keystore" | "keytab" | "kdb" | "kdbx"
        | "gpg" | "pgp" | "agekey" | "ovpn" | "mobileprovision" => true,
        "env" => !matches!(stem, "example" | "sample" | "template"),
        _ => false,
    }
}

/// `service-account.json`, `service_account_prod.json`, `my-service-account-key.json`.
fn is_service_account(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".json") else { return false };
    ["service-account", "service_account", "serviceaccount"].iter().any(|mark| stem.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn secrets_are_known_by_name() {
        for name in [
            ".env",
            ".ENV",
            ".env.local",
            ".env.production",
            "prod.env",
            "server.pem",
            "Server.KEY",
            "a.p12",
            "a.pfx",
            "release.jks",
            "debug.keystore",
            "id_rsa",
            "id_ed25519",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".htpasswd",
            ".git-credentials",
            "credentials.json",
            "service-account.json",
            "service-account-prod.json",
            "secrets.yaml",
            "secrets.yml",
        ] {
            assert!(file(name), "{name}");
        }
    }

    #[test]
    fn code_and_templates_are_kept() {
        for name in [
            ".env.example",
            ".env.sample",
            ".env.template",
            ".env.local.example",
            ".environment",
            ".envrc",
            "secrets.py",
            "secret.rs",
            "credentials.go",
            "env.py",
            "key.ts",
            "keys.json",
            "id_rsa.pub",
            "pem.go",
            "password.java",
            "keystore.rs",
            "service_account.py",
            ".env.d.ts",
        ] {
            assert!(!file(name), "{name}");
        }
    }
}
