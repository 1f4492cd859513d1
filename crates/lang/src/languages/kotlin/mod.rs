//! Kotlin: types of every kind, their functions, constructors and properties, and definitions outside of types.

mod calls;
mod classes;
mod expressions;
mod headers;
mod lower;
mod members;
mod semantics;
mod shapes;
mod types;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "kotlin",
    aliases: &["kt"],
    extensions: &["kt", "kts"],
    grammar: grammar!("kotlin", tree_sitter_kotlin_ng, "highlights.scm"),
    preprocess: Some(headers::preprocess),
    sanitize: Some(sanitize),
    rules: &[
        (
            Rule::BySign {
                signs: &[
                    ("interface", Kind::Type, Detail::Interface),
                    ("enum", Kind::Type, Detail::Enum),
                    ("annotation", Kind::Type, Detail::Annotation),
                    ("", Kind::Class, Detail::Class),
                ],
                name: "name",
                body: "class_body|enum_class_body",
            },
            &["class_declaration"],
        ),
        (symbol(Kind::Class, Detail::Object, "name", "class_body"), &["object_declaration", "companion_object"]),
        (symbol(Kind::Function, Detail::Function, "name", "function_body"), &["function_declaration"]),
        (symbol(Kind::Method, Detail::Constructor, "constructor", "block"), &["secondary_constructor"]),
        (symbol(Kind::Constant, Detail::Property, PROPERTY, "getter|setter"), &["property_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "identifier", "class_body"), &["enum_entry"]),
        (symbol(Kind::Type, Detail::Alias, "type", ""), &["type_alias"]),
        (Rule::BySign { signs: PARAMETERS, name: "identifier", body: "" }, &["class_parameter"]),
        (Rule::Branch, &["if_expression", "when_entry", "for_statement", "while_statement", "do_while_statement"]),
        (Rule::Branch, &["catch_block", "&&", "||", "?:"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::MARKED,
    decorators: &["annotation"],
    imports: &[("import", "")],
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    conventions: &Conventions {
        starts: &[(Kind::Function, "main")],
        test_decorators: &["Test", "ParameterizedTest"],
        test_files: &["*Test", "*Tests", "*Spec"],
        tells_dead: false,
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const PROPERTY: &str = "variable_declaration/identifier";

/// Parameters of a constructor that are properties of the class.
const PARAMETERS: &[(&str, Kind, Detail)] =
    &[("val", Kind::Constant, Detail::Property), ("var", Kind::Constant, Detail::Property)];

/// Blanks the sign of annotations that the text ends in. At the beginning of a line, the scanner searches for the space behind
/// an annotation, in parentheses for the end of the line, and never sees the end of the text.
fn sanitize(text: &[u8]) -> Option<Vec<u8>> {
    let before = memchr::memrchr(b'\n', text).or_else(|| memchr::memchr(b'\r', text))?;
    // The first annotation without an end, and the first in parentheses.
    let (mut open, mut inside): (Option<usize>, Option<usize>) = (None, None);
    for (at, byte) in text.iter().enumerate().skip(before) {
        match byte {
            b'@' => open = open.or(Some(at)),
            b'(' => inside = inside.or(open.take()),
            b')' => open = inside.take().or(open),
            _ if byte.is_ascii_whitespace() => open = None,
            _ => {}
        }
    }
    let from = inside.or(open)?;
    let mut sanitized = text.to_vec();
    sanitized[from..].iter_mut().filter(|byte| **byte == b'@').for_each(|byte| *byte = b' ');
    Some(sanitized)
}

#[cfg(test)]
mod tests {
    use super::sanitize;

    #[test]
    fn only_annotations_that_the_text_ends_in_are_blanked() {
        let sanitized =
            |text: &str| sanitize(text.as_bytes()).map(|made| String::from_utf8(made).expect("it was text"));
        assert_eq!(sanitized("@A\n@B").as_deref(), Some("@A\n B"));
        assert_eq!(sanitized("@A\n@B(1, @C x").as_deref(), Some("@A\n B(1,  C x"));
        assert_eq!(sanitized("@A\n@B(1) @C(2)").as_deref(), Some("@A\n@B(1)  C(2)"));
        assert_eq!(sanitized("\r@").as_deref(), Some("\r "));
        for harmless in ["@A", "@A\n@B(1) x", "@A\n@B\n", "@A fun f()\n{ return@f }"] {
            assert_eq!(sanitized(harmless), None, "{harmless:?}");
        }
    }
}
