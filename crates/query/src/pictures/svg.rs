//! Writes a graph as SVG. Colours are attributes, so the picture works alone and a page's style sheet can override
//! them.

use std::fmt::Write as _;

use super::graph::{EdgeCertainty, Graph, Node};
use super::layout::{LONGEST, MARK, NodePosition, layout};

/// Colour of lines that are certain.
const SURE: &str = "#0b5f4c";

/// The style of a line: its class, its tip's class, its colour and its dashes.
struct Line {
    class: &'static str,
    tip: &'static str,
    colour: &'static str,
    dashes: &'static str,
}

const LINES: [(EdgeCertainty, Line); 3] = [
    (EdgeCertainty::Resolved, Line { class: "arc", tip: "tip", colour: SURE, dashes: "" }),
    (
        EdgeCertainty::Through,
        Line { class: "arc doubt", tip: "tip-doubt", colour: "#9a5b00", dashes: " stroke-dasharray=\"7 4\"" },
    ),
    (
        EdgeCertainty::Possible,
        Line {
            class: "arc maybe",
            tip: "tip-maybe",
            colour: "#56635d",
            dashes: " stroke-width=\"1.8\" stroke-dasharray=\"1.5 4\"",
        },
    ),
];

/// Writes a graph as SVG, optionally with links.
pub fn svg(graph: &Graph, title: &str, has_links: bool) -> String {
    let found = layout(graph);
    let (width, height) = (found.width, found.height);
    // Screen readers announce no links inside an image.
    let role = if has_links { "group" } else { "img" };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"{role}\" font-family=\"monospace\" font-size=\"12\"><title>{}</title>\
         <defs>{}</defs><rect class=\"ground\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
        escaped(title),
        LINES.iter().map(|(_, line)| tip(line)).collect::<String>(),
    );
    for edge in &graph.edges {
        let (from, to) = (found.places[edge.from], found.places[edge.to]);
        let Line { class, tip, colour, dashes } = line(edge.sureness);
        _ = write!(
            out,
            "<path class=\"{class}\" d=\"{}\" fill=\"none\" stroke=\"{colour}\"{dashes} marker-end=\"url(#{tip})\"/>",
            curve(from, to)
        );
    }
    for (node, place) in graph.nodes.iter().zip(&found.places) {
        draw(&mut out, node, *place, has_links);
    }
    out.push_str("</svg>");
    out
}

/// Writes a sample line of this certainty, for a legend.
pub fn sample(sureness: EdgeCertainty) -> String {
    let Line { class, colour, dashes, .. } = line(sureness);
    format!(
        "<svg class=\"picture\" width=\"28\" height=\"8\" aria-hidden=\"true\"><path class=\"{class}\" d=\"M0 4H28\" \
         stroke=\"{colour}\"{dashes}/></svg>"
    )
}

fn line(sureness: EdgeCertainty) -> &'static Line {
    let found = LINES.iter().find(|(known, _)| *known == sureness);
    found.map_or(&LINES[0].1, |(_, line)| line)
}

/// The head of an arrow.
fn tip(line: &Line) -> String {
    let Line { tip: name, colour, .. } = line;
    format!(
        "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path class=\"{name}\" d=\"M0 0 8 4 0 8z\" fill=\"{colour}\"/></marker>"
    )
}

/// A curve from the side of one node to another's; around the side if both are in one layer.
fn curve(from: NodePosition, to: NodePosition) -> String {
    let middle = |place: NodePosition| place.y + place.height / 2.0;
    let (start, end) = (middle(from), middle(to));
    let (x1, x2, a, b) = match from.x.total_cmp(&to.x) {
        std::cmp::Ordering::Less => (from.x + from.width, to.x, 1.0, -1.0),
        std::cmp::Ordering::Greater => (from.x, to.x + to.width, -1.0, 1.0),
        std::cmp::Ordering::Equal => (from.x + from.width, to.x + to.width, 1.0, 1.0),
    };
    let bend = ((x2 - x1).abs() / 2.0).clamp(24.0, 120.0);
    format!("M{x1:.1} {start:.1}C{:.1} {start:.1} {:.1} {end:.1} {x2:.1} {end:.1}", x1 + a * bend, x2 + b * bend)
}

fn draw(out: &mut String, node: &Node, place: NodePosition, has_links: bool) {
    let NodePosition { x, y, width, height } = place;
    let is_linked = has_links && !node.link.is_empty();
    if is_linked {
        _ = write!(out, "<a href=\"{}\">", escaped(&node.link));
    }
    let (class, stroke) = if node.layer == 0 { ("node own", "#0b5f4c") } else { ("node", "#b9c4bf") };
    _ = write!(
        out,
        "<g class=\"{class}\"><title>{} {}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.0}\" rx=\"6\" fill=\"#f5f7f6\" stroke=\"{stroke}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#1b2320\">{}</text><text class=\"weak\" x=\"{:.1}\" y=\"{:.1}\" fill=\"#56635d\">{}</text></g>",
        escaped(&node.label),
        escaped(&node.detail),
        x + 10.0,
        y + 17.0,
        escaped(&shortened(&node.label)),
        x + 10.0,
        y + 32.0,
        escaped(&shortened(&node.detail)),
    );
    if is_linked {
        out.push_str("</a>");
    }
    if has_links && !node.more.is_empty() {
        let (sign, says) = if node.has_more { ("+", "Show more around") } else { ("−", "Show less around") };
        _ = write!(
            out,
            "<a class=\"more\" href=\"{}\" aria-label=\"{says} {}\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{MARK}\" height=\"{height:.0}\" \
             fill-opacity=\"0\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"16\" fill=\"{SURE}\">{sign}</text></a>",
            escaped(&node.more),
            escaped(&node.label),
            x + width - MARK,
            y,
            x + width - MARK / 2.0,
            y + 25.0,
        );
    }
}

/// A label cut to fit. Its end is kept, since it says more than its beginning.
fn shortened(text: &str) -> String {
    let letters = text.chars().count();
    if letters <= LONGEST {
        return text.to_owned();
    }
    let end: String = text.chars().skip(letters + 1 - LONGEST).collect();
    format!("…{end}")
}

/// Escapes a text for XML, and removes characters that move or hide others.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => {
                out.push('\u{fffd}')
            }
            '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Edge, EdgeCertainty, Graph, Node};
    use super::svg;

    #[test]
    fn names_are_no_markup_in_a_picture() {
        let node = |label: &str, layer| Node {
            label: label.to_owned(),
            detail: "a\u{202e}\"b".to_owned(),
            link: "/r/a?b=\"><script>".to_owned(),
            more: "/g/a?b=\"><script>".to_owned(),
            layer,
            ..Node::default()
        };
        let nodes = vec![node("<script>alert(1)</script>", 0), node(&"long".repeat(20), 1)];
        let graph = Graph { nodes, edges: vec![Edge { from: 0, to: 1, sureness: EdgeCertainty::Possible }], left: 0 };
        let with = svg(&graph, "</title><script>", true);
        assert!(!with.contains("<script") && !with.contains('\u{202e}'), "{with}");
        assert!(
            with.contains("<a href=\"/r/a?b=&quot;&gt;&lt;script&gt;\">")
                && with.contains("stroke-dasharray=\"1.5 4\" marker-end=\"url(#tip-maybe)\"")
        );
        assert!(with.contains(">…glong") && with.contains("longlong"), "{with}");
        assert!(with.contains("<a class=\"more\" href=\"/g/a?b=&quot;&gt;&lt;script&gt;\""), "{with}");
        assert!(!svg(&graph, "", false).contains("<a "));
    }
}
