//! Retry delays: exponential backoff and `Retry-After`.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The first delay; each further one is twice as long.
const FIRST: Duration = Duration::from_millis(200);
/// The longest delay, before jitter.
const LONGEST: Duration = Duration::from_secs(4);

/// The delay after attempt number `attempt`, counted from one: exponential, with 50 % jitter so that clients that
/// failed together do not retry together.
pub fn backoff(attempt: u32) -> Duration {
    spread(attempt, RandomState::new().hash_one(attempt))
}

fn spread(attempt: u32, random: u64) -> Duration {
    let whole = FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(LONGEST);
    let share = 0.5 + (random >> 11) as f64 / (1_u64 << 53) as f64;
    whole.mul_f64(share)
}

/// Parses `Retry-After`: seconds, or a date, compared with the server's own `Date`.
pub fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let then = seconds_of(value)?;
    let now = match date.and_then(seconds_of) {
        Some(now) => now,
        None => std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_secs(),
    };
    Some(Duration::from_secs(then.saturating_sub(now)))
}

/// Parses an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`, to seconds since 1970.
fn seconds_of(date: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = date.split_once(", ")?.1.strip_suffix(" GMT")?.split(' ');
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = words.next().and_then(|word| MONTHS.iter().position(|month| *month == word))? as u64 + 1;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = words.next()?.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 1970. Years start in March, so that the leap day is the last day of its year.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_are_spread_and_end() {
        assert_eq!(spread(1, 0), Duration::from_millis(100));
        assert_eq!(spread(3, 0), Duration::from_millis(400));
        assert_eq!(spread(2, 1 << 63), Duration::from_millis(400));
        for attempt in 1..100 {
            let wait = backoff(attempt);
            assert!(wait >= FIRST / 2 && wait <= LONGEST * 3 / 2, "{wait:?}");
        }
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(seconds_of(date), Some(784_111_777));
        assert_eq!(seconds_of("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(retry_after("120", None), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:37 GMT", Some(date)), Some(Duration::from_secs(60)));
        assert_eq!(retry_after(date, Some("Sun, 06 Nov 1994 09:00:00 GMT")), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", None), None);
    }
}
