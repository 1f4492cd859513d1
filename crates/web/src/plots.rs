//! Small plots of figures, which stand beside their numbers.

use maud::{Markup, html};

use codelode_service::answer::session::Latency;

/// Size of a plot.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 12.0;
/// The shortest and the longest time of a plot in milliseconds; the scale is logarithmic.
const SHORTEST: f64 = 0.1;
const LONGEST: f64 = 10_000.0;

/// A bar for a part of the largest number.
pub(super) fn share(number: u64, most: u64) -> Markup {
    let width = if most == 0 { 0.0 } else { WIDTH * number as f64 / most as f64 };
    plot(&html! { rect.bar y="2" height="8" rx="2" width=(format!("{width:.1}")) {} })
}

/// A line from the time that half of the calls took to that of the slowest, with a bar to that of 95 of 100.
pub(super) fn times(latency: &Latency) -> Markup {
    let at = |ms: f64| WIDTH * ((ms / SHORTEST).max(1.0).log10() / (LONGEST / SHORTEST).log10()).min(1.0);
    let (half, most, all) = (at(latency.p50_ms), at(latency.p95_ms), at(latency.max_ms));
    plot(&html! {
        path.axis d=(format!("M{half:.1} 6H{all:.1}")) {}
        rect.bar x=(format!("{half:.1}")) y="3" height="6" rx="2" width=(format!("{:.1}", (most - half).max(3.0))) {}
        path.axis d=(format!("M{all:.1} 2V10")) {}
    })
}

fn plot(drawn: &Markup) -> Markup {
    html! {
        svg.plot width=(WIDTH) height=(HEIGHT) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) aria-hidden="true" {
            path.ground d=(format!("M0 11.5H{WIDTH}")) {}
            (drawn)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{share, times};
    use codelode_service::answer::session::Latency;

    #[test]
    fn lengths_say_how_much() {
        assert!(share(1, 4).into_string().contains("width=\"30.0\""));
        assert!(share(0, 0).into_string().contains("width=\"0.0\""));
        let latency = Latency { count: 1, p50_ms: 1.0, p95_ms: 10.0, max_ms: 1e9, errors: 0 };
        let plot = times(&latency).into_string();
        assert!(
            plot.contains("M24.0 6H120.0") && plot.contains("x=\"24.0\"") && plot.contains("width=\"24.0\""),
            "{plot}"
        );
    }
}
