//! Real editors without a screen: they start the server, ask, edit a text without saving it, ask again, and leave.

use std::process::Command;

use serde_json::Value;

use super::editor::{one, write};
use crate::client::skipped;

const PROJECT: &str = "--- item.py\nclass Item:\n    \"\"\"Is sold.\"\"\"\n    def price(self): return 1\n--- cart.py\nfrom item import Item\n\n\
def total(item: Item):\n    return 'é𝒳', item.price()\n";

const NEOVIM: &str = r#"
local exe, root, out = vim.env.EXE, vim.env.ROOT, vim.env.OUT
vim.cmd('edit ' .. root .. '/cart.py')
local id = vim.lsp.start_client({ name = 'codelode', cmd = { exe, 'lsp' }, root_dir = root })
vim.lsp.buf_attach_client(0, id)
vim.wait(60000, function() local c = vim.lsp.get_client_by_id(id) return c and c.initialized end)
local function ask(method, extra)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(), extra or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 60000)
  return answers[id].result
end
local told = {}
vim.fn.search('price')
told.definition = ask('textDocument/definition')
told.hover = ask('textDocument/hover')
vim.fn.search('Item', 'w')
told.references = ask('textDocument/references', { context = { includeDeclaration = true } })
vim.api.nvim_buf_set_lines(0, 1, 1, false, { '', 'def more(𝒳: Item): return 𝒳.price()' })
vim.fn.cursor(3, 1)
vim.fn.search('price')
told.unsaved = ask('textDocument/definition')
told.symbols = ask('textDocument/documentSymbol')
local file = io.open(out, 'w')
file:write(vim.json.encode(told))
file:close()
vim.lsp.stop_client(id)
vim.wait(5000, function() return vim.lsp.client_is_stopped(id) end)
vim.cmd('qa!')
"#;

const EMACS: &str = r#"
(require 'package)
(package-initialize)
(require 'eglot)
(require 'json)
(setq eglot-sync-connect 60 eglot-connect-timeout 60 jsonrpc-default-request-timeout 60
      eglot-server-programs `((python-mode . (,(getenv "EXE") "lsp"))))
(find-file (concat (getenv "ROOT") "/cart.py"))
(python-mode)
(setq case-fold-search nil)
(apply #'eglot (eglot--guess-contact))
(defun ask (method &rest extra)
  (jsonrpc-request (eglot--current-server-or-lose) method
                   (append (eglot--TextDocumentPositionParams) extra)))
(let (told)
  (goto-char (point-min))
  (search-forward ".pri")
  (push (cons 'definition (ask :textDocument/definition)) told)
  (push (cons 'hover (ask :textDocument/hover)) told)
  (goto-char (point-min))
  (search-forward "Ite")
  (push (cons 'references (ask :textDocument/references :context '(:includeDeclaration t))) told)
  (forward-line 1)
  (insert "\ndef more(𝒳: Item): return 𝒳.price()\n")
  (search-backward "ice")
  (eglot--signal-textDocument/didChange)
  (push (cons 'unsaved (ask :textDocument/definition)) told)
  (push (cons 'symbols (jsonrpc-request (eglot--current-server-or-lose) :textDocument/documentSymbol
                                        (list :textDocument (eglot--TextDocumentIdentifier)))) told)
  (with-temp-file (getenv "OUT") (insert (json-encode told)))
  (set-buffer-modified-p nil)
  (eglot-shutdown (eglot--current-server-or-lose)))
"#;

/// Runs an editor with a script, and checks what it was told.
fn check(program: &str, args: &[&str], ending: &str, script: &str) {
    if Command::new(program).arg("--version").output().is_err() {
        return skipped(&format!("there is no {program}"));
    }
    let folder = tempfile::tempdir().expect("there is room");
    let place = folder.path().canonicalize().expect("it is there");
    let (root, out) = (place.join("project"), place.join("told.json"));
    write(PROJECT, &root);
    let file = place.join(format!("script.{ending}"));
    std::fs::write(&file, script).expect("there is room");
    let mut command = Command::new(program);
    command.args(args).arg(&file).current_dir(&root).env("HOME", &place).env("XDG_STATE_HOME", &place);
    command.env("EXE", env!("CARGO_BIN_EXE_codelode")).env("ROOT", &root).env("OUT", &out);
    let ran =
        command.env("LC_ALL", "C.UTF-8").env("CODE_INDEX_PATH", place.join("index")).output().expect("it is there");
    let said = String::from_utf8_lossy(&ran.stderr);
    if ending == "el" && said.contains("Cannot open load file") {
        return skipped("there is no eglot");
    }
    let told = std::fs::read_to_string(&out).unwrap_or_else(|_| panic!("{program} told nothing: {said}"));
    compare(&serde_json::from_str(&told).expect("it is JSON"));
}

fn compare(told: &Value) {
    let shown = |key: &str| {
        let list = told[key].as_array().unwrap_or_else(|| panic!("no list of {key}: {told}"));
        let mut shown: Vec<String> = list.iter().map(one).collect();
        shown.sort();
        shown
    };
    assert_eq!(shown("definition"), ["item.py:3:9"]);
    let hover = told["hover"]["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("def price(self)"), "{hover}");
    assert_eq!(shown("references"), ["cart.py:1:18", "cart.py:3:17", "item.py:1:7"]);
    assert_eq!(shown("unsaved"), ["item.py:3:9"]);
    let names: Vec<&Value> = told["symbols"].as_array().expect("a list").iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["more", "total"]);
}

#[test]
fn neovim_is_answered() {
    check("nvim", &["--headless", "-u", "NONE", "-n", "-i", "NONE", "-S"], "lua", NEOVIM);
}

#[test]
fn emacs_with_eglot_is_answered() {
    check("emacs", &["--batch", "--no-init-file", "-l"], "el", EMACS);
}
