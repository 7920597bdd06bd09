//! The window in which pages are shown.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::{Value, json};

/// A side, in CSS pixels.
const SIDE: RangeInclusive<u32> = 100..=4_096;
/// Device pixels to a CSS pixel.
const SCALE: RangeInclusive<f64> = 0.5..=4.0;

/// A window, of a desktop or of a device with a touch screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Its width, in CSS pixels.
    pub width: u32,
    /// Its height, in CSS pixels.
    pub height: u32,
    /// Device pixels to a CSS pixel.
    pub scale: f64,
    /// It is that of a telephone or tablet: pages are laid out for its width, and it has touch events.
    pub is_mobile: bool,
}

/// Devices by their names.
const DEVICES: [(&str, Viewport); 3] = [
    ("desktop", Viewport { width: 1_920, height: 1_080, scale: 1.0, is_mobile: false }),
    ("tablet", Viewport { width: 820, height: 1_180, scale: 2.0, is_mobile: true }),
    ("phone", Viewport { width: 390, height: 844, scale: 3.0, is_mobile: true }),
];

impl Viewport {
    /// The window of pictures, if none is named.
    pub const OF_PICTURES: Viewport = Viewport { width: 1_280, height: 800, scale: 1.0, is_mobile: false };

    /// As the browser wants to be given it (`Emulation.setDeviceMetricsOverride`).
    pub(crate) fn metrics(self) -> Value {
        let Viewport { width, height, scale, is_mobile } = self;
        json!({"width": width, "height": height, "deviceScaleFactor": scale, "mobile": is_mobile})
    }
}

impl FromStr for Viewport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, device)) = DEVICES.into_iter().find(|(name, _)| *name == text) {
            return Ok(device);
        }
        let (size, scale) = text.split_once('@').unwrap_or((text, "1"));
        let side = |text: &str| text.parse().ok().filter(|side| SIDE.contains(side));
        let read = || {
            let (width, height) = size.split_once('x')?;
            let scale = scale.parse().ok().filter(|scale| SCALE.contains(scale))?;
            Some(Viewport { width: side(width)?, height: side(height)?, scale, is_mobile: false })
        };
        let names = DEVICES.map(|(name, _)| name).join(", ");
        read().ok_or_else(|| {
            let ((least, most), (coarse, fine)) = (SIDE.into_inner(), SCALE.into_inner());
            format!("is none of {names}, and no WIDTHxHEIGHT or WIDTHxHEIGHT@SCALE (sides from {least} to {most}, scale from {coarse} to {fine})")
        })
    }
}

impl fmt::Display for Viewport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DEVICES.iter().find(|(_, device)| device == self) {
            Some((name, _)) => f.write_str(name),
            None if self.scale == 1.0 => write!(f, "{}x{}", self.width, self.height),
            None => write!(f, "{}x{}@{}", self.width, self.height, self.scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_device_or_a_size() {
        for text in ["desktop", "tablet", "phone", "1280x800", "390x844@2", "100x4096@0.5"] {
            assert_eq!(text.parse::<Viewport>().map(|viewport| viewport.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "watch", "1280", "99x800", "1280x4097", "800x600@5", "800x600@", "800x600@nan", "-800x600"] {
            let error = text.parse::<Viewport>().expect_err(text);
            assert!(error.contains("phone") && error.contains("from 100 to 4096"), "{error}");
        }
    }
}
