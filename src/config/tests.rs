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
    assert_eq!(config.in_vain, ["use_ai_summaries"], "and context providers are not asked for");
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
    assert!(decide("", &[], &Flags::default()).unwrap_err().contains("--index-dir"));
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
    check("tools = ' , '", &[], "say lean, core, full");
    check(
        "",
        &[("CODELODE_MAX_FILES", "-1")],
        "`CODELODE_MAX_FILES` in the environment is \"-1\"; give a whole number",
    );
    check("", &[("JCODEMUNCH_FRESHNESS_MODE", "x")], "`JCODEMUNCH_FRESHNESS_MODE` in the environment is \"x\"; say");
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
    let is_shown = |key: &&&str| !["use_ai_summaries", "context_providers"].contains(*key);
    let shown: Vec<&str> = settings::KEYS.iter().filter(is_shown).copied().collect();
    assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), shown);
    for key in settings::KEYS {
        assert!(VARIABLES.iter().any(|variable| variable.sets == *key), "{key} has no variable");
    }
}

#[test]
fn asking_for_what_no_version_does_yet_is_remembered_and_asking_for_nothing_is_not() {
    let none = Flags::default();
    let in_vain = |file: &str, env: &[(&str, &str)]| {
        let env: Vec<(&str, &str)> = env.iter().copied().chain([("HOME", "/home/me")]).collect();
        decide(file, &env, &none).unwrap().in_vain
    };
    assert_eq!(in_vain("use_ai_summaries = false\ncontext_providers = false", &[]), [""; 0]);
    assert_eq!(in_vain("context_providers = true", &[]), ["context_providers"]);
    assert_eq!(in_vain("context_providers = true", &[("CODELODE_CONTEXT_PROVIDERS", "no")]), [""; 0]);
    assert_eq!(in_vain("", &[("CODELODE_TRANSPORT", "stdio"), ("JCODEMUNCH_PORT", "8901")]), [""; 0]);
    let http = [("JCODEMUNCH_TRANSPORT", "sse"), ("CODELODE_HTTP_TOKEN", "secret")];
    assert_eq!(in_vain("", &http), ["JCODEMUNCH_TRANSPORT", "CODELODE_HTTP_TOKEN"]);
}
