//! Texts that are hard to read: deeply nested, endless, or with much that is common to many.

use super::scaled;

/// About so many bytes: below the size from which files are left out.
pub const SIZE: usize = scaled(240_000);

/// `before` and `after` around nothing, nested as deep as `size` bytes allow.
fn nested(before: &str, after: &str, size: usize) -> String {
    let depth = size / (before.len() + after.len()).max(1);
    before.repeat(depth) + &after.repeat(depth)
}

/// The same thing again and again.
fn many(one: &str, size: usize) -> String {
    one.repeat(size / one.len())
}

/// Files of so many bytes, by name.
pub fn files(size: usize) -> Vec<(&'static str, String)> {
    let long = "n".repeat(900);
    vec![
        ("modules.rs", nested("mod a {", "}", size)),
        ("functions.rs", nested("fn g(){", "}", size)),
        ("macros.rs", nested("m!{", "}", size)),
        ("uses.rs", format!("use {};", nested("a::{", "}", size))),
        ("types.rs", format!("type T = {}u8{};", "Vec<".repeat(size / 5), ">".repeat(size / 5))),
        ("long_modules.rs", nested(&format!("mod {long} {{ fn f() {{}} "), "}", size)),
        ("enumeration.rs", format!("enum E {{ {} }}", many("A,", size))),
        ("wide_module.rs", format!("mod {long} {{ {} }}", many("fn a(){}", size))),
        ("attributes.rs", format!("{} fn f() {{}}", many("#[a]", size))),
        ("functions.js", nested("function f(){", "}", size)),
        ("calls.js", nested("f(", ")", size)),
        ("chain.js", format!("a{};", many(".b()", size))),
        ("objects.js", format!("x = {};", nested("{a:", "}", size))),
        ("documented.js", format!("/** {} */ let {}z;", "d".repeat(4_000), many("a,", size))),
        ("declarators.ts", format!("export const {}z = 1;", many("a = 1, ", size))),
        ("namespaces.ts", nested("namespace a{", "}", size)),
        ("parameters.ts", format!("class A {{ constructor({}) {{}} }}", many("private a, ", size))),
        ("classes.java", nested("class A {", "}", size)),
        ("fields.java", format!("class A {{ {} int {}z; }}", many("@A ", size / 2), many("a,", size / 2))),
        ("chain.java", format!("class A {{ Object x = a{}; }}", many(".b()", size))),
        ("parentheses.py", format!("x = {}\ndef after(): pass\n", nested("(", ")", size))),
        ("lambdas.py", format!("x = {}1\n", many("lambda: ", size))),
        ("decorators.py", format!("{}def f(): pass\n", many("@a\n", size))),
        ("sum.py", format!("x = 1{}\n", many("+1", size))),
        ("targets.py", format!("{}1\n", many("a = ", size))),
        ("names.go", format!("package p\nvar {}z int\n", many("a, ", size))),
        ("structs.go", format!("package p\ntype T {}int{}\n", "struct{ a ".repeat(size / 11), "}".repeat(size / 11))),
        ("blocks.go", format!("package p\nfunc f() {}\n", nested("{", "}", size))),
        ("noise.ts", many("+-*/%&|^!~=<>?:.,;@#$", size)),
        ("noise.py", many("f(a[{x: (", size)),
        ("noise.rs", many("+-*/%&|^!~=<>?:.,;@#$", size)),
        ("comments.java", many("*/x;", size)),
        ("derived.py", (1..size / 25).map(|n| format!("class A{n}(A{}): pass\n", n - 1)).collect()),
        ("bases.py", format!("class A({}): pass\n", (0..size / 8).map(|n| format!("B{n}, ")).collect::<String>())),
        ("labels.ts", many("{a:", size)),
        ("rebound.py", many("a=a.b\n", size)),
        ("rebound.ts", many("let a=a.b;\n", size)),
        ("recursive.py", many("def f(a): return f(a)\n", size)),
        ("recursive.ts", many("function f(a){return f(a)}\n", size)),
        ("array.js", format!("let [{}z] = x;", many("a,", size))),
        ("typedefs.js", format!("x = \"{}\";", many("@typedef ", size))),
        ("remarks.py", format!("x = (\n{}y)\n", many("#\n", size))),
        ("remarks.go", format!("package p\nvar x = ({}y)\n", many("/**/", size))),
        ("remarks.java", format!("import {} static a.b;", many("/**/", size))),
        ("paragraphs.ts", format!("class A {{{{{{{{ <<<<\n\n{}", many("a\n\n", size))),
    ]
}

/// Pieces of a language that hostile files are made of.
pub struct Language {
    pub id: &'static str,
    extension: &'static str,
    /// Beginning of a file.
    before: &'static str,
    /// Openings that nest, each with its closing.
    nests: &'static [(&'static str, &'static str)],
    /// A function `f` that calls itself.
    function: &'static str,
    /// A statement that binds `a` again.
    statement: &'static str,
}

#[rustfmt::skip]
pub const LANGUAGES: &[Language] = &[
    Language { id: "bash", extension: "sh", before: "", nests: &[("f(){\n", "}"), ("if a; then\n", "fi\n"), ("$(", ")")], function: "f(){ f; }\n", statement: "a=$b\n" },
    Language { id: "c", extension: "c", before: "", nests: &[("{", "}"), ("struct a{", "}"), ("(", ")")], function: "int f(int a){return f(a);}\n", statement: "int a=a;\n" },
    Language { id: "cpp", extension: "cpp", before: "", nests: &[("namespace a{", "}"), ("class a{", "}"), ("a<", ">"), ("[](){", "}")], function: "int f(int a){return f(a);}\n", statement: "auto a=a;\n" },
    Language { id: "csharp", extension: "cs", before: "", nests: &[("namespace a{", "}"), ("class a{", "}"), ("void f(){", "}"), ("x=>", "")], function: "class A{int f(int a){return f(a);}}\n", statement: "int a=a;\n" },
    Language { id: "elixir", extension: "ex", before: "", nests: &[("defmodule A do\n", "end\n"), ("fn a -> ", "end\n"), ("(", ")"), ("%{a: ", "}")], function: "def f(a), do: f(a)\n", statement: "a = a\n" },
    Language { id: "go", extension: "go", before: "package p\n", nests: &[("func(){", "}"), ("struct{ a ", "}"), ("[]", ""), ("{", "}")], function: "func f(a int) int { return f(a) }\n", statement: "var a = a.b\n" },
    Language { id: "java", extension: "java", before: "", nests: &[("class A{", "}"), ("new Object(){", "}"), ("L<", ">"), ("{", "}")], function: "class A extends A { int f(int a){return f(a);} }\n", statement: "class A{A a=a.a;}\n" },
    Language { id: "javascript", extension: "js", before: "", nests: &[("function f(){", "}"), ("class A{static x=", "}"), ("()=>", ""), ("{a:", "}"), ("`${", "}`")], function: "function f(a){return f(a)}\n", statement: "a=a.b;\n" },
    Language { id: "kotlin", extension: "kt", before: "", nests: &[("class A{", "}"), ("fun f(){", "}"), ("{ a -> ", "}")], function: "fun f(a:Int):Int=f(a)\n", statement: "val a=a.b\n" },
    Language { id: "lua", extension: "lua", before: "", nests: &[("function f() ", "end "), ("do ", "end "), ("{a=", "}")], function: "function f(a) return f(a) end\n", statement: "a=a.b\n" },
    Language { id: "php", extension: "php", before: "<?php\n", nests: &[("function f(){", "}"), ("class A{", "}"), ("[", "]"), ("if(a){", "}")], function: "function f($a){return f($a);}\n", statement: "$a=$a->b;\n" },
    Language { id: "proto", extension: "proto", before: "syntax = \"proto3\";\n", nests: &[("message A{", "}"), ("message A{ enum B{", "}}")], function: "message f { f a = 1; }\n", statement: "import \"a\";\n" },
    Language { id: "python", extension: "py", before: "", nests: &[("(", ")"), ("[", "]"), ("lambda: ", ""), ("f(a=", ")")], function: "def f(a): return f(a)\n", statement: "a=a.b\n" },
    Language { id: "ruby", extension: "rb", before: "", nests: &[("module A\n", "end\n"), ("def f\n", "end\n"), ("->{", "}"), ("class A\n", "end\n")], function: "def f(a) f(a) end\n", statement: "a=a.b\n" },
    Language { id: "rust", extension: "rs", before: "", nests: &[("mod a{", "}"), ("fn f(){", "}"), ("a::{", "}"), ("Vec<", ">"), ("impl A{fn f(){", "}}"), ("m!{", "}")], function: "fn f(a:i32)->i32{f(a)}\n", statement: "use a::b as a;\n" },
    Language { id: "scala", extension: "scala", before: "", nests: &[("object A{", "}"), ("def f={", "}"), ("class A{", "}")], function: "def f(a:Int):Int=f(a)\n", statement: "val a=a.b\n" },
    Language { id: "swift", extension: "swift", before: "", nests: &[("class A{", "}"), ("func f(){", "}"), ("{ a in ", "}")], function: "func f(a:Int)->Int{return f(a)}\n", statement: "let a=a.b\n" },
    Language { id: "typescript", extension: "ts", before: "", nests: &[("namespace a{", "}"), ("class A{m(){", "}}"), ("{a:", "}"), ("a extends b?", "")], function: "function f(a:number):number{return f(a)}\n", statement: "let a=a.b;\n" },
    Language { id: "zig", extension: "zig", before: "", nests: &[("struct{", "}"), ("const a=struct{", "}"), ("{", "}"), ("(", ")")], function: "fn f(a:i32) i32 { return f(a); }\n", statement: "const a=a.b;\n" },
    Language { id: "cmake", extension: "cmake", before: "", nests: &[("if(A)\n", "endif()\n"), ("function(f)\n", "endfunction()\n"), ("(", ")"), ("${", "}")], function: "function(f a)\n f(${a})\nendfunction()\n", statement: "set(a ${a})\n" },
    Language { id: "css", extension: "css", before: "", nests: &[("a{", "}"), ("@media a{", "}"), (":not(", ")"), ("calc(", ")")], function: ".f{--f:var(--f)}\n", statement: "a{b:c}\n" },
    Language { id: "dart", extension: "dart", before: "", nests: &[("class A{", "}"), ("f(){", "}"), ("()=>", ""), ("List<", ">"), ("'${", "}'")], function: "int f(int a){return f(a);}\n", statement: "var a=a.b;\n" },
    Language { id: "dockerfile", extension: "dockerfile", before: "", nests: &[("RUN a \\\n", ""), ("${a:-", "}"), ("[\"", "\"]")], function: "FROM f AS f\n", statement: "ENV a=$a\n" },
    Language { id: "erlang", extension: "erl", before: "-module(p).\n", nests: &[("fun(A)->", " end"), ("case A of B->", " end"), ("[", "]"), ("#{a=>", "}"), ("begin ", " end")], function: "f(A)->f(A).\n", statement: "-define(a,a).\n" },
    Language { id: "gleam", extension: "gleam", before: "", nests: &[("fn(a){", "}"), ("case a{a->", "}"), ("#(", ")"), ("List(", ")"), ("[", "]")], function: "fn f(a){f(a)}\n", statement: "const a=a\n" },
    Language { id: "graphql", extension: "graphql", before: "", nests: &[("{a", "}"), ("query{", "}"), ("[", "]"), ("{a:", "}")], function: "type f{f(a:f):f}\n", statement: "extend type a{a:a}\n" },
    Language { id: "groovy", extension: "groovy", before: "", nests: &[("class A{", "}"), ("def f(){", "}"), ("{a->", "}"), ("[", "]"), ("\"${", "}\"")], function: "def f(a){return f(a)}\n", statement: "a=a.b\n" },
    Language { id: "haskell", extension: "hs", before: "", nests: &[("(", ")"), ("let a = ", " in a"), ("\\a->", ""), ("case a of a->", ""), ("where\n ", ""), ("do\n ", "")], function: "f a = f a\n", statement: "a = a\n" },
    Language { id: "hcl", extension: "tf", before: "", nests: &[("a{\n", "}\n"), ("[", "]"), ("{a=", "}"), ("\"${", "}\""), ("a?b:", "")], function: "variable \"f\" {\n f = f(var.f)\n}\n", statement: "a = a.b\n" },
    Language { id: "julia", extension: "jl", before: "", nests: &[("module A\n", "end\n"), ("function f()\n", "end\n"), ("begin ", " end "), ("a->", ""), ("\"$(", ")\"")], function: "f(a)=f(a)\n", statement: "a=a.b\n" },
    Language { id: "makefile", extension: "mk", before: "", nests: &[("ifdef A\n", "endif\n"), ("$(", ")"), ("define a\n", "endef\n"), ("${a:", "}")], function: "f: f\n\tf\n", statement: "a=$(a)\n" },
    Language { id: "nix", extension: "nix", before: "", nests: &[("{a=", ";}"), ("(", ")"), ("a:", ""), ("let a=", ";in a"), ("\"${", "}\""), ("if a then ", " else a")], function: "{f=a:f a;}\n", statement: "a=a.b;\n" },
    Language { id: "objc", extension: "m", before: "#import <a.h>\n", nests: &[("{", "}"), ("[a ", " a]"), ("^{", "}"), ("@interface A\n", "@end\n"), ("@[", "]")], function: "int f(int a){return f(a);}\n", statement: "@class a;\n" },
    Language { id: "ocaml", extension: "ml", before: "", nests: &[("module A=struct ", " end "), ("let f=", " in a"), ("fun a->", ""), ("match a with a->", ""), ("(*", "*)"), ("(", ")")], function: "let rec f a=f a\n", statement: "let a=a.b\n" },
    Language { id: "pascal", extension: "pas", before: "unit p;\ninterface\nimplementation\n", nests: &[("begin ", " end;"), ("procedure f;", "begin end;"), ("if a then ", ""), ("type a=record ", " end;"), ("(", ")")], function: "function f(a:Integer):Integer;begin f:=f(a);end;\n", statement: "var a:a;\n" },
    Language { id: "powershell", extension: "ps1", before: "", nests: &[("{", "}"), ("function f{", "}"), ("$(", ")"), ("@{a=", "}"), ("\"$(", ")\""), ("class A{", "}")], function: "function f($a){f $a}\n", statement: "$a=$a.b\n" },
    Language { id: "rlang", extension: "r", before: "", nests: &[("function(a) ", ""), ("{", "}"), ("if(a) ", ""), ("a[[", "]]"), ("f(a=", ")")], function: "f<-function(a) f(a)\n", statement: "a<-a$b\n" },
    Language { id: "solidity", extension: "sol", before: "", nests: &[("contract A{", "}"), ("function f(){", "}"), ("{", "}"), ("mapping(a=>", ")"), ("(", ")")], function: "function f(uint a){f(a);}\n", statement: "import \"a\";\n" },
    Language { id: "starlark", extension: "bzl", before: "", nests: &[("(", ")"), ("[", "]"), ("lambda: ", ""), ("f(a=", ")"), ("a if a else ", "")], function: "def f(a): return f(a)\n", statement: "a=a.b\n" },
    Language { id: "toml", extension: "toml", before: "", nests: &[("[", "]"), ("{a=", "}"), ("a.", ""), ("[[a.", "]]\n")], function: "[f]\nf=\"f\"\n", statement: "a=[]\n" },
    Language { id: "vue", extension: "vue", before: "<script>\n", nests: &[("function f(){", "}"), ("class A{static x=", "}"), ("{a:", "}"), ("<script>", "</script>"), ("<a b=\"", "\">")], function: "function f(a){return f(a)}\n", statement: "a=a.b;\n" },
    Language { id: "svelte", extension: "svelte", before: "<script>\n", nests: &[("function f(){", "}"), ("class A{static x=", "}"), ("{a:", "}"), ("<script>", "</script>"), ("<a b=\"", "\">")], function: "function f(a){return f(a)}\n", statement: "a=a.b;\n" },
    Language { id: "astro", extension: "astro", before: "---\n", nests: &[("function f(){", "}"), ("class A{static x=", "}"), ("{a:", "}"), ("<script>", "</script>"), ("<a b=\"", "\">")], function: "function f(a){return f(a)}\n", statement: "a=a.b;\n" },
    Language { id: "markdown", extension: "md", before: "", nests: &[("> ", ""), ("- ", ""), ("# a\n", ""), ("```\n", "```\n"), ("[", "](a)"), ("<a>\n", "</a>\n")], function: "# f\n\nf\n", statement: "a\n===\n" },
    Language { id: "yaml", extension: "yaml", before: "", nests: &[("- ", ""), ("? ", ""), ("[", "]"), ("{a: ", "}"), ("a:\n ", "")], function: "f: *f\n", statement: "a: &a b\n" },
    Language { id: "jupyter", extension: "ipynb", before: "", nests: &[("{\"cells\":[", "]}"), ("[", "]"), ("{\"cells\":[{\"cell_type\":\"code\",\"source\":[\"(", ")\"]}]}")], function: "{\"cells\":[{\"cell_type\":\"code\",\"source\":\"def f(a): return f(a)\"}]}\n", statement: "{\"cells\":[{\"cell_type\":\"code\",\"source\":\"a=a.b\"}]}\n" },
];

impl Language {
    /// Files of so many bytes, by name.
    pub fn files(&self, size: usize) -> Vec<(String, String)> {
        let Self { extension, before, .. } = self;
        let texts = [self.nesting(size), self.repeating(size), self.long(size), self.noise(size)].concat();
        texts.into_iter().map(|(name, text)| (format!("{name}.{extension}"), format!("{before}{text}"))).collect()
    }

    /// The function by another name.
    fn named(&self, name: &str) -> String {
        let f = regex::Regex::new(r"\bf\b").expect("it is a regex");
        f.replace_all(self.function, regex::NoExpand(name)).into_owned()
    }

    /// Constructs within constructs, ended and unended, as statements and as values.
    fn nesting(&self, size: usize) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (place, (open, close)) in self.nests.iter().enumerate() {
            let nested = nested(open, close, size);
            texts.push((format!("value_{place}"), format!("x = {nested}\n")));
            texts.push((format!("nested_{place}"), nested));
            texts.push((format!("open_{place}"), many(open, size)));
        }
        // Each line deeper than the one before.
        let indented = |line: usize| " ".repeat(line) + self.function;
        texts.push(("indented".into(), (0..(2 * size).isqrt()).map(indented).collect()));
        texts
    }

    /// Definitions and statements again and again, of one name and of many.
    fn repeating(&self, size: usize) -> Vec<(String, String)> {
        let Self { function, statement, .. } = self;
        let names = |number: usize| self.named(&format!("f{number}"));
        let texts = [
            ("functions", many(function, size)),
            ("statements", many(statement, size)),
            ("both", many(statement, size / 2) + &many(function, size / 2)),
            ("names", (0..size / (function.len() + 12)).map(names).collect()),
            ("long_names", many(&self.named(&"n".repeat(1_000)), size)),
            ("one_line", many(&function.replace('\n', " "), size)),
            ("decorators", many("@a\n", size) + function),
            ("documented", many("/// a\n", size / 2) + &many("# a\n", size / 2) + function),
        ];
        texts.map(|(name, text)| (name.into(), text)).into()
    }

    /// One line, one word, one string or one list that fills the file.
    fn long(&self, size: usize) -> Vec<(String, String)> {
        let comment = match self.extension {
            "py" | "rb" | "sh" | "ex" | "bzl" | "cmake" | "dockerfile" | "graphql" | "jl" | "mk" | "ps1" | "r"
            | "toml" => "#\n",
            "lua" | "hs" => "--\n",
            "zig" | "gleam" => "//\n",
            "erl" => "%\n",
            "ml" => "(**)",
            "pas" => "{}",
            _ => "/**/",
        };
        let mut texts = vec![
            ("word".to_owned(), "a".repeat(size)),
            ("string".into(), format!("x = \"{}", "a".repeat(size))),
            ("chain".into(), format!("x = a{}", many(".b()", size))),
            ("sum".into(), format!("x = 1{}", many("+a", size))),
        ];
        for (place, (before, after)) in [("x = (", "a)\n"), ("f(", "a)\n"), ("import ", "a\n")].iter().enumerate() {
            texts.push((format!("remarks_{place}"), format!("{before}{}{after}", many(comment, size))));
        }
        for (place, (before, after)) in [("int x", "\n"), ("let [x", "] = a\n"), ("var x", " = a\n")].iter().enumerate()
        {
            texts.push((format!("list_{place}"), format!("{before}{}{after}", many(",a", size))));
        }
        texts
    }

    /// Tokens and letters in no order.
    fn noise(&self, size: usize) -> Vec<(String, String)> {
        let Self { nests, function, statement, .. } = self;
        let nests = nests.iter().flat_map(|(open, close)| [*open, *close]);
        let text: String = [*function, *statement].into_iter().chain(nests).collect();
        let pieces = regex::Regex::new(r"\w+|\n|[^\w\s]").expect("it is a regex");
        let pieces: Vec<&str> = pieces.find_iter(&text).map(|piece| piece.as_str()).collect();
        let mut next = choices();
        let mut shuffled = String::new();
        while shuffled.len() < size {
            shuffled += pieces[next(pieces.len())];
            shuffled += if next(3) == 0 { " " } else { "" };
        }
        let texts = [
            ("noise", many("+-*/%&|^!~=<>?:.,;@#$", size)),
            ("brackets", many("([{<", size)),
            ("words", many("class def func fn if else for while return import ", size)),
            ("comments", many("/*", size)),
            ("quotes", many("\"a ", size)),
            ("backslashes", many("\\", size)),
            ("shuffled", shuffled),
            ("mutated", mutated(&many(&format!("{function}{statement}"), size))),
        ];
        texts.map(|(name, text)| (name.into(), text)).into()
    }
}

/// Numbers below a bound that look random and are the same in every run.
pub fn choices() -> impl FnMut(usize) -> usize {
    let mut state = 0x5DEE_CE66_D1CE_4E5B_u64;
    move |most| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % most.max(1)
    }
}

/// A text with another sign in place of every twentieth letter.
pub fn mutated(text: &str) -> String {
    let signs = b"(){}[]<>;:,.\n \"'a@#=";
    let mut next = choices();
    let mutate = |letter: u8| if next(20) == 0 { signs[next(signs.len())] } else { letter };
    String::from_utf8_lossy(&text.bytes().map(mutate).collect::<Vec<u8>>()).into_owned()
}
