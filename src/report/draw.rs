//! A board's picture as pixels, from its SVG.
//!
//! It reads what [`Svg`](crate::game::square::Svg) writes, an element a line, and no other SVG.

use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke,
    Transform,
};

use super::font;

/// The picture, so many times as large as it says; `None` if `svg` is none of ours.
pub fn draw(svg: &str, scale: f32) -> Option<Pixmap> {
    let mut lines = svg.lines();
    let page = lines.next().filter(|line| line.starts_with("<svg "))?;
    let pixels = |name| Some((number(page, name)? * scale).round() as u32);
    let mut pixmap = Pixmap::new(pixels("width")?, pixels("height")?)?;
    let at = Transform::from_scale(scale, scale);
    lines.filter(|line| *line != "</svg>").try_for_each(|line| element(line, &mut pixmap, at))?;
    Some(pixmap)
}

/// Draws one element; `None` if it is none that is known.
fn element(line: &str, onto: &mut Pixmap, at: Transform) -> Option<()> {
    let number = |name| number(line, name);
    let half = number("stroke-width").unwrap_or_default() / 2.0;
    match name(line) {
        "rect" => {
            let (x, y, width, height) = (number("x")?, number("y")?, number("width")?, number("height")?);
            bar(onto, at, line, "fill", (x, y, width, height), 0.0)?;
            if half > 0.0 {
                for (x, y, width, height) in [
                    (x, y, width, 0.0),
                    (x, y + height, width, 0.0),
                    (x, y, 0.0, height),
                    (x + width, y, 0.0, height),
                ] {
                    bar(onto, at, line, "stroke", (x, y, width, height), half)?;
                }
            }
        }
        "circle" => {
            let (x, y, radius) = (number("cx")?, number("cy")?, number("r")?);
            fill(onto, at, line, "stroke", &PathBuilder::from_circle(x, y, radius + half)?);
            fill(onto, at, line, "fill", &PathBuilder::from_circle(x, y, radius - half)?);
        }
        // Blanks have no outlines.
        "text" => text(line).iter().for_each(|path| fill(onto, at, line, "fill", path)),
        "line" => {
            let (x1, y1, x2, y2) = (number("x1")?, number("y1")?, number("x2")?, number("y2")?);
            if x1 == x2 || y1 == y2 {
                let along = (x1.min(x2), y1.min(y2), (x1 - x2).abs(), (y1 - y2).abs());
                bar(onto, at, line, "stroke", along, half)?;
            } else {
                let mut path = PathBuilder::new();
                path.move_to(x1, y1);
                path.line_to(x2, y2);
                stroke(onto, at, line, &path.finish()?, 2.0 * half);
            }
        }
        "polygon" => {
            let path = polygon(line)?;
            fill(onto, at, line, "fill", &path);
            stroke(onto, at, line, &path, 2.0 * half);
        }
        _ => return None,
    }
    Some(())
}

fn stroke(onto: &mut Pixmap, at: Transform, line: &str, path: &Path, width: f32) {
    let Some(paint) = colour(line, "stroke") else { return };
    let (line_cap, line_join) = (LineCap::Round, LineJoin::Round);
    let stroke = Stroke { width, line_cap, line_join, ..Stroke::default() };
    onto.stroke_path(path, &paint, &stroke, at, None);
}

fn fill(onto: &mut Pixmap, at: Transform, line: &str, name: &str, path: &Path) {
    if let Some(paint) = colour(line, name) {
        onto.fill_path(path, &paint, FillRule::Winding, at, None);
    }
}

/// Fills a rectangle that is larger by so much on each side. Most of a board is such, and most of its pixels are
/// covered whole: it is done here, without a path.
fn bar(
    onto: &mut Pixmap,
    at: Transform,
    line: &str,
    name: &str,
    (x, y, width, height): (f32, f32, f32, f32),
    by: f32,
) -> Option<()> {
    let rect = Rect::from_xywh(x - by, y - by, width + 2.0 * by, height + 2.0 * by)?.transform(at)?;
    let Some(colour) = rgb(line, name) else { return Some(()) };
    let (columns, rows) = (onto.width(), onto.height());
    let stripe = |from: f32, to: f32, end: u32| {
        let (from, to) = (from.max(0.0), to.min(end as f32));
        (from as u32..to.ceil() as u32).map(move |at| (at, (at as f32 + 1.0).min(to) - (at as f32).max(from)))
    };
    let across: Vec<(u32, f32)> = stripe(rect.left(), rect.right(), columns).collect();
    let whole = across.iter().position(|(_, covered)| *covered >= 1.0).unwrap_or(across.len());
    let (edge, rest) = across.split_at(whole);
    let whole = rest.iter().take_while(|(_, covered)| *covered >= 1.0).count();
    let (inner, other_edge) = rest.split_at(whole);
    let pixels = onto.pixels_mut();
    for (row, down) in stripe(rect.top(), rect.bottom(), rows) {
        let row = &mut pixels[(row * columns) as usize..][..columns as usize];
        for (column, covered) in edge.iter().chain(other_edge) {
            let pixel = &mut row[*column as usize];
            *pixel = mixed(*pixel, colour, covered * down);
        }
        if let Some((first, _)) = inner.first() {
            let inner = &mut row[*first as usize..][..inner.len()];
            if down >= 1.0 {
                inner.fill(mixed(inner[0], colour, 1.0));
            } else {
                inner.iter_mut().for_each(|pixel| *pixel = mixed(*pixel, colour, down));
            }
        }
    }
    Some(())
}

/// An opaque pixel of which a colour covers so much.
fn mixed(under: PremultipliedColorU8, over: [u8; 3], covered: f32) -> PremultipliedColorU8 {
    let of = |under: u8, over: u8| {
        (f32::from(under) + (f32::from(over) - f32::from(under)) * covered).round() as u8
    };
    let [red, green, blue] = if covered < 1.0 {
        [of(under.red(), over[0]), of(under.green(), over[1]), of(under.blue(), over[2])]
    } else {
        over
    };
    PremultipliedColorU8::from_rgba(red, green, blue, 255).unwrap_or(under)
}

fn polygon(line: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points(line).enumerate() {
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path.close();
    path.finish()
}

/// The outlines of a line of text.
fn text(line: &str) -> Option<Path> {
    let (_, words) = line.strip_suffix("</text>")?.rsplit_once('>')?;
    let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let (x, y, size) = (number(line, "x")?, number(line, "y")?, number(line, "font-size")?);
    let left = match attribute(line, "text-anchor")? {
        "middle" => x - size * font::width(&words) / 2.0,
        "end" => x - size * font::width(&words),
        _ => x,
    };
    font::outlines(&words)?.transform(Transform::from_row(size, 0.0, 0.0, -size, left, y))
}

/// `rect` of `<rect x="0" …`.
fn name(line: &str) -> &str {
    line.strip_prefix('<').and_then(|line| line.split(' ').next()).unwrap_or_default()
}

fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let begins = |at: &usize| {
        let before = line[..*at].strip_suffix(name);
        before.is_some_and(|before| before.ends_with(' '))
    };
    let at = line.match_indices("=\"").map(|(at, _)| at).find(begins)? + 2;
    line[at..].split('"').next()
}

fn number(line: &str, name: &str) -> Option<f32> {
    attribute(line, name)?.parse().ok()
}

fn points(line: &str) -> impl Iterator<Item = (f32, f32)> {
    let pairs = attribute(line, "points").unwrap_or_default().split(' ');
    pairs.filter_map(|pair| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    })
}

/// `#fff` or `#ffffff`; `None` for `none`, and for what is no opaque colour.
fn rgb(line: &str, name: &str) -> Option<[u8; 3]> {
    let hex = attribute(line, name)?.strip_prefix('#')?;
    let value = u32::from_str_radix(hex, 16).ok()?;
    let [_, red, green, blue] = match hex.len() {
        3 => ((value & 0xf00) << 8 | (value & 0xf0) << 4 | value & 0xf) * 0x11,
        6 => value,
        _ => return None,
    }
    .to_be_bytes();
    Some([red, green, blue])
}

fn colour(line: &str, name: &str) -> Option<Paint<'static>> {
    let [red, green, blue] = rgb(line, name)?;
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, 255);
    Some(paint)
}

#[cfg(test)]
mod tests {
    use super::rgb;

    #[test]
    fn a_colour_has_three_digits_or_six() {
        let of = |colour: &str| rgb(&format!("<rect fill=\"{colour}\"/>"), "fill");
        assert_eq!((of("#f6d08d"), of("#fa0")), (Some([0xf6, 0xd0, 0x8d]), Some([0xff, 0xaa, 0])));
        assert_eq!((of("none"), of("#f59e0b66")), (None, None));
    }
}
