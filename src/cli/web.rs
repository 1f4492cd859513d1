//! `web`: pages for a browser on this machine.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Args;
use tempfile::{Builder, NamedTempFile};

use super::{FOUND, Global, complain, fail, flags, interrupt, log_to, output, watch};
use codelode_base::allocator;
use codelode_base::config::{self, Http, Settings};
use codelode_http as http;
use codelode_service::tools::{Context, Request, Views};
use codelode_web as web;

/// Browse code in a web browser: linked names, uses, search. Opens the browser with a private address.
#[derive(Args)]
pub(super) struct Web {
    /// Folder to start with, indexed if necessary [default: the current one].
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Port; 0 for any free one [default: 0].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address and open no browser.
    #[arg(long)]
    no_open: bool,
    /// Log file; the default is standard error.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
}

/// Serves pages until the process is told to end.
pub(super) fn run(global: &Global, how: Web) -> u8 {
    let settings = Settings { log_file: how.log_file, ..Settings::default() };
    let mut config = match config::load(&flags(global, settings)) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = log_to(&config) {
        return complain(&problem);
    }
    // This server is for one person, so settings for shared servers do not apply.
    config.http = Http { port: how.port, ..Http::default() };
    let mut bound = match http::bind(&config) {
        Ok(bound) => bound,
        Err(err) => return fail(&err),
    };
    if let Err(err) = bound.listen() {
        return fail(&err);
    }
    let ticket = match bound.lock() {
        Ok(ticket) => ticket,
        Err(err) => return fail(&err),
    };
    let watching = match watch::Watcher::default().start(&config) {
        Ok(watching) => watching,
        Err(problem) => return complain(&problem),
    };
    allocator::take_small_pages();
    let cx = Context::new(config);
    let cx = match watching {
        Some(watching) => cx.kept_by(watching),
        None => cx,
    };
    let named = how.path.or_else(|| global.repo.clone().map(PathBuf::from));
    let folder = named.as_deref().map_or_else(|| ".".into(), |path| path.to_string_lossy());
    let request = Request { directory: std::env::current_dir().ok(), ..Request::default() };
    let views = Arc::new(Views::new(cx));
    let path = match web::path_of_indexed(views.base(), &request, &folder) {
        Some(path) => path,
        // The first page shows the progress.
        None if Path::new(&*folder).is_dir() => {
            let (views, folder, is_named) = (views.clone(), folder.clone().into_owned(), named.is_some());
            std::thread::spawn(move || match web::path_of(views.base(), &request, &folder) {
                Err(err) if is_named => _ = complain(&err.message),
                // Outside a repository, other repositories can still be viewed.
                _ => {}
            });
            "/".to_owned()
        }
        None => match web::path_of(views.base(), &request, &folder) {
            Ok(path) => path,
            Err(err) => return complain(&err.message),
        },
    };
    let address = format!("{}{path}?{ticket}", bound.origin());
    output::complain(&format!("open {address} (once, in one browser); Ctrl-C ends\n"));
    // The file must exist until the browser has read it.
    let _opened = match how.no_open {
        true => None,
        false => {
            views.base().indexes.registry().prepare();
            let opened = open(&address, &views.base().config.home);
            opened.map_err(|err| output::complain(&format!("no browser was opened: {err}\n"))).ok()
        }
    };
    interrupt::IS_SERVER.store(true, Ordering::Relaxed);
    match web::serve(views, bound) {
        Ok(()) => FOUND,
        Err(err) => fail(&err),
    }
}

/// Opens an address in the user's browser through a file that redirects to it, and is removed on drop. Every user of
/// the machine can read a program's arguments, but only this user can read the file.
fn open(address: &str, folder: &Path) -> io::Result<NamedTempFile> {
    let only_us = Permissions::from_mode(0o600);
    let mut page = Builder::new().prefix("open-").suffix(".html").permissions(only_us).tempfile_in(folder)?;
    let escaped = address.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    writeln!(
        page,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={escaped}\"><title>codelode</title>\
         <p><a href=\"{escaped}\">Open codelode</a>"
    )?;
    page.flush()?;
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(page)
}
