//! Conventions of Python: dunder names, pytest, and package manifests.

use crate::languages::{Conventions, Framework, Named, Package, Public};
use crate::model::Kind;

const COMMANDS: Named = Named::Functions { endings: &[".py", "/__init__.py"] };

/// Conventions of Python.
pub static CONVENTIONS: Conventions = Conventions {
    starts: &[(Kind::Function, "main")],
    started: Some("__main__"),
    constructors: &["__init__"],
    tests: &["test", "Test", "setUp", "tearDown", "setup_", "teardown_", "pytest_"],
    test_files: &["test_*", "*_test", "conftest", "test", "tests"],
    public: Public::Unless("_"),
    faces: &["__init__", "__main__"],
    packages: &[
        Package { file: "setup.py", says: &[], names: COMMANDS },
        Package { file: "setup.cfg", says: &[], names: COMMANDS },
        Package { file: "pyproject.toml", says: &["[project]", "[tool.poetry]"], names: COMMANDS },
    ],
    wildcards: &["import *"],
    reflection: &["getattr(", "globals()", "locals()", "methodcaller(", "vars("],
    frameworks: FRAMEWORKS,
    is_implied: |name| name.starts_with("__") && name.ends_with("__") || name.starts_with("_missing_"),
    may_override: |_, name| !name.starts_with("__"),
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
    plain_bases: &["object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum", "NamedTuple", "TypedDict"],
    ..Conventions::NEUTRAL
};

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
            "load_tests",
            "lambda_handler",
            "get_requires_for_build_*",
            "prepare_metadata_for_build_*",
            "build_wheel",
            "build_sdist",
            "build_editable",
        ],
    },
    Framework { files: &["**/conf.py", "**/conftest.py", "**/*.conf.py"], names: &[] },
    // Django.
    Framework { files: &["**/management/commands/*.py"], names: &["Command"] },
    Framework {
        files: &["**/migrations/*.py", "**/apps.py", "**/admin.py", "**/templatetags/*.py", "**/locale/**/formats.py"],
        names: &[],
    },
    Framework { files: &["**/versions/*.py"], names: &["upgrade", "downgrade"] },
];
