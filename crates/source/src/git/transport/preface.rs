//! The part of a conversation that is kept in memory: everything that a server sends before a pack. It is parsed
//! packet by packet, so that an endless answer is noticed while it comes.

/// The limit in bytes for a server's capabilities, its list of refs, or the packets before a pack. A list of this
/// length names about 200,000 refs.
pub(super) const LONGEST: u64 = 12 << 20;

/// Bytes received in one conversation, up to the first packet of its pack.
#[derive(Debug)]
pub(super) struct Preface {
    left: u64,
    phase: Phase,
    header: Vec<u8>,
    /// The bytes left of the current packet, and its first ones.
    packet: usize,
    first: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No pack was requested.
    Talk,
    /// A pack was requested and has not begun.
    Answer,
    /// The pack comes.
    Pack,
}

impl Default for Preface {
    fn default() -> Self {
        Self { left: LONGEST, phase: Phase::Talk, header: Vec::new(), packet: 0, first: Vec::new() }
    }
}

impl Preface {
    /// Follows a request, or a part of one.
    pub(super) fn asks(&mut self, request: &[u8]) {
        let holds = |words: &[u8]| memchr::memmem::find(request, words).is_some();
        // Every version of the protocol names the wanted objects before a pack.
        if holds(b"want ") {
            *self = Self { left: self.left, phase: Phase::Answer, ..Self::default() };
        } else if holds(b"command=") {
            self.phase = Phase::Talk;
        }
    }

    /// Whether a pack was requested.
    pub(super) fn awaits_pack(&self) -> bool {
        self.phase != Phase::Talk
    }

    /// Counts received bytes; false if there are too many before a pack.
    pub(super) fn passes(&mut self, mut bytes: &[u8]) -> bool {
        while self.phase != Phase::Pack && !bytes.is_empty() {
            let n = match (self.phase, self.packet) {
                (Phase::Talk, _) => bytes.len(),
                (_, 0) => self.head(bytes),
                _ => self.inside(bytes),
            };
            bytes = &bytes[n..];
            match self.left.checked_sub(n as u64) {
                Some(left) => self.left = left,
                None => return false,
            }
        }
        true
    }

    /// Continues with the four digits of a packet's length.
    fn head(&mut self, bytes: &[u8]) -> usize {
        let n = (4 - self.header.len()).min(bytes.len());
        self.header.extend_from_slice(&bytes[..n]);
        if self.header.len() == 4 {
            let length = std::str::from_utf8(&self.header).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
            match length {
                Some(length) => self.packet = length.saturating_sub(4),
                // The pack itself, without packets.
                None => self.phase = Phase::Pack,
            }
            self.header.clear();
            self.first.clear();
        }
        n
    }

    /// Continues inside a packet.
    fn inside(&mut self, bytes: &[u8]) -> usize {
        let n = self.packet.min(bytes.len());
        let mark = b"packfile\n";
        let wanted = (mark.len() - self.first.len()).min(n);
        self.first.extend_from_slice(&bytes[..wanted]);
        self.packet -= n;
        // An old server goes over to numbered channels without a word.
        if matches!(self.first[0], 1..=3) || (self.packet == 0 && self.first == mark) {
            self.phase = Phase::Pack;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Preface};

    fn packet(content: &[u8]) -> Vec<u8> {
        [format!("{:04x}", content.len() + 4).as_bytes(), content].concat()
    }

    fn asked(request: &[u8]) -> Preface {
        let mut preface = Preface::default();
        preface.asks(request);
        preface
    }

    #[test]
    fn a_pack_may_be_long_and_what_comes_before_may_not() {
        let long = vec![b'x'; LONGEST as usize];
        let shallow = packet(b"shallow 0123\n").repeat(2);
        for begins in [packet(b"packfile\n"), packet(b"\x01PACK"), b"PACK".to_vec()] {
            for step in [1, 5, 4096] {
                let mut preface = asked(b"0032want 0123\n");
                let answer = [&shallow[..], b"0001", &begins].concat();
                assert!(answer.chunks(step).all(|bytes| preface.passes(bytes)));
                assert!(preface.passes(&long) && preface.passes(&long));
            }
        }
        let mut preface = asked(b"0032want 0123\n");
        let endless = packet(b"shallow packfile\n").repeat(1000);
        let came = (0..2000).take_while(|_| preface.passes(&endless)).count();
        assert_eq!(came, LONGEST as usize / endless.len());
    }

    #[test]
    fn a_pack_that_nobody_asked_for_is_none() {
        let pack = [packet(b"packfile\n"), vec![1; LONGEST as usize]].concat();
        for request in [&b""[..], b"0014command=ls-refs\n", b"0032want 0123\n0014command=ls-refs\n"] {
            let mut preface = asked(request);
            preface.asks(b"0014command=ls-refs\n");
            assert!(!preface.passes(&pack));
        }
    }

    #[test]
    fn all_answers_of_a_conversation_count() {
        let mut preface = Preface::default();
        let half = vec![b'x'; LONGEST as usize / 2];
        assert!(preface.passes(&half));
        preface.asks(b"0014command=ls-refs\n");
        assert!(preface.passes(&half));
        preface.asks(b"0014command=fetch\n0032want 0123\n");
        assert!(!preface.passes(&packet(b"shallow 0123\n")));
    }
}
