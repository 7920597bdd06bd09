//! Pictures as SVG, which browsers and code forges show: the little that the drawings of benchmarks need.

use std::fmt::{Display, Write};

/// A picture that is being drawn. All lengths are in pixels, from the upper left corner.
pub struct Svg {
    text: String,
}

impl Svg {
    /// An empty picture on white.
    pub fn new(width: f64, height: f64) -> Self {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        Self { text }
    }

    /// Words that begin at a point (`start`), or are centred there (`middle`), or end there (`end`).
    pub fn words(&mut self, at: (f64, f64), anchor: &str, words: &str) {
        let ((x, y), words) = (at, escaped(words));
        self.line(format_args!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"));
    }

    /// A filled rectangle, with words that show when the pointer rests on it.
    pub fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), fill: &str, title: &str) {
        let ((x, y), (width, height), title) = (at, size, escaped(title));
        self.line(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"><title>{title}</title></rect>"
        ));
    }

    /// Straight lines from point to point.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: &str) {
        let mut list = String::new();
        for (x, y) in points {
            // Writing to a string does not fail.
            let _ = write!(list, "{x:.1},{y:.1} ");
        }
        self.line(format_args!("<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\"/>", list.trim_end()));
    }

    /// A dot, with words that show when the pointer rests on it.
    pub fn dot(&mut self, at: (f64, f64), fill: &str, title: &str) {
        let ((x, y), title) = (at, escaped(title));
        self.line(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{fill}\"><title>{title}</title></circle>"
        ));
    }

    /// The picture as a file has it.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn line(&mut self, element: impl Display) {
        let _ = writeln!(self.text, "{element}");
    }
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
