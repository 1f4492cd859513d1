//! A fresh index as a request sees it: files by address, positions of the protocol, and symbols at them.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lsp_server::ErrorCode;
use lsp_types::{Location, Position, Range, TextDocumentPositionParams, Uri};

use super::positions::{self, Lines};
use super::symbols::whole;
use super::workspace::{Workspace, path_of};
use codelode_base::model::Span;
use codelode_query::{self as query, LazyFacts, NameAt};
use codelode_service::answer::{Code, Error, Request};
use codelode_service::catalog::indexes::{self, Repo};
use codelode_service::catalog::{packages, related};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolView};

/// An error for the client.
#[derive(Debug)]
pub(super) struct Failure {
    pub code: ErrorCode,
    pub why: String,
}

impl Failure {
    pub fn new(code: ErrorCode, why: impl Into<String>) -> Self {
        Self { code, why: why.into() }
    }

    pub fn failed(err: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::RequestFailed, err.to_string())
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Self {
        let code = match err.code {
            Code::Cancelled => ErrorCode::RequestCanceled,
            Code::Internal => ErrorCode::InternalError,
            Code::InvalidArguments => ErrorCode::InvalidParams,
            _ => ErrorCode::RequestFailed,
        };
        Self::new(code, err.message)
    }
}

/// A request with the state that it is answered from.
pub(super) struct RequestView<'a> {
    pub workspace: &'a Workspace,
    pub request: Request,
}

impl RequestView<'_> {
    /// Answers about a position in a file; `None` for one that no index of the workspace holds.
    pub fn at<T>(
        &self,
        at: &TextDocumentPositionParams,
        ask: impl for<'v> Fn(&View<'v>, FilePosition<'v>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.about(&at.text_document.uri, |view, file| ask(view, view.spot(file, at.position)))
    }

    /// Answers about the names in a file.
    pub fn about<T>(
        &self,
        uri: &Uri,
        ask: impl for<'v> Fn(&View<'v>, FileView<'v>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let own = match self.inside(uri) {
            Some((path, place)) => self.on(&place, |view| view.file(&path).map(|file| ask(view, file)).transpose())?,
            None => None,
        };
        let package = if own.is_none() { self.package_of(uri) } else { None };
        let Some((repo, path)) = package else { return Ok(own) };
        let view = View { page: Page::new(self.workspace, &repo, &repo.snapshot), edges: related::edges(&repo)? };
        repo.snapshot.file(&path).map(|file| ask(&view, file)).transpose()
    }

    /// Answers about a file by its text and symbols, for which no names need to be resolved.
    pub fn about_text<T>(
        &self,
        uri: &Uri,
        ask: impl for<'v> Fn(&Page<'v>, FileView<'v>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let own = match self.inside(uri) {
            Some((path, place)) => self.about_own_text(&path, &place, &ask)?,
            None => None,
        };
        let package = if own.is_none() { self.package_of(uri) } else { None };
        let Some((repo, path)) = package else { return Ok(own) };
        let page = Page::new(self.workspace, &repo, &repo.snapshot);
        repo.snapshot.file(&path).map(|file| ask(&page, file)).transpose()
    }

    /// Answers about a file of the workspace by its text and symbols.
    fn about_own_text<T>(
        &self,
        path: &Path,
        place: &str,
        ask: &impl for<'v> Fn(&Page<'v>, FileView<'v>) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let caller = self.workspace.cx.caller(&self.request);
        let mut repo = indexes::open(&caller, Some(place))?;
        let ask = |repo: &Repo| {
            let overlaid = self.workspace.overlays.snapshot(repo, &self.workspace.documents.texts())?;
            let page = Page::new(self.workspace, repo, overlaid.as_deref().unwrap_or(&repo.snapshot));
            // Errors of this room pass through the other's loop as values.
            Ok((page.file(path).map(|file| ask(&page, file)).transpose(), page.paths()))
        };
        let (answer, _) = indexes::answered(&caller, &mut repo, ask, |_, (_, paths)| Some(paths.clone()))?;
        answer
    }

    /// Answers about names from the index that holds a path.
    pub fn on<T>(&self, place: &str, ask: impl for<'v> Fn(&View<'v>) -> Result<T, Failure>) -> Result<T, Failure> {
        let caller = self.workspace.cx.caller(&self.request);
        let answer = related::answer(&caller, Some(place), |repo, edges| {
            let overlaid = self.workspace.overlays.edges(repo, edges, &self.workspace.documents.texts())?;
            let (snapshot, edges) = match &overlaid {
                Some((snapshot, edges)) => (&**snapshot, edges),
                None => (&*repo.snapshot, edges),
            };
            let view = View { page: Page::new(self.workspace, repo, snapshot), edges };
            let answer = ask(&view);
            Ok((answer, view.paths()))
        });
        answer.map_err(Failure::from)?
    }

    /// Makes answers ready, also about what unsaved texts mean for other files.
    pub fn prepare(&self, place: &str) -> Result<(), Failure> {
        let caller = self.workspace.cx.caller(&self.request);
        Ok(related::answer(&caller, Some(place), |repo, edges| {
            self.workspace.overlays.complete(repo, edges, &self.workspace.documents.texts())?;
            Ok(((), Vec::new()))
        })?)
    }

    /// The path of a file inside the workspace, also as text.
    fn inside(&self, uri: &Uri) -> Option<(PathBuf, String)> {
        let path = self.workspace.inside(uri)?;
        let place = path.to_str()?.to_owned();
        Some((path, place))
    }

    /// The package that holds a file outside of the workspace, with the file's path in it.
    fn package_of(&self, uri: &Uri) -> Option<(Repo, String)> {
        let path = path_of(uri)?.canonicalize().ok()?;
        packages::holding(&self.workspace.cx.caller(&self.request), &path)
    }

    /// Whether the client has cancelled the request.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }

    /// Fails when the client has cancelled the request.
    pub fn check(&self) -> Result<(), Failure> {
        match self.is_cancelled() {
            true => Err(Failure::new(ErrorCode::RequestCanceled, "cancelled")),
            false => Ok(()),
        }
    }
}

/// A snapshot with its edges.
pub(super) struct View<'a> {
    page: Page<'a>,
    pub edges: &'a EdgeTable,
}

impl<'a> Deref for View<'a> {
    type Target = Page<'a>;

    fn deref(&self) -> &Page<'a> {
        &self.page
    }
}

/// A snapshot of texts and symbols.
pub(super) struct Page<'a> {
    pub workspace: &'a Workspace,
    pub repo: &'a Repo,
    pub snapshot: &'a Snapshot,
    /// Lines of the files in the answer.
    lines: RefCell<HashMap<u32, Rc<Lines<'a>>>>,
    /// Addresses of files that were named: making one takes longer than all else about a place.
    uris: RefCell<HashMap<u32, Option<Uri>>>,
}

/// A position in a file.
#[derive(Clone, Copy)]
pub(super) struct FilePosition<'a> {
    pub file: FileView<'a>,
    pub byte: u32,
    pub name: Option<NameAt<'a>>,
}

/// The whole of a symbol, and its name.
pub(super) fn spans_of<'a>(symbol: &SymbolView<'a>) -> [(FileView<'a>, Span); 2] {
    [(symbol.file, whole(symbol)), (symbol.file, symbol.name_span())]
}

impl<'a> View<'a> {
    pub fn spot(&self, file: FileView<'a>, position: Position) -> FilePosition<'a> {
        let byte = self.lines(file).byte(position) as u32;
        FilePosition { file, byte, name: query::name_at(self.edges, file, byte) }
    }

    /// The symbols that a name means: those that a use is bound to, else the one that is defined there.
    pub fn meant(&self, name: &NameAt<'a>) -> Vec<SymbolView<'a>> {
        let targets = name.edge.into_iter().flat_map(|edge| self.edges.targets(edge));
        let mut found: Vec<SymbolView<'a>> = targets.filter_map(|target| self.snapshot.symbol(target)).collect();
        if found.is_empty() {
            found.extend(name.symbol);
        }
        found
    }
}

impl<'a> Page<'a> {
    pub fn new(workspace: &'a Workspace, repo: &'a Repo, snapshot: &'a Snapshot) -> Self {
        Self { workspace, repo, snapshot, lines: RefCell::default(), uris: RefCell::default() }
    }

    /// The file at a path.
    fn file(&self, path: &Path) -> Option<FileView<'a>> {
        let file = self.snapshot.file(path.strip_prefix(self.repo.root.as_deref()?).ok()?.to_str()?)?;
        self.lines(file);
        Some(file)
    }

    /// A stored symbol as it is in an unsaved text; `None` when it is gone there.
    pub fn present(&self, stored: &SymbolView<'_>) -> Option<SymbolView<'a>> {
        let file = self.snapshot.file_by_number(stored.file.number())?;
        if file.hash() == stored.file.hash() {
            return self.snapshot.symbol(stored.number());
        }
        let id = stored.id();
        file.symbols().find(|symbol| symbol.name_bytes() == stored.name_bytes() && symbol.id() == id)
    }

    pub fn lines(&self, file: FileView<'a>) -> Rc<Lines<'a>> {
        let mut all = self.lines.borrow_mut();
        let lines = || Rc::new(Lines::of(file.content(), self.workspace.options.encoding));
        all.entry(file.number()).or_insert_with(lines).clone()
    }

    /// The facts of a file.
    pub fn facts(&self, file: FileView<'a>) -> LazyFacts<'a> {
        self.workspace.overlays.facts(self.repo, &file)
    }

    /// Paths of the files in the answer.
    fn paths(&self) -> Vec<String> {
        let (read, named) = (self.lines.borrow(), self.uris.borrow());
        let files: HashSet<u32> = read.keys().chain(named.keys()).copied().collect();
        files.into_iter().filter_map(|file| Some(self.snapshot.file_by_number(file)?.path().to_owned())).collect()
    }

    pub fn range(&self, file: FileView<'a>, span: Span) -> Range {
        self.lines(file).range(span)
    }

    pub fn uri(&self, file: FileView<'_>) -> Option<Uri> {
        let make = || self.workspace.uri(&self.repo.root.as_deref()?.join(file.path()));
        self.uris.borrow_mut().entry(file.number()).or_insert_with(make).clone()
    }

    pub fn location(&self, file: FileView<'a>, span: Span) -> Option<Location> {
        Some(Location { uri: self.uri(file)?, range: self.range(file, span) })
    }

    /// Ranges of spans in a file, by its lines if they are known.
    pub fn ranges_in(&self, file: FileView<'a>, spans: &[Span]) -> Vec<Range> {
        match self.lines.borrow().get(&file.number()) {
            Some(lines) => spans.iter().map(|span| lines.range(*span)).collect(),
            None => positions::ranges(file.content(), spans, self.workspace.options.encoding),
        }
    }

    /// Ranges of spans in several files. Those of one file are looked for together.
    pub fn ranges_at(&self, spans: &[(FileView<'a>, Span)]) -> Vec<Range> {
        let mut found = vec![Range::default(); spans.len()];
        let mut places: Vec<usize> = (0..spans.len()).collect();
        let file = |place: &usize| spans[*place].0.number();
        places.sort_by_key(file);
        for of_file in places.chunk_by(|one, other| file(one) == file(other)) {
            let own: Vec<Span> = of_file.iter().map(|place| spans[*place].1).collect();
            let ranges = self.ranges_in(spans[of_file[0]].0, &own);
            of_file.iter().zip(ranges).for_each(|(place, range)| found[*place] = range);
        }
        found
    }

    /// For each of some symbols the range of the whole and that of its name.
    pub fn ranges_of(&self, symbols: &[SymbolView<'a>]) -> Vec<(Range, Range)> {
        let spans: Vec<(FileView<'a>, Span)> = symbols.iter().flat_map(spans_of).collect();
        self.ranges_at(&spans).chunks_exact(2).map(|both| (both[0], both[1])).collect()
    }

    /// Locations of spans in a file.
    pub fn locations_in(&self, file: FileView<'a>, spans: &[Span]) -> Vec<Location> {
        let Some(uri) = self.uri(file) else { return Vec::new() };
        let ranges = self.ranges_in(file, spans);
        ranges.into_iter().map(|range| Location { uri: uri.clone(), range }).collect()
    }

    /// Locations of symbols' names, each once, in their order.
    pub fn locations(&self, symbols: &[SymbolView<'a>]) -> Vec<Location> {
        let mut seen = HashSet::new();
        let mut names: Vec<(usize, SymbolView<'a>)> = symbols
            .iter()
            .filter(|symbol| seen.insert((symbol.file.number(), symbol.name_span())))
            .copied()
            .enumerate()
            .collect();
        names.sort_by_key(|(_, symbol)| (symbol.file.number(), symbol.name_span()));
        let mut found = Vec::with_capacity(names.len());
        for of_file in names.chunk_by(|(_, one), (_, other)| one.file.number() == other.file.number()) {
            let spans: Vec<Span> = of_file.iter().map(|(_, symbol)| symbol.name_span()).collect();
            let locations = self.locations_in(of_file[0].1.file, &spans);
            found.extend(of_file.iter().map(|(place, _)| *place).zip(locations));
        }
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, location)| location).collect()
    }
}
