//! Conditions around the heads of one body, which the grammar takes for as many bodies.

use crate::languages::sections::{all_but_first, blank, conditions, has_one_body};

/// `#if A` head `#else` another head `#endif` body: the first head is kept, without the condition.
pub(super) fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut made: Option<Vec<u8>> = None;
    for condition in conditions(text).iter().filter(|condition| has_one_body(text, condition)) {
        let made = made.get_or_insert_with(|| text.to_vec());
        all_but_first(condition).for_each(|part| blank(made, part));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    #[test]
    fn the_first_of_several_heads_is_kept() {
        let read = |text: &str| {
            let made = preprocess(text.as_bytes()).map(|made| String::from_utf8(made).expect("it was text"));
            assert!(made.as_ref().is_none_or(|made| made.len() == text.len()));
            made.map(|made| made.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>())
        };
        let text = "class A {\n#if B\n  int C(int d) // e\n#else\n  int C(long d)\n#endif\n  // f\n  { }\n}\n";
        assert_eq!(read(text), None, "a comment behind a head is not looked through");
        let text = text.replace(" // e", "");
        assert_eq!(read(&text).as_deref(), Some("class A {\n\n  int C(int d)\n\n\n\n  // f\n  { }\n}\n"));
        assert_eq!(read("#if A\n  B();\n#else\n  C();\n#endif\n{ }\n"), None);
        assert_eq!(read("#if A\n  if (B)\n#endif\n  { }\n"), None, "one head alone may be none");
    }
}
