//! Conventions of JavaScript and TypeScript: `export`, npm packages, and how test files are called.

use crate::languages::conventions::says;
use crate::languages::{Conventions, Framework, ManifestPart, Offers, Owner, Package, Privacy, Public};
use codelode_base::model::Kind;

/// Endings that a manifest may leave out of the path of a file.
const ENDINGS: &[&str] =
    &[".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", "/index.js", "/index.ts", "/index.tsx", "/index.mjs"];
/// A manifest that names sources as they are.
const SOURCES: ManifestPart = ManifestPart::Files { faces: &["exports"], programs: &[], endings: ENDINGS };

/// See [`Conventions`].
pub static CONVENTIONS: Conventions = Conventions {
    starts: &[(Kind::Function, "main")],
    constructors: &["constructor"],
    folder_files: &["index"],
    served: &[".js", ".mjs"],
    tests: &["test", "describe"],
    // Declarations without bodies describe code that is elsewhere.
    test_files: &[
        "*.test",
        "*.spec",
        "*.bench",
        "*.stories",
        "*.d",
        "*.test.*",
        "*.spec.*",
        "*.d.*",
        "test",
        "setupTests",
        "vitest.setup",
        "jest.setup",
    ],
    runner: Some(&super::runner::RUNNER),
    offers: Offers::Entries,
    privacy: Privacy::File,
    public: Public::Exported(&["export", "exports."]),
    packages: &[
        Package {
            file: "package.json",
            says: &["\"main\"", "\"module\"", "\"exports\"", "\"bin\""],
            names: ManifestPart::Files {
                faces: &["main", "module", "browser", "bin", "exports", "types", "source"],
                programs: &["bin"],
                endings: ENDINGS,
            },
        },
        Package { file: "jsr.json", says: &["\"exports\""], names: SOURCES },
        Package { file: "deno.json", says: &["\"exports\""], names: SOURCES },
    ],
    wildcards: &["export *", "export type *", "exports", "...require("],
    reflection: &["["],
    by_shape: true,
    platforms: &[
        "browser", "node", "native", "web", "ios", "android", "server", "client", "deno", "bun", "edge", "worker",
    ],
    frameworks: FRAMEWORKS,
    is_implied: |name| {
        name.starts_with('[')
            || matches!(name, "constructor" | "toString" | "toLocaleString" | "valueOf" | "toJSON" | "then" | "inspect")
            || matches!(
                name,
                "connectedCallback" | "disconnectedCallback" | "attributeChangedCallback" | "adoptedCallback"
            )
    },
    // Libraries read static members, too: `static getDerivedStateFromError`.
    may_override: |words, name| !says(words, &["private"]) && !name.starts_with('#'),
    structural: true,
    unnamed_interfaces: true,
    owner: Owner::Value,
    plain_bases: &["Object"],
    shorthand: true,
    ..Conventions::NEUTRAL
};

/// Frameworks and tools that find files or exports by convention.
const FRAMEWORKS: &[Framework] = &[
    // Next.js, SvelteKit, Remix and others that find pages by their files.
    Framework {
        files: &[
            "**/app/**/{page,layout,loading,error,not-found,template,default,route,global-error}.{ts,tsx,js,jsx}",
            "**/app/**/{sitemap,robots,manifest,icon,apple-icon,opengraph-image,twitter-image}.{ts,tsx,js,jsx}",
            "**/{pages,routes}/**/*.{ts,tsx,js,jsx}",
            "**/{middleware,instrumentation,proxy,mdx-components}.{ts,tsx,js}",
            "**/+{page,layout,server,error}*.{ts,js}",
            "**/*.stories.{ts,tsx,js,jsx}",
            "**/.storybook/**",
        ],
        names: &[],
    },
    // Tools that load their configuration.
    Framework {
        files: &[
            "**/*.{config,conf,setup}.{js,ts,mjs,cjs,mts,cts}",
            "**/{gulpfile,Gruntfile,Jakefile,Gulpfile}*.{js,ts,mjs,cjs}",
            "**/.*rc.{js,cjs,mjs}",
        ],
        names: &[],
    },
    // Extensions of editors.
    Framework { files: &["**/*.{ts,js}"], names: &["activate", "deactivate"] },
];
