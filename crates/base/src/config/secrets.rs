//! Detection of files that may hold a credential, by path alone. They are never opened, indexed or shown. A source
//! file or document merely named after a secret, such as `secrets.py`, is kept. The names are those of SECURITY.md, and of
//! two scanners' lists of file names: Gitrob's and Talisman's, without those of code, logs, dumps and shell settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Rule that keeps credentials out of indexes and answers, with the user's exemptions.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    patterns: Vec<String>,
    allowed: Option<Arc<GlobSet>>,
    /// Names and paths of files that hold no secret, of those whose names are doubtful.
    named: Arc<BTreeSet<String>>,
}

impl Secrets {
    /// Creates the rule with exemptions for files that match one of these globs, or lie in a folder that does. A glob
    /// without a slash matches names only.
    pub fn except(patterns: Vec<String>) -> Result<Self, String> {
        let mut globs = GlobSetBuilder::new();
        for pattern in &patterns {
            let path = pattern.trim().trim_start_matches("./").trim_end_matches('/');
            let anchored = match path.strip_prefix('/') {
                Some(rest) => rest.to_owned(),
                None if path.contains('/') => path.to_owned(),
                None => format!("**/{path}"),
            };
            for glob in [format!("{anchored}/**"), anchored] {
                let built = GlobBuilder::new(&glob).literal_separator(true).build();
                globs.add(built.map_err(|err| format!("has {pattern:?}: {}", err.kind()))?);
            }
        }
        let built = globs.build().map_err(|err| err.to_string())?;
        let allowed = (!patterns.is_empty()).then(|| Arc::new(built));
        Ok(Self { patterns, allowed, named: Arc::default() })
    }

    /// The rule without these files, each by its name or its path from the root. Only names that others than secrets have
    /// as well can be given: a project that is not trusted may bring back `auth.json`, and never `.env`.
    pub fn without(mut self, names: &[String]) -> Result<Self, String> {
        for name in names {
            let path = name.trim_start_matches("./").trim_start_matches('/');
            if path.is_empty() || path.contains(['*', '?', '[', '{', '!']) {
                return Err(format!("has {name:?}: name files one by one"));
            }
            if is_secret_file(path) {
                return Err(format!("has {name:?}, which only the user's `allow_secrets` can name"));
            }
            Arc::make_mut(&mut self.named).insert(path.to_owned());
        }
        Ok(self)
    }

    /// Names and paths of files that hold no secret though they are called so.
    pub fn named(&self) -> Vec<String> {
        self.named.iter().cloned().collect()
    }

    /// Globs of exempted files.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether to skip a folder. Its path starts at the root, with `/` between the parts.
    pub fn hides_folder(&self, path: &str) -> bool {
        self.allowed.is_none() && is_folder_of_keys(name_of(path))
    }

    /// Whether a file is hidden by its own path, given that no parent folder was.
    pub fn hides_file(&self, path: &str) -> bool {
        match &self.allowed {
            None => is_secret_file(path) || self.is_doubtful(path),
            Some(_) => self.hides(path),
        }
    }

    /// Whether a file is hidden, by itself or by a parent folder.
    pub fn hides(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let is_hidden = is_secret_file(path) || folders.map(name_of).any(is_folder_of_keys) || self.is_doubtful(path);
        is_hidden && !self.allows(path)
    }

    /// Whether a file is called like one that mostly holds a secret, and the project does not say that it holds none.
    fn is_doubtful(&self, path: &str) -> bool {
        is_doubtful_file(path) && !self.named.contains(path) && !self.named.contains(name_of(path))
    }

    /// Whether the user exempted a file.
    pub fn allows(&self, path: &str) -> bool {
        self.allowed.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a folder of this name holds keys.
fn is_folder_of_keys(name: &str) -> bool {
    matches!(name, ".ssh" | ".gnupg" | ".aws" | ".password-store")
}

/// Whether a file may hold a credential. Case is ignored: `.ENV` holds the same.
fn is_secret_file(path: &str) -> bool {
    in_lower_case(path, is_secret)
}

/// Whether a file is called like one that mostly holds a credential, though files of other kinds have such names, too.
fn is_doubtful_file(path: &str) -> bool {
    in_lower_case(path, is_doubtful)
}

/// Decides by the folder and the name in lower case.
fn in_lower_case(path: &str, decide: fn(&str, &str) -> bool) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => decide(folder, &name.to_ascii_lowercase()),
        false => decide(folder, name),
    }
}

fn is_doubtful(folder: &str, name: &str) -> bool {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_text = matches!(extension, "" | "txt" | "csv" | "tsv");
    let is_template = name.split(['.', '-', '_']).any(is_template);
    let is_list = |word: &str| matches!(stem, "token" | "tokens") || stem.ends_with(word);
    !is_template
        && (matches!(
            name,
            "auth.json"
                | ".mcp.json"
                | "adc.json"
                | "robomongo.json"
                | "my.cnf"
                | "database.yml"
                | "database.yaml"
                | "mongoid.yml"
                | "vault.yml"
                | "vault.yaml"
                | "secret_token.rb"
                | "localsettings.php"
        ) || (name_of(folder) == ".claude" && name == "settings.local.json")
            || (extension == "json" && (stem.ends_with("-key") || stem.ends_with("_key")))
            || (is_text && (stem.starts_with("password") || stem.starts_with("passwd")))
            || (matches!(extension, "" | "txt") && (is_list("_token") || is_list("-token")))
            || is_settings_of_production(stem, extension))
}

/// Whether a file has a program's settings where it runs: `appsettings.Production.json`, `application-prod.properties`.
fn is_settings_of_production(stem: &str, extension: &str) -> bool {
    let variant = match extension {
        "json" => stem.strip_prefix("appsettings."),
        "properties" | "yml" | "yaml" => stem.strip_prefix("application-"),
        _ => None,
    };
    let is_live =
        |word| matches!(word, "prod" | "production" | "live" | "staging" | "stage" | "local" | "secret" | "secrets");
    variant.is_some_and(|variant| variant.split(['.', '-', '_']).any(is_live))
}

fn is_secret(folder: &str, name: &str) -> bool {
    if is_environment(name)
        || is_known(name)
        || has_key_extension(name)
        || is_history(name)
        || is_service_account(name)
        || is_known_in(folder, name)
        || ["_rsa", "_dsa", "_ecdsa", "_ed25519"].iter().any(|kind| name.ends_with(kind))
        || ((name.starts_with("id_") || name.contains("kubeconfig")) && is_named_key(name))
    {
        return true;
    }
    let copied = [".bak", ".backup", ".old", ".orig", ".save", "~"].iter().find_map(|end| name.strip_suffix(end));
    copied.is_some_and(|original| original.starts_with("id_") || is_secret(folder, original))
}

/// Whether a file is `.env`, `.envrc`, `.dev.vars` or a variant, except templates and code about the environment.
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env").or_else(|| name.strip_prefix(".dev.vars")) else { return false };
    let rest = rest.strip_prefix("rc").unwrap_or(rest);
    if rest.is_empty() {
        return true;
    }
    let Some(variant) = rest.strip_prefix(['.', '_', '-']) else { return false };
    let last = variant.rsplit(['.', '_', '-']).next().unwrap_or(variant);
    !is_template(last) && (variant == "js" || !(rest.starts_with('.') && is_source(last)))
}

fn is_template(word: &str) -> bool {
    matches!(
        word,
        "example" | "examples" | "sample" | "samples" | "template" | "tpl" | "tmpl" | "dist" | "defaults" | "schema"
    )
}

/// Names of files with keys and passwords.
#[rustfmt::skip]
fn is_known(name: &str) -> bool {
    matches!(
        name,
        ".netrc" | "_netrc" | ".npmrc" | ".yarnrc.yml" | ".pypirc" | ".htpasswd" | ".pgpass" | ".my.cnf" | ".s3cfg"
            | ".git-credentials" | ".dockercfg" | ".dockerconfigjson" | ".boto" | ".terraformrc" | ".sentryclirc"
            | ".vault-token" | ".vault_pass" | ".vault_pass.txt" | ".vault-pass" | ".vault_password" | "vault_pass.txt"
            | ".token" | "private.asc" | "wp-config.php"
            | "credentials" | "credentials.json" | "credentials.yml" | "credentials.yaml" | "credentials.toml"
            | "credentials.xml" | "credentials.csv" | "credentials.ini"
            | "client_secret.json" | "client_secrets.json" | "application_default_credentials.json"
            | "secrets.json" | "secrets.yml" | "secrets.yaml" | "secrets.toml" | "secrets.env" | "secrets.ini"
            | "secret.json" | "secret.yml" | "secret.yaml" | "secret.toml" | "secrets.txt" | "secret.txt"
            | "master.key" | "local.settings.json" | "deploy_key" | "deploy-key" | "deploykey"
            | "htpasswd" | "netrc" | "npmrc" | "pgpass" | "s3cfg" | "dockercfg" | ".tugboat" | ".trc" | ".gitrobrc"
            | "credentials.db" | "access_tokens.db" | "otr.private_key" | "sftp-config.json" | ".ftpconfig"
            | ".remote-sync.json" | "filezilla.xml" | "recentservers.xml" | "sitemanager.xml"
            | "dbeaver-data-sources.xml" | ".dbeaver-data-sources.xml" | ".muttrc" | "muttrc" | ".esmtprc"
            | "jenkins.plugins.publish_over_ssh.bapsshpublisherplugin.xml"
    )
}

/// Names that are secret only in the folder of the program that reads them.
fn is_known_in(folder: &str, name: &str) -> bool {
    match name {
        "auth.json" => folder.split('/').any(|part| matches!(part, ".docker" | ".config" | "composer" | ".composer")),
        "config" => name_of(folder) == ".kube",
        "config.json" => name_of(folder) == ".docker",
        "hosts.yml" | "hosts.yaml" => name_of(folder) == "gh",
        "settings.xml" | "settings-security.xml" => name_of(folder) == ".m2",
        "hub" => name_of(folder) == ".config",
        "config.yaml" => name_of(folder) == "doctl",
        "sftp.json" => name_of(folder) == ".vscode",
        "accounts.xml" => matches!(name_of(folder), "purple" | ".purple"),
        "keys.db" => matches!(name_of(folder), "recon-ng" | ".recon-ng"),
        "shadow" | "gshadow" => name_of(folder) == "etc",
        _ => name_of(folder) == ".azure" && !is_source(extension(name)),
    }
}

/// Extensions of keys, certificates with keys, key stores, and infrastructure state.
fn has_key_extension(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    match extension {
        "pem" | "key" | "priv" | "p12" | "pfx" | "p8" | "pk8" | "ppk" | "jks" | "keystore" | "keytab" | "kdb"
        | "kdbx" | "gpg" | "pgp" | "agekey" | "ovpn" | "tblk" | "mobileprovision" | "tfstate" | "keypair"
        | "pkcs12" | "keychain" | "agilekeychain" | "keyring" | "kwallet" | "psafe3" | "bek" | "tpm" | "cscfg"
        | "publishsettings" => true,
        "user" => stem.ends_with(".pubxml"),
        "env" | "tfvars" => !is_template(stem),
        "json" => stem.ends_with(".tfvars"),
        _ => false,
    }
}

/// Keys and cluster configurations with a user's suffix: `id_rsa_work`, `kubeconfig-prod.yaml`.
fn is_named_key(name: &str) -> bool {
    let is_own = |rest: &str| rest.is_empty() || rest.starts_with(['_', '-', '.']);
    let kinds = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    let extension = extension(name);
    let is_cluster = name.starts_with("kubeconfig") || extension == "kubeconfig";
    let is_known = is_cluster || kinds.iter().any(|kind| name.strip_prefix(kind).is_some_and(is_own));
    is_known && extension != "pub" && !is_source(extension) && !is_template(extension)
}

/// History files of shells and database clients, which may hold typed passwords.
fn is_history(name: &str) -> bool {
    (name.starts_with('.') && name.ends_with("_history"))
        || matches!(name, "fish_history" | ".zhistory" | ".histfile" | ".dbshell" | ".node_repl_history")
}

/// Service accounts: `service-account.json`, `my-service-account-key.json`, `shop-firebase-adminsdk-x1y2z.json`.
fn is_service_account(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".json") else { return false };
    let marks = ["service-account", "service_account", "serviceaccount", "firebase-adminsdk"];
    marks.iter().any(|mark| stem.contains(mark))
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Extensions of programs and documents, whose content is meant to be read.
#[rustfmt::skip]
fn is_source(extension: &str) -> bool {
    matches!(
        extension,
        "rs" | "go" | "py" | "pyi" | "rb" | "java" | "kt" | "kts" | "scala" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs"
            | "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" | "php" | "swift" | "m" | "mm"
            | "sh" | "bash" | "zsh" | "fish" | "ps1" | "lua" | "pl" | "pm" | "ex" | "exs" | "erl" | "hs" | "ml" | "clj"
            | "dart" | "r" | "jl" | "zig" | "nix" | "sql" | "proto" | "tf" | "hcl" | "html" | "css" | "scss"
            | "md" | "mdx" | "rst" | "adoc" | "tex" | "ipynb"
    )
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn secrets_are_known_by_their_paths() {
        let rule = Secrets::default();
        #[rustfmt::skip]
        let paths = [
            ".env", ".ENV", ".env.local", ".env.production", "prod.env", ".env~", ".env_prod", ".env-staging", ".env.js",
            ".envrc", ".envrc.local", "a/.env.bak", "server.pem", "Server.KEY", "server.pem.bak", "a.p12", "a.pfx",
            "release.jks", "debug.keystore", "id_rsa", "id_ed25519", "id_rsa_work", "id_rsa.old", "id_deploy.bak", "ca.priv",
            "private.asc", ".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".htpasswd", ".git-credentials", ".sentryclirc",
            ".vault_pass", ".token", "credentials.json", "service-account.json", "service-account-prod.json",
            "shop-firebase-adminsdk-x1.json", "firebase-adminsdk-x1.json", "secrets.yaml", "secrets.yml", "secret.txt",
            "secrets.env", "wp-config.php", "kubeconfig", "kubeconfig-prod.yaml", "prod.kubeconfig", ".kube/config",
            ".docker/config.json", ".docker/auth.json", ".config/containers/auth.json", "a/composer/auth.json",
            ".config/gh/hosts.yml", ".azure/accessTokens.json", ".m2/settings.xml", "prod.tfvars", "a/prod.auto.tfvars.json",
            "terraform.tfstate", "terraform.tfstate.backup", ".bash_history", ".psql_history", ".mysql_history",
            ".local/share/fish/fish_history",
        ];
        for path in paths {
            assert!(rule.hides(path), "{path}");
        }
        assert!(rule.hides("a/.ssh/config") && rule.hides_folder("a/.ssh") && !rule.hides_file(".ssh/config"));
    }

    /// Every form of name that was once given out by mistake, with files that it stands for.
    #[test]
    fn forms_of_names_that_were_missed_once_are_hidden() {
        let rule = Secrets::default();
        #[rustfmt::skip]
        let forms: &[(&str, &[&str])] = &[
            (".env~", &[".env~", "a/.env~"]),
            (".env_*", &[".env_prod", ".env_local"]),
            (".env-*", &[".env-prod", "deploy/.env-staging"]),
            (".envrc*", &[".envrc", ".envrc~", ".envrc.local", ".envrc_work", ".envrc-old"]),
            (".env.js", &[".env.js", "web/.env.js"]),
            ("id_*.bak", &["id_rsa.bak", "id_ed25519.bak", "id_deploy.bak"]),
            ("id_rsa_work", &["id_rsa_work", "keys/id_rsa_work"]),
            ("*.pem.bak", &["server.pem.bak"]),
            (".kube/config", &[".kube/config", "home/.kube/config"]),
            (".docker/config.json", &[".docker/config.json"]),
            ("gh/hosts.yml", &["gh/hosts.yml", ".config/gh/hosts.yml"]),
            (".azure/*", &[".azure/accessTokens.json", ".azure/azureProfile.json", ".azure/msal_token_cache.bin"]),
            ("*.tfvars", &["prod.tfvars", "terraform.tfvars"]),
            ("*.tfstate", &["terraform.tfstate", "env/prod.tfstate"]),
            ("firebase-adminsdk-*.json", &["firebase-adminsdk-1a2b.json", "shop-firebase-adminsdk-1a2b.json"]),
            ("auth.json", &[".docker/auth.json", ".config/containers/auth.json", "composer/auth.json", ".composer/auth.json"]),
            (".m2/settings.xml", &[".m2/settings.xml"]),
            ("histories", &[".bash_history", ".zsh_history", ".python_history", ".mysql_history", ".psql_history",
                ".sqlite_history", ".rediscli_history", ".node_repl_history", ".dbshell"]),
            (".vault_pass", &[".vault_pass", ".vault_pass.txt"]),
            (".yarnrc.yml", &[".yarnrc.yml"]),
            (".sentryclirc", &[".sentryclirc"]),
            ("*.priv", &["ca.priv"]),
            ("private.asc", &["private.asc"]),
            ("wp-config.php", &["wp-config.php", "public/wp-config.php"]),
            ("kubeconfig*", &["kubeconfig", "kubeconfig.yaml", "kubeconfig-prod", "kubeconfig2", "kubeconfigs.yml"]),
            ("secret(s).{txt,yml,yaml,json,env}", &["secret.txt", "secrets.txt", "secret.yml", "secrets.yml", "secret.yaml",
                "secrets.yaml", "secret.json", "secrets.json", "secret.env", "secrets.env"]),
            (".token", &[".token"]),
            ("settings of workers", &[".dev.vars", ".dev.vars.production"]),
            ("keys by their use", &["deploy_key", "ci/deploy_rsa", "github_ed25519", "site.keypair", "a.pkcs12"]),
            ("tokens by their use", &["github_token", "token.txt", "ci/api-token.txt"]),
            ("lists of passwords", &["password.txt", "passwords.csv", "password_old.txt", "passwd.txt", "Passwords"]),
            ("databases", &["my.cnf", "config/database.yml", "group_vars/all/vault.yml", "mongoid.yml"]),
            ("keys of services", &["gcp-key.json", "deploy/prod_key.json", "auth.json", "adc.json"]),
            ("settings where a program runs", &["appsettings.Production.json", "application-prod.properties",
                "src/main/resources/application-production.yml", "appsettings.Staging.json"]),
            ("settings of agents", &[".mcp.json", ".claude/settings.local.json"]),
            ("stores of passwords", &["a.psafe3", "login.keychain", "a.agilekeychain", "default.keyring", "etc/shadow"]),
            ("programs that transfer files", &["sftp-config.json", ".vscode/sftp.json", "recentservers.xml", ".ftpconfig"]),
        ];
        for (form, paths) in forms {
            for path in *paths {
                assert!(rule.hides(path), "{form}: {path}");
            }
        }
    }

    #[test]
    fn code_documents_and_templates_are_kept() {
        let rule = Secrets::default();
        #[rustfmt::skip]
        let paths = [
            ".env.example", ".env.sample", ".env.template", ".env.local.example", ".env-example", ".env_sample",
            ".envrc.example", ".environment", ".env.d.ts", ".env.py", "secrets.py", "secret.rs", "credentials.go", "env.py",
            "key.ts", "keys.json", "id_rsa.pub", "id_rsa.go", "id_rsa_test.md", "id_map.json", "pem.go", "password.java",
            "keystore.rs", "service_account.py", "kubeconfig.go", "kubeconfig.md", "password.rs", "passwords.md",
            "database.yml.example", "database.example.yml", "appsettings.json", "appsettings.Development.json",
            "application.properties", "application-dev.yml", "example-key.json", "token.go", "tokens.json", "monkey.json",
            "config", "src/config.json", "hosts.yml", "settings.xml", "history.py", "wp-config-sample.php", "tfvars.go",
            "example.tfvars", "terraform.tfvars.example", ".azure/deploy.ps1", ".azure/pipelines/ci.yml", "token.json",
        ];
        for path in paths {
            assert!(!rule.hides(path), "{path}");
        }
    }

    #[test]
    fn a_project_brings_back_doubtful_names_one_by_one() {
        let rule = |names: &[&str]| {
            Secrets::default().without(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let named = rule(&["locales/en/auth.json", "./database.yml"]).expect("they are doubtful");
        assert!(
            !named.hides("locales/en/auth.json") && named.hides("auth.json") && named.hides_file("other/auth.json")
        );
        assert!(!named.hides("a/database.yml") && !named.hides_file("database.yml") && named.hides("my.cnf"));
        for refused in [".env", "keys/id_rsa", "*.json", "", "server.pem"] {
            assert!(rule(&[refused]).is_err(), "{refused}");
        }
    }

    /// The names in SECURITY.md are hidden.
    #[test]
    fn names_of_credentials_are_those_that_are_written_down() {
        let paper = include_str!("../../../../SECURITY.md");
        let listed = paper.split_once("<!-- names -->").and_then(|(_, rest)| rest.split_once("<!-- end of names -->"));
        let (listed, _) = listed.expect("they are listed");
        let names: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
        assert!(names.len() > 60, "{}", names.len());
        for name in names {
            assert!(Secrets::default().hides(&name.replace('*', "a")), "{name}");
        }
    }

    #[test]
    fn named_files_are_exempt() {
        let rule = |pattern: &str| Secrets::except(vec![pattern.to_owned()]).expect("a glob");
        assert!(!rule(".env").hides("a/.env") && rule(".env").hides("a/.env.local") && rule("/.env").hides("a/.env"));
        assert!(!rule("certs/*.pem").hides("certs/a.pem") && rule("certs/*.pem").hides("a.pem"));
        assert!(!rule("tests").hides("tests/keys/.ssh/id_rsa") && !rule("tests/keys/").hides("tests/keys/a.key"));
        assert!(!rule("tests").hides_folder("tests/.ssh") && rule("tests").hides_file("other/.ssh/config"));
        assert!(Secrets::except(vec!["[".to_owned()]).is_err());
    }
}
