//! Traces: the id under which the logs of all servers tell of one question, passed on as W3C's Trace Context has it.

use std::hash::{BuildHasher, RandomState};

/// Name of the header, and of the key in `_meta`, that carries a trace.
pub const TRACE_PARENT: &str = "traceparent";

/// The trace of a question, and the part of it that is asked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    id: String,
    flags: String,
}

impl Trace {
    /// A trace of its own, for a question that came without one.
    pub fn new() -> Self {
        Self { id: format!("{:016x}{:016x}", random(), random()), flags: "00".to_owned() }
    }

    /// Reads a `traceparent`: version, id, the caller's span and flags, in hex.
    pub fn read(text: &str) -> Option<Self> {
        let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_some = |part: &str| part.bytes().any(|byte| byte != b'0');
        let mut parts = text.trim().split('-');
        let (version, id, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_sound = [version, id, span, flags].into_iter().all(is_hex)
            && [version, id, span, flags].map(str::len) == [2, 32, 16, 2]
            && version != "ff"
            && (version != "00" || parts.next().is_none())
            && is_some(id)
            && is_some(span);
        is_sound.then(|| Self { id: id.to_owned(), flags: flags.to_owned() })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The `traceparent` of a question to another server, which is a span of its own.
    pub fn parent(&self) -> String {
        format!("00-{}-{:016x}-{}", self.id, random().max(1), self.flags)
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

/// A number that no other process draws.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::Trace;

    const GIVEN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_is_passed_on_under_its_id_with_a_span_of_its_own() {
        let trace = Trace::read(GIVEN).expect("it is one");
        assert_eq!(trace.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        let passed = trace.parent();
        assert_eq!(Trace::read(&passed), Some(trace));
        assert!(passed != GIVEN && passed.ends_with("-01"), "{passed}");
        let own = Trace::new();
        assert_eq!(Trace::read(&own.parent()), Some(own));
    }

    #[test]
    fn what_is_no_trace_is_none() {
        let wrong = [
            "",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e473\n-00f067aa0ba902b7-01",
        ];
        for text in wrong {
            assert_eq!(Trace::read(text), None, "{text}");
        }
        let newer = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more";
        assert!(Trace::read(newer).is_some(), "later versions may have more");
    }
}
