//! Conventions of Python: dunder names, pytest, and package manifests.

use crate::languages::{Conventions, Framework, ManifestPart, Offers, Package, Public};
use codelode_base::model::Kind;

const COMMANDS: ManifestPart = ManifestPart::Functions { endings: &[".py", "/__init__.py"] };

/// Conventions of Python.
pub static CONVENTIONS: Conventions = Conventions {
    starts: &[(Kind::Function, "main")],
    started: Some("__main__"),
    constructors: &["__init__"],
    tests: &["test", "Test", "setUp", "tearDown", "setup_", "teardown_", "pytest_"],
    test_files: &["test_*", "*_test", "*_tests", "conftest", "test", "tests"],
    runner: Some(&super::runner::RUNNER),
    offers: Offers::Entries,
    public: Public::Unless("_"),
    folder_files: &["__init__"],
    bundles: &["packages"],
    packages: &[
        Package { file: "setup.py", says: &[], names: COMMANDS },
        Package { file: "setup.cfg", says: &[], names: COMMANDS },
        Package { file: "pyproject.toml", says: &["[project]", "[tool.poetry]"], names: COMMANDS },
    ],
    wildcards: &["import *"],
    reflection: &["getattr(", "globals()", "locals()", "methodcaller(", "vars(", "getmembers(", " dir("],
    by_shape: true,
    frameworks: FRAMEWORKS,
    is_implied: |name| {
        // Settings are read by their names: `settings.TRACE_INIT()`.
        let is_setting = name.contains('_') && name.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'_'));
        // `__len__`, and `_missing_` of enumerations.
        name.len() > 2 && name.starts_with('_') && name.ends_with('_') || is_setting
    },
    may_override: |_, name| !name.starts_with("__"),
    asked_for: |asked| PROTOCOLS.contains(&asked.name),
    plain_decorators: &[
        "property",
        "cached_property",
        "staticmethod",
        "classmethod",
        "abstractmethod",
        "overload",
        "override",
        "final",
        "dataclass",
        "total_ordering",
        "wraps",
        "lru_cache",
        "cache",
        "contextmanager",
        "asynccontextmanager",
        "setter",
        "getter",
        "deleter",
        "runtime_checkable",
        "no_type_check",
        "unique",
        "deprecated",
    ],
    plain_bases: &[
        "object",
        "ABC",
        "ABCMeta",
        "Generic",
        "Protocol",
        "Enum",
        "EnumMeta",
        "EnumType",
        "IntEnum",
        "StrEnum",
        "NamedTuple",
        "TypedDict",
    ],
    declarations: &[".pyi"],
    ..Conventions::NEUTRAL
};

/// Methods of files, locks, mappings and sequences, which the standard library calls on any object.
const PROTOCOLS: &[&str] = &[
    "read",
    "read1",
    "readinto",
    "readline",
    "readlines",
    "readable",
    "write",
    "writelines",
    "writable",
    "seek",
    "seekable",
    "tell",
    "truncate",
    "flush",
    "close",
    "fileno",
    "isatty",
    "detach",
    "getvalue",
    "acquire",
    "release",
    "locked",
    "keys",
    "values",
    "items",
    "get",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "append",
    "extend",
    "insert",
    "remove",
    "clear",
    "copy",
    "index",
    "count",
    "sort",
    "reverse",
    "emit",
    "find_spec",
    "find_module",
    "load_module",
    "exec_module",
    "create_module",
    "get_data",
    "get_source",
    "get_code",
    "is_package",
    "_repr_html_",
    "_repr_pretty_",
    "_repr_mimebundle_",
];

/// Frameworks and tools that discover definitions by name.
const FRAMEWORKS: &[Framework] = &[
    // Sphinx and IPython extensions, pytest plugins, build hooks, handlers of cloud functions.
    Framework {
        files: &["**/*.py"],
        names: &[
            "setup",
            "pytest_*",
            "pdm_build_*",
            "load_ipython_extension",
            "unload_ipython_extension",
            "load_jupyter_server_extension",
            "_load_jupyter_server_extension",
            "_jupyter_*",
            "load_tests",
            "lambda_handler",
            "get_requires_for_build_*",
            "prepare_metadata_for_build_*",
            "build_wheel",
            "build_sdist",
            "build_editable",
        ],
    },
    Framework { files: &["**/conf.py", "**/conftest.py", "**/*.conf.py", "**/hatch_build.py"], names: &[] },
    // Django.
    Framework { files: &["**/management/commands/*.py"], names: &["Command"] },
    Framework {
        files: &["**/migrations/*.py", "**/apps.py", "**/admin.py", "**/templatetags/*.py", "**/locale/**/formats.py"],
        names: &[],
    },
    // Macros and hooks of MkDocs.
    Framework { files: &["**/*.py"], names: &["define_env", "on_page_*", "on_post_*", "on_pre_*"] },
    // PyInstaller.
    Framework { files: &["**/hook-*.py"], names: &["hook", "pre_*"] },
    // 2to3 and its like.
    Framework { files: &["**/fix_*.py"], names: &["Fix*"] },
    Framework { files: &["**/versions/*.py"], names: &["upgrade", "downgrade"] },
];
