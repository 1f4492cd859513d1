//! Lines that two versions of a text share.

/// Most pairs of lines that are compared; beyond, all lines between the first and the last change count as changed.
const MOST: usize = 4_000_000;

/// A run of changed lines.
#[derive(Debug, PartialEq, Eq)]
pub struct Hunk<'t> {
    /// Line of the new text where the run begins, from one.
    pub line: usize,
    /// Lines that go.
    pub removed: Vec<&'t str>,
    /// Lines that come.
    pub added: Vec<&'t str>,
}

/// The runs of lines in which two texts differ. Ends of lines do not count.
pub fn hunks<'t>(old: &'t str, new: &'t str) -> Vec<Hunk<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut hunks: Vec<Hunk<'t>> = Vec::new();
    let (mut next_old, mut is_open) = (0, false);
    let ends = std::iter::once((new.len(), Some(old.len())));
    for (at, origin) in origins(&old, &new).into_iter().enumerate().chain(ends) {
        let skipped = &old[next_old..origin.unwrap_or(next_old)];
        let is_same = origin.is_some_and(|origin| old.get(origin) == new.get(at));
        next_old = origin.map_or(next_old, |origin| origin + 1);
        if is_same && skipped.is_empty() {
            is_open = false;
            continue;
        }
        if !is_open {
            hunks.push(Hunk { line: at + 1, removed: Vec::new(), added: Vec::new() });
        }
        let hunk = hunks.last_mut().expect("one is open");
        hunk.removed.extend(skipped);
        if !is_same {
            hunk.removed.extend(origin.and_then(|origin| old.get(origin)));
            hunk.added.extend(new.get(at));
        }
        is_open = !is_same;
    }
    hunks
}

/// The new text, whose lines end with line feeds, with the line ends that the old text has. New lines end as most
/// old ones do.
pub fn with_ends_of(old: &str, new: &str) -> String {
    let returns = old.matches("\r\n").count();
    if returns == 0 {
        return new.to_owned();
    }
    let usual = if 2 * returns >= old.matches('\n').count() { "\r\n" } else { "\n" };
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let bare: Vec<&str> = old.iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let mut text = String::new();
    for (at, origin) in origins(&bare, &new).into_iter().enumerate() {
        text.push_str(new[at]);
        if at + 1 < new.len() {
            // The last line has no end that could be kept.
            let origin = origin.filter(|origin| origin + 1 < old.len());
            text.push_str(origin.map_or(usual, |origin| if old[origin].ends_with('\r') { "\r\n" } else { "\n" }));
        }
    }
    text
}

/// For each new line, the old line that it is, but for a comma at its end: a longest common subsequence.
fn origins(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let without_commas = |lines: &[&str]| -> Vec<String> {
        lines.iter().map(|line| line.strip_suffix(',').unwrap_or(line).to_owned()).collect()
    };
    let (old, new) = (&without_commas(old), &without_commas(new));
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut origins: Vec<Option<usize>> = (0..head).map(Some).collect();
    origins.extend(common(old_middle, new_middle).into_iter().map(|origin| origin.map(|origin| origin + head)));
    origins.extend((old.len() - tail..old.len()).map(Some));
    origins
}

fn common(old: &[String], new: &[String]) -> Vec<Option<usize>> {
    let (rows, columns) = (old.len() + 1, new.len() + 1);
    let mut origins = vec![None; new.len()];
    if rows * columns > MOST {
        return origins;
    }
    // Length of the longest common subsequence of what follows each pair of places.
    let mut length = vec![0_u32; rows * columns];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            length[row * columns + column] = match old[row] == new[column] {
                true => length[(row + 1) * columns + column + 1] + 1,
                false => length[(row + 1) * columns + column].max(length[row * columns + column + 1]),
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < old.len() && column < new.len() {
        if old[row] == new[column] {
            origins[column] = Some(row);
            (row, column) = (row + 1, column + 1);
        } else if length[(row + 1) * columns + column] >= length[row * columns + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    origins
}
