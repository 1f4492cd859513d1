//! The receiver of a member as the source writes it, before the dot.

/// The longest receiver, in bytes.
const LONGEST: usize = 80;
/// Separators between a receiver and its member.
const MARKS: [&[u8]; 5] = [b"?.", b"!!.", b"->", b"::", b"."];

/// The receiver of the member whose name begins at byte `at`, without arguments: `w.Header()` for `w.Header().Get`.
/// `None` if the name has no receiver, or a very long one.
pub fn receiver(content: &[u8], at: u32) -> Option<String> {
    let before = content.get(..at as usize)?;
    let end = without_mark(before)?;
    let start = start_of_chain(&before[..end])?;
    let text = String::from_utf8_lossy(&before[start..end]);
    Some(without_arguments(&text)).filter(|text| !text.is_empty())
}

/// The length of a text without the separator at its end; `None` if it ends with none.
fn without_mark(text: &[u8]) -> Option<usize> {
    let text = text.trim_ascii_end();
    let mark = MARKS.iter().find(|mark| text.ends_with(mark))?;
    Some(text[..text.len() - mark.len()].trim_ascii_end().len())
}

/// The start of the chain of names, calls and indexes at the end of a text; `None` if there is none, or a very long
/// one.
fn start_of_chain(text: &[u8]) -> Option<usize> {
    let mut start = text.len();
    loop {
        while start > 0 && matches!(text[start - 1], b')' | b']') {
            start = opening(text, start - 1)?;
        }
        let name = text[..start].iter().rev().take_while(|byte| is_of_name(**byte)).count();
        start -= name;
        if text.len() - start > LONGEST || (name == 0 && start == text.len()) {
            return None;
        }
        match without_mark(&text[..start]) {
            Some(end) if name > 0 => start = end,
            _ => return Some(start),
        }
    }
}

/// The place of the bracket that matches the closing one at `end`.
fn opening(text: &[u8], end: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text[..=end].iter().enumerate().rev().take(LONGEST) {
        match byte {
            b')' | b']' => depth += 1,
            b'(' | b'[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || !byte.is_ascii()
}

/// A receiver on one line, with empty brackets.
fn without_arguments(text: &str) -> String {
    let (mut kept, mut depth) = (String::new(), 0_u32);
    for letter in text.chars() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 || letter.is_whitespace() => continue,
            _ => {}
        }
        let is_outermost = depth == 0 || (depth == 1 && matches!(letter, '(' | '['));
        if is_outermost {
            kept.push(letter);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_receiver_is_what_stands_before_the_dot() {
        let of = |text: &str| {
            let at = text.find("Get").expect("a name");
            super::receiver(text.as_bytes(), at as u32)
        };
        let cases = [
            ("v := w.Header().Get(k)", Some("w.Header()")),
            ("field.Tag.Get(k)", Some("field.Tag")),
            ("return a[i + 1].Get()", Some("a[]")),
            ("x = f(g(1), [2])->Get()", Some("f()")),
            ("std::map::Get()", Some("std::map")),
            ("this?.items\n    .Get()", Some("this?.items")),
            ("Get()", None),
            ("a + Get()", None),
            ("{}.Get()", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(of(text).as_deref(), wanted, "{text}");
        }
    }
}
