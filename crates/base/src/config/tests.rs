//! Precedence of settings, and errors for invalid ones.

use super::*;

/// The configuration for a file and an environment, or the error's text.
fn decide(file: &str, env: &[(&str, &str)], flags: &Flags) -> Result<Config, String> {
    let env = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let home = home(&env, flags).map_err(|err| err.to_string())?;
    apply(home, Some((Path::new("config.toml"), file)), &env, flags).map_err(|err| err.to_string())
}

/// Flags with these settings only.
fn flags(settings: Settings) -> Flags {
    Flags { index_dir: Some("/index".into()), settings }
}

#[test]
fn the_environment_wins_over_the_file_and_flags_over_both() {
    let file = "max_files = 10\nmax_file_size = 1000\nlog = 'info'\nmax_tokens = 1";
    let env = [("CODELODE_MAX_FILES", "20"), ("CODELODE_LOG", "debug")];
    let config = decide(file, &env, &flags(Settings { max_files: Some(30), ..Settings::default() })).unwrap();
    assert_eq!(config.max_files, Some(30));
    assert_eq!(config.log, "debug");
    assert_eq!((config.max_file_size, config.max_tokens), (1000, 1));
}

#[test]
fn older_names_are_fallbacks() {
    let env = [
        ("CODE_INDEX_PATH", "/old"),
        ("JCODEMUNCH_MAX_INDEX_FILES", "7"),
        ("JCODEMUNCH_FRESHNESS_MODE", "strict"),
        ("JCODEMUNCH_REDACT_SOURCE_ROOT", "1"),
        ("JCODEMUNCH_USE_AI_SUMMARIES", "yes"),
        ("JCODEMUNCH_CONTEXT_PROVIDERS", "0"),
        ("JCODEMUNCH_LOG_FILE", "/tmp/log"),
    ];
    let config = decide("", &env, &Flags::default()).unwrap();
    assert_eq!(config.home, Path::new("/old/codelode"));
    assert_eq!(config.max_files, Some(7));
    assert_eq!(config.freshness, Freshness::Strict);
    assert!(config.redact_source_root);
    assert!(config.use_ai_summaries && !config.context_providers);
    assert_eq!(config.log_file.as_deref(), Some(Path::new("/tmp/log")));

    let both = [("CODELODE_INDEX_PATH", "/new"), ("CODE_INDEX_PATH", "/old")];
    assert_eq!(decide("", &both, &Flags::default()).unwrap().home, Path::new("/new/codelode"));
}

#[test]
fn the_index_directory_is_the_flags_the_variables_or_in_the_users_folder() {
    let env = [("HOME", "/home/me"), ("CODELODE_INDEX_PATH", "~/indexes")];
    assert_eq!(decide("", &env, &Flags::default()).unwrap().home, Path::new("/home/me/indexes/codelode"));
    assert_eq!(decide("", &env[..1], &Flags::default()).unwrap().home, Path::new("/home/me/.code-index/codelode"));
    assert_eq!(decide("", &env, &flags(Settings::default())).unwrap().home, Path::new("/index/codelode"));
    for none in [&[][..], &[("HOME", "")], &[("HOME", "me")], &[("HOME", "."), ("CODELODE_INDEX_PATH", "~/indexes")]] {
        assert!(decide("", none, &Flags::default()).unwrap_err().contains("--index-dir"), "{none:?}");
    }
    let relative = [("HOME", "me"), ("CODELODE_INDEX_PATH", "/indexes")];
    assert_eq!(decide("", &relative, &Flags::default()).unwrap().home, Path::new("/indexes/codelode"));
}

#[test]
fn an_empty_variable_is_not_set() {
    let config = decide("max_files = 3", &[("CODELODE_MAX_FILES", " ")], &flags(Settings::default())).unwrap();
    assert_eq!(config.max_files, Some(3));
}

#[test]
fn zero_files_means_no_limit() {
    assert_eq!(decide("max_files = 0", &[], &flags(Settings::default())).unwrap().max_files, None);
}

#[test]
fn errors_say_where_and_what_next() {
    let none = flags(Settings::default());
    let check = |file: &str, env: &[(&str, &str)], expected: &str| {
        let message = decide(file, env, &none).unwrap_err();
        assert!(message.contains(expected), "{message}");
    };
    check("max_file = 3", &[], "config.toml: unknown setting `max_file`; did you mean `max_file");
    check("colour = 3", &[], "unknown setting `colour`; the settings are max_file_size, ");
    check("max_files = 'many'", &[], "line 1");
    check("max_files = ", &[], "line 1");
    check("path_map = ['nothing']", &[], "`path_map` in config.toml has \"nothing\"");
    check("max_memory = 79", &[], "at least 80 MB");
    check("freshness = 'later'", &[], "relaxed");
    check("tools = ' , '", &[], "use lean, core, full");
    check(
        "",
        &[("CODELODE_MAX_FILES", "-1")],
        "`CODELODE_MAX_FILES` in the environment is \"-1\"; give a whole number",
    );
    check("", &[("JCODEMUNCH_FRESHNESS_MODE", "x")], "`JCODEMUNCH_FRESHNESS_MODE` in the environment is \"x\"; use");
}

#[test]
fn a_surface_is_a_word_or_names() {
    assert_eq!(Surface::of("core"), Some(Surface::Core));
    assert_eq!(Surface::of("a, b"), Some(Surface::Named(vec!["a".to_owned(), "b".to_owned()])));
    assert_eq!(Surface::of(""), None);
}

#[test]
fn paths_are_mapped_by_the_first_pair_that_fits() {
    let map = PathMap::of_text("/a=b/c=/x, /a=/y,").unwrap();
    assert_eq!(map.0, [("/a=b/c".into(), "/x".into()), ("/a".into(), "/y".into())]);
    assert_eq!(map.to_local(Path::new("/a=b/c/d.rs")), Path::new("/x/d.rs"));
    assert_eq!(map.to_local(Path::new("/a")), Path::new("/y"));
    assert_eq!(map.to_local(Path::new("/ab")), Path::new("/ab"));
    assert_eq!(map.to_stored(Path::new("/y/z")), Path::new("/a/z"));
    assert!(PathMap::of_text("/a").is_err());
}

#[test]
fn every_key_can_be_set_and_is_in_the_schema() {
    let schema = schemars::schema_for!(Settings);
    let properties = schema.get("properties").and_then(|value| value.as_object()).unwrap();
    let is_shown = |key: &&str| *key != "share_savings";
    let shown: Vec<&str> = settings::KEYS.iter().map(|key| key.name).filter(is_shown).collect();
    assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), shown);
    for key in settings::KEYS {
        assert!(VARIABLES.iter().any(|variable| variable.sets == key.name), "{} has no variable", key.name);
    }
}

#[test]
fn asking_for_what_no_version_does_yet_is_remembered_and_asking_for_nothing_is_not() {
    let none = Flags::default();
    let in_vain = |file: &str, env: &[(&str, &str)]| {
        let env: Vec<(&str, &str)> = env.iter().copied().chain([("HOME", "/home/me")]).collect();
        decide(file, &env, &none).unwrap().in_vain
    };
    assert_eq!(in_vain("share_savings = false", &[]), [""; 0]);
    assert_eq!(in_vain("share_savings = true", &[]), ["share_savings"]);
    assert_eq!(in_vain("share_savings = true", &[("JCODEMUNCH_SHARE_SAVINGS", "0")]), [""; 0]);
}

#[test]
fn a_server_over_http_is_set_by_its_own_names_and_those_of_a_predecessor() {
    let env =
        [("JCODEMUNCH_TRANSPORT", "streamable-http"), ("CODELODE_PORT", "80"), ("JCODEMUNCH_HTTP_TOKEN", "secret")];
    let env: Vec<(&str, &str)> = env.into_iter().chain([("HOME", "/home/me"), ("CODELODE_ROOTS", "~/a,/b")]).collect();
    let http = decide("allowed_hosts = ['code.example']", &env, &Flags::default()).unwrap().http;
    assert_eq!((http.transport, http.host.as_str(), http.port), (Transport::StreamableHttp, "127.0.0.1", 80));
    assert_eq!(http.roots, [Path::new("/home/me/a"), Path::new("/b")]);
    assert_eq!(http.allowed_hosts, ["code.example"]);
    assert_eq!(http.token.as_ref().map(|token| token.0.as_str()), Some("secret"));
    assert!(!format!("{http:?}").contains("secret"), "it is never shown");
    assert!(decide("", &[("CODELODE_TRANSPORT", "carrier-pigeon")], &Flags::default()).is_err());
}

#[test]
fn models_are_set_by_their_services_names_and_keys_are_never_shown() {
    let env = [
        ("HOME", "/home/me"),
        ("JCODEMUNCH_EMBED_MODEL", "~/model"),
        ("OPENAI_API_BASE", "http://localhost:11434/v1"),
        ("OPENAI_API_KEY", "sk-secret"),
        ("OPENAI_EMBED_MODEL", "nomic"),
        ("GOOGLE_API_KEY", "AIza-secret"),
        ("GOOGLE_EMBED_MODEL", "gemini-embedding-001"),
        ("CODELODE_EMBED_PRICE", "0.02"),
    ];
    let config = decide("embed_batch_size = 0\nembed_timeout = 5", &env, &Flags::default()).unwrap();
    let models = &config.models;
    assert_eq!(models.embed_model.as_deref(), Some(Path::new("/home/me/model")));
    assert_eq!(
        (models.openai.base.as_str(), models.openai.embed_model.as_deref()),
        ("http://localhost:11434/v1", Some("nomic"))
    );
    assert_eq!(models.openai.key.as_ref().map(|key| key.0.as_str()), Some("sk-secret"));
    assert_eq!(models.google.embed_model.as_deref(), Some("gemini-embedding-001"));
    assert_eq!((models.embed_batch, models.embed_timeout, models.embed_price), (1, Duration::from_secs(5), Some(0.02)));
    let shown = format!("{config:?} {}", serde_json::json!(config.shown()));
    assert!(!shown.contains("sk-secret") && !shown.contains("AIza-secret"), "keys are never shown");
    let split = [("OPENAI_API_KEY", "two words"), ("HOME", "/home/me")];
    assert_eq!(decide("", &split, &Flags::default()).unwrap().models.openai.key, None);
    let hidden = [("OPENAI_API_BASE", "https://me:hunter2@example.org"), ("HOME", "/home/me")];
    assert!(!decide("", &hidden, &Flags::default()).unwrap_err().contains("hunter2"));
}

#[test]
fn a_project_adds_to_the_users_settings_and_the_users_win() {
    let user = decide("tests = ['!qa/own.py']\nmax_files = 50", &[], &flags(Settings::default())).unwrap();
    let file = "extra_ignore = ['data/']\ninclude = ['dist/']\ntests = ['qa/']\nmax_file_size = 1000\nmax_files = 7";
    let (config, warnings) = user.of_project(file);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(config.patterns(), ["data/", "!dist/"]);
    assert_eq!(config.all_roles().tests, ["qa/", "!qa/own.py"], "the last that fits decides");
    assert_eq!((config.max_file_size, config.max_files), (1000, Some(50)));

    let (config, warnings) = Config::default().of_project("ignore = ['data/']");
    assert_eq!((config.patterns(), warnings.len()), (vec!["data/".to_owned()], 0), "a shorter name");
    let (config, warnings) = Config::default().of_project("ignore = ['a']\nextra_ignore = ['b']");
    assert_eq!(config.patterns(), ["b"]);
    assert!(warnings.len() == 1 && warnings[0].contains("an alias"), "{warnings:?}");

    let user = Config { extra_ignore: vec!["dist/".to_owned()], ..Config::default() };
    assert_eq!(user.of_project(file).0.patterns(), ["data/", "!dist/", "dist/"]);
}

#[test]
fn a_project_decides_nothing_that_is_not_its_own() {
    for file in [
        "ssh_command = 'sh -c evil'",
        "trusted_hosts = ['*']",
        "github_api_url = 'https://evil.example'",
        "ca_file = '/tmp/ca.pem'",
        "openai_api_base = 'https://evil.example'",
        "openai_embed_model = 'dear'",
        "embed_model = '/tmp/model'",
        "allow_secrets = ['*']",
        "path_map = ['/a=/']",
        "log_file = '/home/me/.bashrc'",
        "redact_source_root = false",
        "max_memory = 100000",
        "tools = 'full'",
    ] {
        let (config, warnings) = Config::default().of_project(file);
        assert!(warnings.len() == 1 && warnings[0].contains("was refused"), "{file}: {warnings:?}");
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()), "{file}");
    }
    let allowed: Vec<&str> = KEYS.iter().filter(|key| key.is_for_projects).map(|key| key.name).collect();
    let expected = [
        "max_file_size",
        "max_files",
        "extra_ignore",
        "include",
        "tests",
        "generated",
        "vendored",
        "entry_points",
        "languages",
        "not_secret",
    ];
    assert_eq!(allowed, expected);
}

#[test]
fn a_project_only_lowers_limits_and_its_mistakes_are_said() {
    let check = |file: &str, expected: &str| {
        let (config, warnings) = Config::default().of_project(file);
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{file}: {warnings:?}");
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()), "{file}");
    };
    check("max_file_size = 99999999", "99999999 is above the limit of 512000");
    check("max_files = -1", "was not used");
    check("tests = 'qa/'", "was not used");
    check("tests = ['[']", "`tests` in .codelode.toml has \"[\"");
    check("languages = ['php']", "pattern=language");
    check("extra_ignores = ['x']", "did you mean `extra_ignore`?");
    check("ignore = 'x'", "was not used");
    check("tests = ", ".codelode.toml was not used: ");
}

#[test]
fn each_setting_is_shown_with_its_origin() {
    let env = [("HOME", "/home/me"), ("CODELODE_FRESHNESS_MODE", "strict")];
    let given = Flags { index_dir: None, settings: Settings { max_tokens: Some(5), ..Settings::default() } };
    let (config, _) = decide("max_files = 9\ntests = ['own/']", &env, &given).unwrap().of_project("tests = ['qa/']");
    let shown = config.shown();
    let line = |key: &str| {
        let one = shown.iter().find(|shown| shown.key == key).expect("it is a setting");
        format!("{} {} {}", one.value, one.origins.join("+"), one.places.join(", "))
    };
    assert_eq!(line("index_dir"), "\"/home/me/.code-index\" default default");
    assert_eq!(line("max_files"), "9 user_file config.toml");
    assert_eq!(line("freshness"), "\"strict\" environment the environment (CODELODE_FRESHNESS_MODE)");
    assert_eq!(line("max_tokens"), "5 command_line the command line");
    assert_eq!(line("tests"), "[\"qa/\",\"own/\"] project_file+user_file .codelode.toml, config.toml");
    assert_eq!(line("max_file_size"), "512000 default default");
    assert_eq!(shown.len(), KEYS.len() + 1);
}

#[test]
fn models_that_summarise_are_set_by_their_usual_names() {
    let env = [
        ("HOME", "/home/me"),
        ("ANTHROPIC_API_KEY", "sk-a"),
        ("ANTHROPIC_MODEL", "claude"),
        ("GOOGLE_MODEL", "gemini"),
        ("OPENAI_MODEL", "local"),
        ("OPENAI_CONCURRENCY", "2"),
        ("OPENAI_BATCH_SIZE", "5"),
        ("OPENAI_MAX_TOKENS", "700"),
        ("CODELODE_SUMMARY_PRICE", "1/$5"),
    ];
    let models = decide("summary_provider = 'google'", &env, &Flags::default()).unwrap().models;
    assert_eq!(models.anthropic.key, Some(Secret("sk-a".to_owned())));
    assert_eq!(models.anthropic.model.as_deref(), Some("claude"));
    assert_eq!(models.google.model.as_deref(), Some("gemini"));
    assert_eq!(models.openai.model.as_deref(), Some("local"));
    assert_eq!((models.summary_concurrency, models.summary_batch, models.summary_max_tokens), (2, 5, Some(700)));
    assert_eq!((models.summary_price, models.summary_provider.as_deref()), (Some((1.0, 5.0)), Some("gemini")));
    assert!(decide("summary_provider = 'bing'", &env, &Flags::default()).unwrap_err().contains("anthropic"));
    assert!(decide("summary_price = '1'", &env, &Flags::default()).unwrap_err().contains("1/5"));
}

#[test]
fn an_editor_is_a_scheme_or_a_link() {
    let link = |text: &str| decide("", &[("CODELODE_EDITOR_LINK", text)], &flags(Settings::default()));
    let good = |text: &str| link(text).unwrap().editor_link.unwrap_or_default();
    assert_eq!(good("vscode"), "vscode://file{path}:{line}");
    assert_eq!(good("idea"), "idea://open?file={path}&line={line}");
    assert_eq!(good("my-editor://at?f={path}"), "my-editor://at?f={path}");
    for broken in ["javascript", "javascript://{path}", "https://evil.example/{path}", "vscode://file", "a b", "<a>"] {
        assert!(link(broken).unwrap_err().contains("scheme of an editor"), "{broken}");
    }
}
