//! Numbers that look random and are the same in every run.

/// A source of them; the seed is not 0.
pub struct Random(pub u64);

impl Random {
    /// One of the first `n` numbers from 0 on; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}
