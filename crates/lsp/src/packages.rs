//! Names of a project, or of a package that it led to, that mean symbols of installed packages.

use lsp_types::TextDocumentPositionParams;

use super::view::{Failure, Page, RequestView};
use codelode_service::catalog::packages::{self, ExternalName};
use codelode_store::{FileView, SymbolView};

/// Tells of the symbols that the name at a position means in packages, or of the files that it means as a module, as
/// [`meanings`] does.
pub(super) fn meant<T>(
    asked: &RequestView<'_>,
    at: &TextDocumentPositionParams,
    tell: impl for<'v> Fn(&Page<'v>, &[SymbolView<'v>], &[FileView<'v>]) -> T,
) -> Result<Vec<T>, Failure> {
    let caller = asked.workspace.cx.caller(&asked.request);
    let name = asked
        .at(at, |view, spot| Ok(packages::outside(&caller, view.repo, spot.file, &view.facts(spot.file), spot.byte)))?;
    name.flatten().map_or_else(|| Ok(Vec::new()), |name| meanings(asked, &name, tell))
}

/// Tells of the symbols that a name means in packages, or of the files that it means as a module. A package is indexed at its
/// first use.
pub(super) fn meanings<T>(
    asked: &RequestView<'_>,
    name: &ExternalName,
    tell: impl for<'v> Fn(&Page<'v>, &[SymbolView<'v>], &[FileView<'v>]) -> T,
) -> Result<Vec<T>, Failure> {
    let found = packages::meanings(&asked.workspace.cx.caller(&asked.request), name)?;
    let told = found.iter().map(|inside| {
        let snapshot = &*inside.repo.snapshot;
        let symbols: Vec<SymbolView<'_>> = inside.symbols.iter().filter_map(|id| snapshot.symbol(*id)).collect();
        let files: Vec<FileView<'_>> = inside.files.iter().filter_map(|file| snapshot.file_by_number(*file)).collect();
        tell(&Page::new(asked.workspace, &inside.repo, snapshot), &symbols, &files)
    });
    Ok(told.collect())
}
