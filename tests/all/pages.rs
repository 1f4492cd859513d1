//! Pages for browsers, as the server writes them: links, versions, rights, and hostile repositories.

use std::fs;
use std::path::Path;
use std::process::Command;

use sha2::{Digest, Sha256};

use super::web::{Client, Reply, Site};

fn page(client: &Client, path: &str) -> String {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    reply.body
}

/// The address of the first link with this text.
fn link(page: &str, text: &str) -> String {
    let end = page.find(&format!(">{text}</a>")).unwrap_or_else(|| panic!("no link {text:?} in\n{page}"));
    let start = page[..end].rfind("href=\"").expect("a link has an address") + 6;
    let address = &page[start..start + page[start..].find('"').expect("it ends")];
    address.replace("&amp;", "&")
}

/// Runs git in a folder.
pub fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]);
    let ran = command.args(arguments).current_dir(folder).env("HOME", folder).output().expect("the tests need git");
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn names_are_links_to_definitions_and_definitions_to_their_uses() {
    let site = Site::start(&["--web"]);
    let client = site.client();
    let start = page(&client, "/");
    let root = link(&start, &site.repo("shop"));
    assert_eq!(root, format!("/r/{}/", site.repo("shop")));
    let file = link(&page(&client, &root), "numbers.py");
    let code = page(&client, &file);
    assert!(code.contains("<i class=\"k\">return</i>"), "{code}");
    assert!(code.contains("1 of 1 names resolved"), "{code}");
    let line = code.lines().find(|line| line.contains("id=\"L2\"")).expect("there is a second line");
    assert!(line.contains("<a class=\"n-local\" href=\"#L1\">a</a> + <a"), "{line}");
    let line = code.lines().find(|line| line.contains("id=\"L7\"")).expect("there are seven lines");
    assert!(line.contains("<a class=\"n-fn\" href=\"#L1\">add</a>"), "{line}");
    let first = code.find("id=\"L1\"").expect("there is a first line");
    let symbol = page(&client, &link(&code[first..], "add"));
    for part in ["1 resolved", "return add(1, 2)", "#L7", "Callers", "Counter.count"] {
        assert!(symbol.contains(part), "{part} is not in\n{symbol}");
    }
    assert!(code.len() < symbol.len() && symbol.contains("id=\"L7\""), "the text stays beside it");
    let whole = page(&client, &format!("/s/{}?id=numbers.py::add%23function", site.repo("shop")));
    assert!(whole.contains("1 resolved") && !whole.contains("id=\"L7\""), "{whole}");
    let gone = page(&client, &format!("{file}?panel=numbers.py::gone%23function"));
    assert!(gone.contains("id=\"L7\"") && gone.contains("no symbol has the id"), "{gone}");
    let impact = page(&client, &link(&symbol, "Impact of a change"));
    assert!(impact.contains("1 of 1 files depend on it") && impact.contains("Counter.count"), "{impact}");
    assert_eq!(client.get(&root.replace("/r/", "/r/none")).status, 404);
    assert_eq!(client.get(&format!("{file}x")).status, 404);
    assert_eq!(client.send_to("POST", &file, "", &[]).status, 405);
    let folder = client.get(root.trim_end_matches('/'));
    assert_eq!((folder.status, folder.header("location")), (200, None), "the root needs no slash");
}

/// The code of a line of a page, and the letters in it that are neither a link, a keyword, a constant nor text.
fn unlinked(page: &str, number: usize) -> (String, String) {
    let line = page.lines().find(|line| line.contains(&format!("id=\"L{number}\""))).expect("it is there");
    let code = line.split_once(&format!(">{number}</a>")).expect("it is numbered").1.to_owned();
    let mut rest = code.clone();
    let ends = [("<a ", "</a>"), ("<i class=\"k\">", "</i>"), ("<i class=\"o\">", "</i>"), ("<i class=\"s\">", "</i>")];
    for (start, end) in ends {
        while let Some(at) = rest.find(start) {
            let length = rest[at..].find(end).expect("it ends") + end.len();
            rest.replace_range(at..at + length, " ");
        }
    }
    for part in ["<i class=\"u\">", "</i>", "&gt;", "&lt;", "&amp;", "&quot;"] {
        rest = rest.replace(part, " ");
    }
    (code, rest.chars().filter(|letter| letter.is_alphabetic()).collect())
}

#[test]
fn every_identifier_is_a_link() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("linked");
    let python = "import os\nfrom json import loads as read\n\n\nclass A:\n    def go(self, one, *rest):\n\
        \x20       two = one + len(rest)\n        for x in rest:\n            self.kept = read(x.text or os.sep)\n\
        \x20       return lambda y: y.z + two\n";
    let rust = "use std::fmt::Debug;\n\nstruct A;\n\nimpl A {\n    fn go<T: Debug>(&self, one: T) -> Option<T> {\n\
        \x20       let two = Some(one)?;\n        self.of(&two);\n        None\n    }\n}\n";
    fs::write(folder.join("a.py"), python).expect("ours");
    fs::write(folder.join("a.rs"), rust).expect("ours");
    site.run(&["index", folder.to_str().expect("text")]);
    let client = site.client();
    let path = |name: &str| format!("/r/{}/{name}", site.repo("linked"));
    for (name, text) in [("a.py", python), ("a.rs", rust)] {
        let code = page(&client, &path(name));
        for number in 1..=text.lines().count() {
            let (line, rest) = unlinked(&code, number);
            assert_eq!(rest, "", "{name} {number}: {line}");
        }
    }
    let code = page(&client, &path("a.py"));
    let of = |number: usize, name: &str| link(&unlinked(&code, number).0, name);
    assert_eq!([of(9, "self"), of(9, "x"), of(9, "os"), of(10, "two")], ["#L5", "#L8", "#L1", "#L7"]);
    assert_eq!([of(9, "read"), of(7, "one")], ["#L2", "#L6"]);
    let about = |number: usize, name: &str| page(&client, &format!("{}{}", path("a.py"), of(number, name)));
    let local = about(6, "rest");
    assert!(local.contains("A local name, bound here") && local.contains("for x in rest"), "{local}");
    let builtin = about(7, "len");
    assert!(builtin.contains("it may come from the language") && builtin.contains("Search for this word"), "{builtin}");
    let member = about(10, "z");
    assert!(member.contains("it is not resolved, and nothing of this name is defined here"), "{member}");
    let code = page(&client, &path("a.rs"));
    assert_eq!(link(&unlinked(&code, 8).0, "self"), "#L3", "the type, which is not around it");
    assert_eq!(client.get(&format!("{}?byte=99999", path("a.py"))).status, 404);
}

#[test]
fn a_name_that_may_mean_several_leads_to_all_of_them() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("several");
    fs::write(folder.join("a.py"), "class A:\n    def go(self): return 1\n\nclass B:\n    def go(self): return 2\n")
        .expect("ours");
    fs::write(folder.join("b.py"), "def f(x):\n    return x.go()\n").expect("ours");
    site.run(&["index", folder.to_str().expect("text")]);
    let client = site.client();
    let code = page(&client, &format!("/r/{}/b.py", site.repo("several")));
    let choice = page(&client, &link(&code, "go"));
    assert!(choice.contains("only the name matches") && choice.contains("A.go") && choice.contains("B.go"), "{choice}");
}

#[test]
fn a_search_shows_symbols_files_and_lines() {
    let site = Site::start(&["--web"]);
    let client = site.client();
    let all = page(&client, "/search?q=add");
    for part in ["<h2><a", "<mark>add</mark>(a, b)", "return <mark>add</mark>(1, 2)", "#L7"] {
        assert!(all.contains(part), "{part} is not in\n{all}");
    }
    assert!(page(&client, "/search?q=count").contains("kind%3Amethod"), "searches can be narrowed");
    let start = page(&client, "/");
    assert!(start.contains("Your calls") && start.contains("search_symbols"), "{start}");
    let files = page(&client, "/search?q=numb&in=files");
    assert!(files.contains("numbers.py") && !files.contains("No file"), "{files}");
    let repo = site.repo("vault");
    let words = page(&client, &format!("/search?q=secret_w.rd&in=text&regex=1&repo={repo}"));
    assert!(words.contains("secret_word"), "{words}");
    assert!(page(&client, "/search?q=(&in=text&regex=1").contains("cannot be read"));
    let unseen = site.folder("unseen");
    let nothing = page(&client, &format!("/search?q=hidden&repo={}", unseen.display()));
    assert!(nothing.contains("no such repository") && !page(&client, "/").contains("unseen"), "a link indexes nothing");
    assert!(page(&client, "/search?q=zzzzqq").contains("No symbol."));
    assert!(page(&client, "/search").contains("Give a name"));
}

#[test]
fn a_search_narrows_by_language_and_folder_and_answers_sentences() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("wide");
    for (name, text) in [
        ("a/one.py", "def parse_invoice(text):\n    'Reads the amount of an invoice.'\n    return text\n"),
        ("b/two.js", "function parse_invoice(text) {\n  return text\n}\n"),
    ] {
        fs::create_dir_all(folder.join(name).parent().expect("it lies in a folder")).expect("ours");
        fs::write(folder.join(name), text).expect("ours");
    }
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("wide"));
    for sort in ["symbols", "text"] {
        let found = page(&client, &format!("/search?q=parse_invoice&in={sort}&repo={repo}"));
        let narrowed = page(&client, &link(&found, "python 1"));
        assert!(narrowed.contains("one.py") && !narrowed.contains("two.js"), "{sort}: {narrowed}");
        let narrowed = page(&client, &link(&found, "b/ 1"));
        assert!(narrowed.contains("two.js") && !narrowed.contains("one.py"), "{sort}: {narrowed}");
    }
    let files = page(&client, &format!("/search?q=o&in=files&language=js&repo={repo}"));
    assert!(files.contains("two.js") && !files.contains("one.py"), "{files}");
    let regex = page(&client, &format!("/search?q=parse_%5Cw%2B&in=text&regex=1&repo={repo}"));
    assert!(regex.contains("<mark>parse_invoice</mark>"), "{regex}");
    let sentence = "how%20is%20the%20amount%20of%20an%20invoice%20read%3F";
    let context = page(&client, &format!("/search?q={sentence}&repo={repo}"));
    assert!(context.contains(">Context</a></h2>") && context.contains("class=\"snippet\""), "{context}");
    let typed = page(&client, &format!("/find?q={sentence}&in=names&repo={repo}&few=1"));
    let typed = typed.replace("<mark>", "").replace("</mark>", "");
    let code = typed.find("Reads the amount of an invoice.").expect("it comes with its code");
    assert!(typed.contains(">Context</a></h2>") && typed[..code].contains("class=\"snippet\""), "{typed}");
    assert!(!typed.contains("<html") && typed.matches("one.py:1<").count() == 1, "each is shown once: {typed}");
    let rest = page(&client, &format!("/find?q={sentence}&in=rest&repo={repo}"));
    assert!(rest.contains(">Text</a></h2>") && !rest.contains("Context"), "{rest}");
    let word = page(&client, "/find?q=parse_invoice&in=names");
    assert!(!word.contains("Context"), "one word is not a sentence: {word}");
    assert!(
        word.contains("class=\"snippet\"") && word.contains("return text"),
        "the first comes with its code: {word}"
    );
}

#[test]
fn the_margin_tells_who_changed_a_line_and_what_is_new() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("told");
    git(&folder, &["init", "-q"]);
    let write = |text: &str| fs::write(folder.join("a.py"), text).expect("ours");
    write("def first():\n    return 1\n\n\ndef user():\n    return first()\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "Begin <b>"]);
    write("def first():\n    return 2\n\n\ndef user():\n    return first()\n");
    git(&folder, &["commit", "-qam", "Change the number"]);
    site.run(&["index", folder.to_str().expect("text")]);
    write("# new\ndef first():\n    return 2\n\n\ndef user():\n    return first()\n");
    let (client, repo) = (site.client(), site.repo("told"));
    let file = format!("/r/{repo}/a.py");
    let blamed = page(&client, &format!("{file}?blame=1"));
    let line = |page: &str, number: u32| {
        let start = page.find(&format!("id=\"L{number}\"")).expect("it has the line");
        page[start..].split("\n</span>").next().expect("it ends").to_owned()
    };
    assert!(line(&blamed, 1).contains("not committed"), "{blamed}");
    assert!(line(&blamed, 2).contains("Begin &lt;b&gt;") && line(&blamed, 2).contains("History of first"), "{blamed}");
    assert!(line(&blamed, 3).contains("Change the number"), "{blamed}");
    let commit = page(&client, &link(&line(&blamed, 3), "A"));
    assert!(
        commit.contains("Change the number") && commit.contains("badge body") && commit.contains(">user</text>"),
        "{commit}"
    );
    let then = page(&client, &link(&commit, "a.py"));
    assert!(then.contains("class=\"l new\" id=\"L2\"") && then.contains("<del class=\"l\">"), "{then}");
    let begun = page(&client, &link(&line(&blamed, 2), "A"));
    assert!(begun.contains("badge added") && !begun.contains("Begin <b>"), "{begun}");
    let past = page(&client, &link(&line(&blamed, 2), "↺"));
    assert!(past.contains(">Change the number</a>") && past.contains("added"), "{past}");
    let since = page(&client, &format!("{file}?since=HEAD~1"));
    assert!(
        line(&since, 3).contains("return") && since.contains("<del class=\"l\"><span class=\"n\">−</span>    return 1"),
        "{since}"
    );
    assert_eq!(since.matches("class=\"l new\"").count(), 2, "{since}");
    assert!(page(&client, &format!("{file}?since=nothing")).contains("names no commit"));
    git(&folder, &["tag", "v1.0", "HEAD~1"]);
    git(&folder, &["branch", "next<b>"]);
    let versions = page(&client, &format!("/v/{repo}"));
    let newest = versions.find("value=\"next&lt;b&gt;\"").expect("a branch is proposed");
    assert!(newest < versions.find("value=\"v1.0\"").expect("a tag is proposed"), "{versions}");
    let changes = page(&client, &format!("/change/{repo}?since=HEAD~1"));
    assert!(changes.contains("Changes since HEAD~1") && changes.contains(">user</text>"), "{changes}");
    let dot = page(&client, &format!("/g/{repo}/?of=change&since=HEAD~1&as=dot"));
    assert!(dot.contains("label=\"first") && dot.contains("label=\"user"), "{dot}");
    assert_eq!(client.get(&format!("/change/{repo}?commit=nothing")).status, 404);
    let outside = page(&client, &format!("/r/{}/numbers.py?blame=1&since=HEAD", site.repo("shop")));
    assert!(outside.contains("No blame") && outside.contains("id=\"L7\""), "{outside}");
}

#[test]
fn a_change_of_ten_thousand_symbols_is_a_page_that_says_where_it_ends() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("large");
    git(&folder, &["init", "-q"]);
    let write = |number: usize| {
        for file in 0..10 {
            let text: String =
                (0..1_000).map(|n| format!("def part_{file}_{n}():\n    return {number}\n\n\n")).collect();
            fs::write(folder.join(format!("part_{file}.py")), text).expect("ours");
        }
    };
    write(1);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "Begin"]);
    write(2);
    let uses = "from part_0 import part_0_1\n\n\ndef user():\n    return part_0_1()\n";
    fs::write(folder.join("use.py"), uses).expect("ours");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "Change all"]);
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("large"));
    let changes = page(&client, &format!("/change/{repo}?since=HEAD~1"));
    assert!(changes.contains("001 symbols changed"), "{}", &changes[..3_000]);
    assert!(changes.contains("By the users of the first 500 symbols"), "it says so");
    assert!(changes.len() < 1_000_000, "{} bytes", changes.len());
    assert!(changes.contains(">user</text>"), "a user of one of them is in the picture");
}

#[test]
fn a_folder_is_described_by_its_readme_and_nothing_of_it_runs() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("shop");
    let text =
        "# The *shop*\n\n<b onclick=x>Bold</b> [code](numbers.py) [bad](javascript:x)\n\n```python\ndef a():\n```\n";
    fs::write(folder.join("README.md"), text).expect("ours");
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("shop"));
    let listed = page(&client, &format!("/r/{repo}/"));
    assert!(listed.contains("<h2 id=\"doc-the-shop\">The <em>shop</em></h2>"), "{listed}");
    assert!(listed.contains(&format!("href=\"/r/{repo}/numbers.py\">code</a>")), "{listed}");
    assert!(listed.contains("<i class=\"k\">def</i>"), "{listed}");
    assert!(!listed.contains("onclick") && !listed.contains("javascript"), "{listed}");
    let code = page(&client, &format!("/r/{repo}/README.md"));
    assert!(code.contains("id=\"L1\"") && code.contains("onclick"), "{code}");
    let prose = page(&client, &link(&code, "As a page"));
    assert!(prose.contains("<em>shop</em>") && !prose.contains("id=\"L1\""), "{prose}");
    assert_eq!(link(&prose, "As written"), format!("/r/{repo}/README.md"));
    fs::remove_file(folder.join("README.md")).expect("ours");
    fs::write(folder.join("readme.rst"), "A <b>\n=====\n").expect("ours");
    site.run(&["index", folder.to_str().expect("text")]);
    assert!(page(&client, &format!("/r/{repo}/")).contains("A &lt;b&gt;\n====="), "other forms as they are");
}

#[test]
fn a_query_between_slashes_is_a_regular_expression() {
    let site = Site::start(&["--web"]);
    let client = site.client();
    let found = |query: &str, sort: &str| page(&client, &format!("/find?q={query}&in={sort}"));
    let lines = found("/a.d%5C(1/", "rest");
    assert!(lines.contains("<mark>add(1</mark>") && !lines.contains("Symbols"), "{lines}");
    assert!(!found("/a.d%5C(1/", "names").contains("<h2>"), "no name is a pattern");
    assert!(found("a.d%5C(1", "rest").contains("No line."));
    assert!(found("/a(/", "rest").contains("class=\"problem\""));
}

#[test]
fn files_open_in_an_editor_of_this_machine_only() {
    let variables = [("CODELODE_EDITOR_LINK", "vscode")];
    let site = Site::start_with(&["--web"], &variables);
    let path = format!("/r/{}/numbers.py", site.repo("shop"));
    let code = page(&site.client(), &path);
    let expected = format!("href=\"vscode://file{}:1\"", site.folder("shop").join("numbers.py").display());
    assert!(code.contains(&expected), "{expected} is not in\n{code}");
    let guarded = [("CODELODE_EDITOR_LINK", "vscode"), ("CODELODE_HTTP_TOKEN", "a-long-enough-token")];
    let site = Site::start_with(&["--web"], &guarded);
    let path = format!("/r/{}/numbers.py", site.repo("shop"));
    let code = page(&site.client().with_token("a-long-enough-token"), &path);
    assert!(code.contains("id=\"L7\"") && !code.contains("vscode:"), "{code}");
}

#[test]
fn the_start_page_tells_of_runs_figures_and_findings() {
    let site = Site::start(&["--web"]);
    let client = site.client();
    page(&client, "/search?q=add");
    let start = page(&client, "/");
    for part in [
        ">fresh <",
        " MB<",
        "Nothing is being indexed",
        "class=\"plot\"",
        "Tokens saved",
        "data-part=\"/doctor?as=part\"",
    ] {
        assert!(start.contains(part), "{part} is not in\n{start}");
    }
    assert!([">fresh <", ">unchecked <"].iter().any(|state| start.contains(state)), "{start}");
    let mut stream = site.connect();
    let host = site.url().replace("http://", "");
    std::io::Write::write_all(&mut stream, format!("GET /events HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
        .expect("it reads");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(stream)).map_while(Result::ok);
    fs::write(site.folder("shop").join("numbers.py"), "def add(a, b):\n    return b + a\n").expect("ours");
    page(&client, &format!("/r/{}/numbers.py", site.repo("shop")));
    let told = lines
        .skip_while(|line| line != "event: runs")
        .find(|line| line.starts_with("data: ") && line.contains("files in"));
    assert!(told.is_some_and(|line| line.contains(&site.repo("shop"))), "a run is told of");
    let findings = page(&client, "/doctor");
    assert!(findings.contains("repositories, ") && !page(&client, "/doctor?as=part").contains("<html"), "{findings}");
}

#[test]
fn a_permalink_shows_the_same_text_after_an_edit() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("kept");
    fs::write(folder.join("a.py"), "def first():\n    return 1\n").expect("ours");
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "First"]);
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("kept"));
    let permalink = |client: &Client| {
        let reply = client.get(&format!("/p/{repo}/a.py"));
        assert_eq!(reply.status, 303, "{}", reply.body);
        reply.header("location").expect("it leads somewhere").to_owned()
    };
    let committed = permalink(&client);
    assert!(page(&client, &committed).contains("def</i> <a class=\"n-fn def\""), "it is the present one");
    fs::write(folder.join("a.py"), "def second():\n    return 2\n").expect("ours");
    let old = page(&client, &committed);
    assert!(old.contains("first") && !old.contains("second") && old.contains("As of commit"), "{old}");
    let hashed = permalink(&client);
    assert_ne!(hashed, committed);
    let now = page(&client, &hashed);
    assert!(now.contains("second") && now.contains("as it is now"), "{now}");
    fs::write(folder.join("a.py"), "def third():\n    return 3\n").expect("ours");
    let kept = page(&client, &hashed);
    assert!(kept.contains("second") && !kept.contains("third") && kept.contains("never committed"), "{kept}");
    assert!(kept.contains("The file as it is now"), "{kept}");
    // It belongs to its path, and no other hash leads to it.
    assert_eq!(client.get(&hashed.replace("a.py", "b.py")).status, 404);
    let other = format!("/r/{repo}@0123456789abcdef/a.py");
    let gone = client.get(&other);
    assert!(gone.status == 404 && gone.body.contains("The file as it is now"), "{}", gone.body);
    for broken in ["HEAD~99", "..", "-x", "%00"] {
        assert_eq!(client.get(&format!("/r/{repo}@{broken}/a.py")).status, 404, "{broken}");
    }
}

#[test]
fn names_of_a_long_file_lead_to_the_window_that_they_are_in() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("long");
    let between = "between\n".repeat(19_990);
    let text =
        format!("def first():\n    return last()\n\nTEXT = '''\n{between}'''\n\n\ndef last():\n    return first()\n");
    fs::write(folder.join("long.py"), text).expect("ours");
    fs::write(folder.join("use.py"), "from long import last\n\nlast()\n").expect("ours");
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("long"));
    let file = format!("/r/{repo}/long.py");
    let begin = page(&client, &file);
    assert!(begin.contains("Lines 1–1500 of ") && !begin.contains("id=\"L1501\""), "a window");
    let line = |page: &str, number: u32| unlinked(page, number as usize).0;
    let to_last = link(&line(&begin, 2), "last");
    assert_eq!(to_last, format!("{file}?at=19998#L19998"));
    let end = page(&client, &to_last);
    assert_eq!(link(&line(&end, 19_999), "first"), format!("{file}#L1"), "back to the first window");
    let panel = link(&line(&end, 19_998), "last");
    assert_eq!(panel, format!("{file}?panel=long.py%3A%3Alast%23function&at=19998#L19998"));
    let beside = page(&client, &panel);
    assert!(beside.contains("id=\"L19998\"") && beside.contains("3 resolved"), "the panel keeps the window");
    // From the panel each use leads to its own window, with the panel still open.
    let close = beside.find("class=\"close\"").expect("it can be closed");
    let close = &beside[close..close + beside[close..].find('>').expect("it ends")];
    assert!(close.contains("?at=19998"), "{close}");
    assert_eq!(link(&page(&client, &format!("/r/{repo}/use.py")), "last"), to_last, "from another file");
    let symbols = page(&client, &format!("/search?q=last&in=symbols&repo={repo}"));
    assert!(symbols.contains("long.py?at=19998#L19998"), "{symbols}");
    let after = page(&client, &link(&begin, "Lines after"));
    assert!(after.contains("id=\"L1501\"") && after.contains("Lines before"), "windows lead on");
}

#[test]
fn a_folder_is_shown_in_a_version_as_its_files_are() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("past");
    git(&folder, &["init", "-q"]);
    fs::create_dir_all(folder.join("lib/deep")).expect("ours");
    for (name, text) in [
        ("README.md", "[the library](lib/one.py)\n"),
        ("lib/one.py", "def one():\n    return 1\n"),
        ("lib/deep/two.py", "def two():\n    return 2\n"),
        ("lib/<b>.py", "x = 1\n"),
        ("lib/.env", "PASSWORD=pl4inly\n"),
        (".ssh/config", "Host pl4inly\n"),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("ours");
        fs::write(path, text).expect("ours");
    }
    git(&folder, &["add", "-f", "."]);
    git(&folder, &["commit", "-qm", "Begin"]);
    git(&folder, &["tag", "v1.0"]);
    fs::remove_dir_all(folder.join("lib")).expect("ours");
    fs::write(folder.join("new.py"), "def new():\n    return 3\n").expect("ours");
    git(&folder, &["add", "-A", "."]);
    git(&folder, &["commit", "-qm", "Make it anew"]);
    site.run(&["index", folder.to_str().expect("text")]);
    let (client, repo) = (site.client(), site.repo("past"));
    let now = page(&client, &format!("/r/{repo}/"));
    assert!(now.contains("new.py") && !now.contains(">lib"), "{now}");
    let permanent = page(&client, &link(&now, "Permalink"));
    assert!(permanent.contains("As of commit") && permanent.contains("new.py"), "{permanent}");
    let then = page(&client, &format!("/r/{repo}@v1.0/"));
    assert!(then.contains("As of commit") && !then.contains("new.py") && !then.contains(".ssh"), "{then}");
    assert_eq!(
        link(&then, "the library"),
        format!("/r/{repo}@v1.0/lib/one.py"),
        "its description leads on inside of it"
    );
    let lib = page(&client, &link(&then, "lib"));
    let deep = lib.find(">deep<").expect("it is listed");
    assert!(deep < lib.find(">one.py<").expect("it is listed"), "folders come first: {lib}");
    assert!(lib.contains("&lt;b&gt;.py") && !lib.contains(".env") && lib.contains("python"), "{lib}");
    let file = page(&client, &link(&lib, "one.py"));
    assert!(file.contains("As of commit") && file.contains("id=\"L2\""), "{file}");
    let raw = client.get(&link(&file, "Raw"));
    assert_eq!((raw.status, raw.body.as_str()), (200, "def one():\n    return 1\n"));
    let lasting = link(&file, "Permalink");
    let digits = lasting.split_once('@').and_then(|(_, rest)| rest.split_once('/')).expect("it has a version").0;
    assert!(digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{lasting}");
    assert!(page(&client, &link(&file, "lib")).contains(">deep<"), "the way up stays in the version");
    let moved = |path: &str| client.get(path).header("location").map(str::to_owned);
    let version = format!("/r/{repo}@v1.0");
    assert_eq!(moved(&format!("{version}/lib/one.py/")), Some(format!("{version}/lib/one.py")));
    assert!(page(&client, &format!("{version}/lib")).contains(">one.py<"), "without its slash");
    for hidden in [
        "lib/.env",
        "lib/.env/.",
        "lib/.env/",
        "lib/./.env",
        "x/../lib/.env",
        ".ssh/",
        ".ssh",
        ".ssh/config",
        "lib/%C3%A9//x/",
    ] {
        for kind in ["r", "raw"] {
            let reply = client.get(&format!("/{kind}/{repo}@v1.0/{hidden}"));
            assert!(reply.status == 404 && !reply.body.contains("pl4inly"), "{kind} {hidden}: {}", reply.body);
        }
    }
    let gone = client.get(&format!("/r/{repo}@v1.0/none/"));
    assert!(gone.status == 404 && gone.body.contains("This folder now"), "{}", gone.body);
    assert_eq!(client.get(&format!("/r/{repo}@nothing/")).status, 404);
}

#[test]
fn pages_hold_no_code_and_may_run_none_but_the_servers_own() {
    let site = Site::start(&["--web"]);
    let client = site.client();
    for path in ["/", "/search?q=add", &format!("/r/{}/numbers.py", site.repo("shop")), "/nowhere"] {
        let reply = client.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
        assert!(!reply.body.contains("style=\"") && !reply.body.contains("onclick"), "{path}");
        let style = link_of(&reply.body, "stylesheet");
        let client_js = client.get("/static/x/client.js").body.len();
        assert!(
            reply.body.len() + client_js + client.get(&style).body.len() < 200_000,
            "{path} is large, unpacked even"
        );
        let style = client.get(&style);
        assert!(style.status == 200 && style.header("cache-control").is_some_and(|age| age.contains("immutable")));
    }
    assert_eq!(client.get("/static/x/../mod.rs").status, 404);
    let packed = client.send_to("GET", "/static/x/style.css", "", &[("Host", "evil.example")]);
    assert_eq!(packed.status, 200, "a style is not a secret");
    assert_eq!(client.send_to("GET", "/", "", &[("Host", "evil.example")]).status, 403);
    assert_eq!(client.send_to("GET", "/", "", &[("Origin", "http://evil.example")]).status, 403);
    let raw = format!("/raw/{}/numbers.py", site.repo("shop"));
    let from = |mode, dest| {
        let told = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", dest)];
        client.send_to("GET", &raw, "", &told).status
    };
    assert_eq!((from("no-cors", "script"), from("navigate", "document")), (403, 200), "a link may lead here, no more");
}

/// The address of a page's link of some relation.
fn link_of(page: &str, relation: &str) -> String {
    let start = page.find(&format!("rel=\"{relation}\" href=\"")).expect("it has one") + relation.len() + 13;
    page[start..start + page[start..].find('"').expect("it ends")].to_owned()
}

#[test]
fn nothing_in_a_hostile_repository_becomes_markup_or_hides() {
    let site = Site::start(&["--web"]);
    let folder = site.folder("hostile");
    let name = "a\"><script>alert(1)<\u{2044}script>&amp;#%2e\u{202e}.py";
    let text = "def f():\n    '</pre><script>alert(2)</script>\"\u{202e}'\n    return '\u{1b}[31m' # <img src=x onerror=alert(3)>\n";
    fs::write(folder.join(name), text).expect("ours");
    fs::write(folder.join("long.py"), format!("x = '{}'\ny = 1\n", "<b>".repeat(300_000 / 3))).expect("ours");
    fs::write(folder.join("many.py"), (1..=20_000).map(|n| format!("f{n} = {n}\n")).collect::<String>()).expect("ours");
    fs::write(folder.join("broken.py"), b"x = '\xff\xfe<i>'\n").expect("ours");
    site.run(&["index", folder.to_str().expect("text"), "--max-memory", "200"]);
    let (client, repo) = (site.client(), site.repo("hostile"));
    let root = format!("/r/{repo}/");
    let listed = page(&client, &root);
    let start = listed.find("href=\"/r/local/hostile").expect("a link");
    assert!(!listed.contains("<script>alert") && listed.contains("U+202E"), "{}", &listed[start..]);
    let at = listed.find("a%22%3E").expect("the name is part of an address");
    let end = at + listed[at..].find('"').expect("it ends");
    let file = format!("{root}{}", &listed[at..end]);
    let code = page(&client, &file);
    for markup in ["<script>alert", "<img", "\u{202e}", "\u{1b}"] {
        assert!(!code.contains(markup), "{markup:?} is in\n{code}");
    }
    assert!(code.contains("&lt;img src=x onerror=alert(3)&gt;") && code.contains("U+001B"), "{code}");
    let found = page(&client, &format!("/search?repo={repo}&q=%3Cimg%20src"));
    assert!(found.contains("<mark>&lt;img src</mark>=x") && !found.contains("<img"), "{found}");
    let echoed = page(&client, "/search?q=%22%3E%3Cscript%3E&repo=%22%3E%3Cscript%3E&language=%22%3E");
    assert!(!echoed.contains("\"><script>"), "{echoed}");
    let long = page(&client, &format!("{root}long.py"));
    assert!(long.len() < 60_000 && long.contains("more bytes") && long.contains("id=\"L2\""), "{}", long.len());
    let many = page(&client, &format!("{root}many.py?at=19000"));
    assert!(
        many.contains("Lines 18001–19500 of") && many.contains("id=\"L19000\"") && many.contains("f19500"),
        "a window"
    );
    assert!(page(&client, &format!("{root}broken.py")).contains("\u{fffd}"));
    let raw = client.get(&format!("/raw/{repo}/broken.py"));
    assert_eq!(raw.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn visitors_see_what_their_tokens_may() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let tokens = folder.path().join("tokens.toml");
    let entry = |name: &str, repos: &str| {
        let digest: String =
            Sha256::digest(format!("{name}-{name}")).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("[{name}]\nsha256 = \"{digest}\"\nrepos = [\"{repos}\"]\n")
    };
    fs::write(&tokens, entry("alice", "local/shop-*") + &entry("bob", "local/vault-*")).expect("ours");
    let site = Site::start(&["--web", "--tokens", tokens.to_str().expect("text")]);
    let stranger = site.client();
    let asked = stranger.get("/");
    assert!(
        asked.status == 401 && asked.body.contains("name=\"token\"") && !asked.body.contains("shop"),
        "{}",
        asked.body
    );
    assert_eq!(stranger.get(&format!("/r/{}/numbers.py", site.repo("shop"))).status, 401);
    assert_eq!(stranger.get("/static/x/style.css").status, 200, "the form has a style");
    let sign_in = |token: &str, to: &str, headers: &[(&str, &str)]| -> Reply {
        stranger.send_to("POST", "/sign-in", &format!("token={token}&to={to}"), headers)
    };
    let refused = sign_in("guess", "/", &[]);
    assert!(refused.status == 401 && refused.body.contains("not known") && refused.header("set-cookie").is_none());
    assert_eq!(sign_in("alice-alice", "/", &[("Origin", "http://evil.example")]).status, 403);
    let own = site.url();
    let welcome = sign_in("alice-alice", "%2Fr%2Fx", &[("Origin", &own)]);
    assert_eq!((welcome.status, welcome.header("location")), (303, Some("/r/x")));
    assert_eq!(sign_in("alice-alice", "https%3A%2F%2Fevil.example", &[]).header("location"), Some("/"));
    let cookie = welcome.header("set-cookie").expect("a cookie");
    let of_token: String = "alice-alice".bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(cookie.contains("HttpOnly") && !cookie.contains("alice") && !cookie.contains(&of_token), "{cookie}");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let as_alice = |path: &str| stranger.send_to("GET", path, "", &[("Cookie", &cookie)]);
    let start = as_alice("/").body;
    assert!(start.contains(&site.repo("shop")) && !start.contains("vault"), "{start}");
    assert_eq!(as_alice(&format!("/r/{}/numbers.py", site.repo("shop"))).status, 200);
    let hidden = as_alice(&format!("/r/{}/safe.py", site.repo("vault")));
    let absent = as_alice("/r/local/none-12345678/safe.py");
    assert_eq!((hidden.status, &hidden.body), (404, &absent.body), "what is hidden is not there");
    assert_eq!(as_alice("/doctor").status, 404, "findings tell of all repositories");
    assert!(!start.contains("/doctor"));
    for path in ["/search?q=open_safe", "/search?q=secret_word&in=text", "/search?q=safe.py&in=files"] {
        assert!(!as_alice(path).body.contains("vault"), "{path}");
    }
    assert!(!as_alice(&format!("/search?q=secret&repo={}", site.repo("vault"))).body.contains("secret_word"));
    let bob = site.client().with_token("bob-bob");
    assert!(
        page(&bob, &format!("/r/{}/safe.py", site.repo("vault"))).contains("secret_word"),
        "programs may read pages"
    );
    let posted = stranger.send_to("POST", "/mcp", "{}", &[("Cookie", &cookie)]);
    assert_eq!(posted.status, 401, "a cookie opens no tools");
    let left = stranger.send_to("POST", "/sign-out", "", &[("Cookie", &cookie)]);
    assert!(left.header("set-cookie").is_some_and(|cookie| cookie.contains("Max-Age=0")));
    assert_eq!(as_alice("/").status, 401, "a copy of the cookie is worth nothing");
    let again = sign_in("alice-alice", "/", &[]);
    let cookie = again.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    let as_alice = |path: &str| stranger.send_to("GET", path, "", &[("Cookie", &cookie)]);
    assert_eq!(as_alice("/").status, 200);
    fs::write(&tokens, entry("bob", "*")).expect("ours");
    assert_eq!(as_alice("/").status, 401, "a token that is gone is refused at once");
}

#[test]
fn the_pages_of_one_person_open_once_in_one_browser() {
    let (site, path) = Site::browse(&["shop"]);
    let client = site.client();
    assert!(path.starts_with(&format!("/r/{}/?ticket=", site.repo("shop"))), "{path}");
    assert_eq!(client.get("/").status, 403);
    assert_eq!(client.get("/?ticket=guess").status, 403);
    assert_eq!(client.post_ping().status, 405, "there is no other endpoint");
    let opened = client.get(&path);
    assert_eq!((opened.status, opened.header("location")), (303, path.split('?').next()));
    let cookie = opened.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    assert_eq!(client.get(&path).status, 403, "the ticket is used up");
    let mine = |path: &str| client.send_to("GET", path, "", &[("Cookie", &cookie)]);
    assert!(mine("/").body.contains(&site.repo("vault")), "it is all one's own");
    assert_eq!(mine(&path).status, 200);
    assert_eq!(client.send_to("GET", "/", "", &[("Cookie", &cookie), ("Host", "evil.example")]).status, 403);
}
