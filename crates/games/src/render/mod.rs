//! Renders the picture of a board: as pixels for letters, and as SVG.

use crate::game::picture::{Anchor, Colour, Picture, Shape, Stroke};

#[cfg(test)]
mod overlaps;
mod palette;
mod png;
mod raster;
#[cfg(test)]
mod tests;

pub use png::{PictureCache, png};
pub use raster::text_width;

/// The picture as a complete SVG document, one element a line. Its only font is `DejaVu Sans`.
pub fn svg(picture: &Picture) -> String {
    let Picture { width, height, shapes, .. } = picture;
    let mut document = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="DejaVu Sans">"#
    );
    document.push('\n');
    for shape in shapes {
        document.push_str(&element(shape));
        document.push('\n');
    }
    document.push_str("</svg>\n");
    document
}

fn element(shape: &Shape) -> String {
    match shape {
        Shape::Rect { x, y, width, height, fill } => {
            format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#)
        }
        Shape::Frame { x, y, width, height, stroke } => {
            let stroke = stroke_attributes(stroke);
            format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" {stroke}/>"#)
        }
        Shape::Circle { centre: (x, y), radius, fill, stroke } => {
            let stroke = stroke_attributes(stroke);
            format!(r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" {stroke}/>"#)
        }
        Shape::Line { from: (x1, y1), to: (x2, y2), stroke } => {
            let stroke = stroke_attributes(stroke);
            format!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {stroke} stroke-linecap="round"/>"#)
        }
        Shape::Polygon { points, fill, stroke } => {
            let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
            let points = points.join(" ");
            let fill = fill.as_ref().map_or_else(|| "none".to_owned(), Colour::to_string);
            let stroke = stroke_attributes(stroke);
            format!(r#"<polygon points="{points}" fill="{fill}" {stroke} stroke-linejoin="round"/>"#)
        }
        Shape::Text { x, baseline, size, anchor, fill, text } => {
            let anchor = anchor_name(*anchor);
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            format!(
                r#"<text x="{x}" y="{baseline:.1}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{text}</text>"#
            )
        }
    }
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let Stroke { colour, width } = stroke;
    format!(r#"stroke="{colour}" stroke-width="{width}""#)
}

fn anchor_name(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}
