//! Pictures of relations: on pages and at the terminal.

use std::fs;

use super::web::Site;

const FILES: [(&str, &str); 4] = [
    ("a/base.py", "class Base:\n    def go(self): return 1\n"),
    (
        "a/one.py",
        "from a.base import Base\n\nclass One(Base):\n    def go(self): return helper()\n\ndef helper(): return 1\n",
    ),
    ("b/two.py", "from a.one import One, helper\n\nclass Two(One):\n    pass\n\ndef main():\n    return helper()\n"),
    ("a/back.py", "from b.two import main\n\ndef back(): return main()\n"),
];

fn site() -> (Site, String, String) {
    let site = Site::start(&["--web"]);
    let folder = site.folder("drawn");
    for (name, text) in FILES {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("ours");
        fs::write(path, text).expect("ours");
    }
    let folder = folder.to_str().expect("text").to_owned();
    site.run(&["index", &folder]);
    let repo = site.repo("drawn");
    (site, repo, folder)
}

#[test]
fn pages_draw_calls_classes_and_imports() {
    let (site, repo, _) = site();
    let client = site.client();
    let page = |path: &str| {
        let reply = client.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.body
    };
    let helper = "a/one.py::helper%23function";
    let calls = page(&format!("/g/{repo}/?of=calls&id={helper}&depth=2"));
    for name in ["class=\"picture", ">main</text>", ">One.go</text>", ">back</text>", "&amp;as=dot", "a/one.py:6"] {
        assert!(calls.contains(name), "{name} is not in\n{calls}");
    }
    assert!(!calls.contains("style="), "the policy allows none");
    assert!(calls.contains("<a href=\"/r/") && calls.contains("#L6\">"), "a node leads to its code: {calls}");
    let near = page(&format!("/g/{repo}/?of=calls&id={helper}"));
    assert!(near.contains("Show more around main") && !near.contains(">back</text>"), "{near}");
    let grown = page(&format!("/g/{repo}/?of=calls&id={helper}&open=b/two.py::main%23function&as=part"));
    assert!(
        grown.contains(">back</text>") && grown.contains("Show less around main") && !grown.contains("<html"),
        "{grown}"
    );
    let blast = page(&format!("/g/{repo}/?of=blast&id={helper}&depth=2"));
    for name in [">helper</text>", ">main</text>", ">One.go</text>", ">back</text>"] {
        assert!(blast.contains(name), "{name} is not in\n{blast}");
    }
    let dot = page(&format!("/g/{repo}/?of=calls&id={helper}&as=dot"));
    assert!(
        dot.starts_with("digraph {") && dot.contains("[label=\"main\\nb/two.py:6\"]") && !dot.contains("back"),
        "{dot}"
    );
    let classes = page(&format!("/g/{repo}/?of=classes&id=a/one.py::One%23class&as=mermaid"));
    for name in ["Base<br>", "One<br>", "Two<br>", "n1 --> n0"] {
        assert!(classes.contains(name), "{name} is not in\n{classes}");
    }
    let imports = client.get(&format!("/g/{repo}/a/one.py?of=files&as=svg"));
    assert_eq!(imports.header("content-type"), Some("image/svg+xml"));
    for name in ["<title>base.py a</title>", "<title>two.py b</title>"] {
        assert!(imports.body.contains(name) && !imports.body.contains("<a "), "{name} is not in\n{}", imports.body);
    }
    let matrix = page(&format!("/m/{repo}/"));
    assert!(matrix.contains("cycle 1") && matrix.contains("class=\"number cyclic\""), "{matrix}");
    assert_eq!(client.get(&format!("/g/{repo}/?of=calls&id=nothing")).status, 404);
}

#[test]
fn the_terminal_writes_pictures() {
    let (site, _, folder) = site();
    let file = format!("{folder}/out.svg");
    site.run(&["calls", "helper", "--repo", &folder, "--svg", &file]);
    let svg = fs::read_to_string(&file).expect("it was written");
    assert!(svg.starts_with("<svg") && svg.contains("One.go") && !svg.contains("back"), "{svg}");
    let dot = site.run(&["calls", "helper", "--repo", &folder, "--dot", "-", "--depth", "2"]);
    assert!(dot.contains("back") && dot.contains("n0 [label=\"helper"), "{dot}");
    let classes = site.run(&["hierarchy", "One", "--repo", &folder, "--mermaid", "-"]);
    assert!(classes.starts_with("flowchart LR") && classes.contains("Base"), "{classes}");
    let imports = site.run(&["deps", "a/one.py", "--repo", &folder, "--dot", "-"]);
    assert!(imports.contains("base.py") && imports.contains("two.py"), "{imports}");
    let blast = site.run(&["blast", "helper", "--repo", &folder, "--dot", "-"]);
    assert!(blast.contains("label=\"main") && blast.contains("label=\"back"), "{blast}");
}
