//! Texts that are hard to read: deeply nested, endless, or with much that is common to many.

/// About so many bytes: below the size from which files are left out.
pub const SIZE: usize = 480_000;

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
        ("paragraphs.ts", format!("class A {{{{{{{{ <<<<\n\n{}", many("a\n\n", size))),
    ]
}
