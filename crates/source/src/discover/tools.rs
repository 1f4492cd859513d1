//! Detection of folders filled by tools: build output and vendored code.
//!
//! A name alone proves nothing: Go's `archive/zip` and `go/build` are source, and a shop has a `vendor` package. So a
//! folder is excluded only beside a sign of a tool that writes under that name: a file such as `Cargo.toml` beside
//! `target`.

/// A set of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tools(u32);

impl Tools {
    const CARGO: Self = Self(1);
    const NPM: Self = Self(1 << 1);
    const GO: Self = Self(1 << 2);
    const GRADLE: Self = Self(1 << 3);
    const MAVEN: Self = Self(1 << 4);
    const PYTHON: Self = Self(1 << 5);
    const COMPOSER: Self = Self(1 << 6);
    const BUNDLER: Self = Self(1 << 7);
    const CMAKE: Self = Self(1 << 8);
    const BAZEL: Self = Self(1 << 9);
    const DOTNET: Self = Self(1 << 10);
    const SBT: Self = Self(1 << 11);
    const MIX: Self = Self(1 << 12);
    const SWIFT: Self = Self(1 << 13);
    const COCOAPODS: Self = Self(1 << 14);
    const ZIG: Self = Self(1 << 15);
    const CABAL: Self = Self(1 << 16);
    const DUNE: Self = Self(1 << 17);
    const ELM: Self = Self(1 << 18);
    const FLUTTER: Self = Self(1 << 19);
    const SPHINX: Self = Self(1 << 20);
    const MESON: Self = Self(1 << 21);
    const GN: Self = Self(1 << 22);
    const GORELEASER: Self = Self(1 << 23);
    const FOUNDRY: Self = Self(1 << 24);

    /// Union of both sets.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Tools that a file of this name indicates.
    pub(super) fn of_sign(name: &str) -> Self {
        match name {
            "Cargo.toml" => Self::CARGO,
            "package.json" => Self::NPM,
            "go.mod" | "go.work" => Self::GO,
            "build.gradle" | "build.gradle.kts" | "settings.gradle" | "settings.gradle.kts" => Self::GRADLE,
            "pom.xml" => Self::MAVEN,
            "setup.py" | "setup.cfg" | "pyproject.toml" => Self::PYTHON,
            "composer.json" => Self::COMPOSER,
            "Gemfile" | "gems.rb" => Self::BUNDLER,
            "CMakeLists.txt" => Self::CMAKE,
            "WORKSPACE" | "WORKSPACE.bazel" | "MODULE.bazel" | "BUILD.bazel" => Self::BAZEL,
            "build.sbt" => Self::SBT,
            "mix.exs" => Self::MIX,
            "Package.swift" => Self::SWIFT,
            "Podfile" => Self::COCOAPODS,
            "build.zig" => Self::ZIG,
            "cabal.project" | "stack.yaml" => Self::CABAL,
            "dune-project" => Self::DUNE,
            "elm.json" => Self::ELM,
            "pubspec.yaml" => Self::FLUTTER,
            "conf.py" => Self::SPHINX,
            "meson.build" => Self::MESON,
            "BUILD.gn" | ".gn" => Self::GN,
            ".goreleaser.yml" | ".goreleaser.yaml" => Self::GORELEASER,
            "foundry.toml" => Self::FOUNDRY,
            _ => match name.rsplit_once('.') {
                Some((_, "csproj" | "fsproj" | "vbproj" | "sln" | "slnx")) => Self::DOTNET,
                Some((_, "cabal")) => Self::CABAL,
                _ => Self::default(),
            },
        }
    }

    fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Kind of content that a tool writes into a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolOutput {
    /// Build output. When git tracks it, it is meant to be read.
    BuildOutput,
    /// Third-party code, tracked or not.
    Vendored,
}

/// Kind of content in the folder `name`, when one of the `tools` beside it writes there.
pub(super) fn filled(name: &str, tools: Tools) -> Option<ToolOutput> {
    // Most folders have no tool beside them, so the table is rarely read.
    if tools == Tools::default() {
        return None;
    }
    let writes = |table: &[(&str, Tools)]| table.iter().any(|(folder, by)| *folder == name && by.meet(tools));
    if writes(VENDORED) {
        Some(ToolOutput::Vendored)
    } else if writes(BUILD_OUTPUT) || (name.starts_with("cmake-build-") && tools.meet(Tools::CMAKE)) {
        Some(ToolOutput::BuildOutput)
    } else {
        None
    }
}

/// Folder name, and the tools that write into it.
type Row = (&'static str, Tools);

/// Folders of third-party code.
const VENDORED: &[Row] = &[
    ("vendor", Tools::GO.and(Tools::CARGO).and(Tools::NPM).and(Tools::COMPOSER).and(Tools::BUNDLER).and(Tools::BAZEL)),
    // The name itself marks third-party code; the sign of any build tool is enough.
    ("third_party", Tools(u32::MAX)),
];

/// Folders of build output.
const BUILD_OUTPUT: &[Row] = &[
    ("target", Tools::CARGO.and(Tools::MAVEN).and(Tools::SBT)),
    ("build", Tools::NPM.and(Tools::GRADLE).and(Tools::PYTHON).and(Tools::CMAKE).and(Tools::FLUTTER).and(Tools::MESON)),
    ("dist", Tools::NPM.and(Tools::PYTHON).and(Tools::GORELEASER).and(Tools::CABAL)),
    ("out", Tools::NPM.and(Tools::GRADLE).and(Tools::MAVEN).and(Tools::CMAKE).and(Tools::GN).and(Tools::FOUNDRY)),
    ("generated", Tools::NPM.and(Tools::GRADLE).and(Tools::MAVEN).and(Tools::GO).and(Tools::CARGO)),
    ("coverage", Tools::NPM.and(Tools::COMPOSER).and(Tools::BUNDLER)),
    ("htmlcov", Tools::PYTHON),
    ("storybook-static", Tools::NPM),
    ("bin", Tools::DOTNET),
    ("obj", Tools::DOTNET),
    ("_build", Tools::MIX.and(Tools::DUNE).and(Tools::SPHINX)),
    ("deps", Tools::MIX),
    (".build", Tools::SWIFT),
    ("Pods", Tools::COCOAPODS),
    ("zig-out", Tools::ZIG),
    ("zig-cache", Tools::ZIG),
    ("dist-newstyle", Tools::CABAL),
    ("elm-stuff", Tools::ELM),
];

#[cfg(test)]
mod tests {
    use super::{ToolOutput, Tools, filled};

    fn beside(name: &str, signs: &[&str]) -> Option<ToolOutput> {
        filled(name, signs.iter().fold(Tools::default(), |tools, sign| tools.and(Tools::of_sign(sign))))
    }

    #[test]
    fn a_folder_is_filled_where_its_tool_is_at_home() {
        for (name, sign) in [
            ("target", "Cargo.toml"),
            ("target", "pom.xml"),
            ("build", "build.gradle.kts"),
            ("build", "package.json"),
            ("dist", "package.json"),
            ("dist", "pyproject.toml"),
            ("out", "package.json"),
            ("generated", "pom.xml"),
            ("obj", "Shop.csproj"),
            ("cmake-build-debug", "CMakeLists.txt"),
        ] {
            assert_eq!(beside(name, &["README.md", sign]), Some(ToolOutput::BuildOutput), "{name} beside {sign}");
        }
        for (name, sign) in [("vendor", "go.mod"), ("vendor", "composer.json"), ("third_party", "CMakeLists.txt")] {
            assert_eq!(beside(name, &[sign]), Some(ToolOutput::Vendored), "{name} beside {sign}");
        }
    }

    #[test]
    fn a_name_alone_proves_nothing() {
        for (name, sign) in [
            ("target", "README.md"),
            ("target", "package.json"),
            ("build", "go.mod"),
            ("build", "Cargo.toml"),
            ("dist", "go.mod"),
            ("bin", "package.json"),
            ("vendor", "models.py"),
            ("third_party", "README.md"),
            ("src", "Cargo.toml"),
        ] {
            assert_eq!(beside(name, &[sign]), None, "{name} beside {sign}");
        }
    }
}
