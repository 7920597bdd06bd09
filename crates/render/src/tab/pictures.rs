//! Pictures of a page, and its print.

use bytes::Bytes;
use data_encoding::BASE64;
use model::{Picture, PictureKind};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Tab;
use crate::RenderFailure;
use crate::settings::PICTURE_TIME_MAX;

/// A picture is no wider than this, in CSS pixels.
const WIDTH_MAX: f64 = 4_096.0;
/// A picture is no longer than this, in device pixels: more is beyond what browsers can paint at once.
const LENGTH_MAX: f64 = 16_384.0;
/// The width of a thumbnail, in pixels.
const THUMBNAIL_WIDTH: f64 = 320.0;
/// The quality of a thumbnail, of 100.
const THUMBNAIL_QUALITY: u32 = 75;

/// What of the page a picture shows, in CSS pixels.
struct Part {
    width: f64,
    height: f64,
    /// There is more of the page.
    is_cut: bool,
}

impl Tab<'_> {
    /// Gives the page its window.
    pub(super) async fn set_window(&self) -> Result<(), RenderFailure> {
        let Some(viewport) = self.settings.viewport else { return Ok(()) };
        self.call("Emulation.setDeviceMetricsOverride", viewport.metrics()).await?;
        // They would stand in pictures, and take a part of the width.
        self.call("Emulation.setScrollbarsHidden", json!({"hidden": true})).await?;
        self.call("Emulation.setTouchEmulationEnabled", json!({"enabled": viewport.is_mobile})).await.map(drop)
    }

    /// Takes the pictures that are wanted, of the page as it stood before it was scrolled. One that fails, or takes too long, costs only
    /// itself. They have time of their own.
    pub(super) async fn take_pictures(&mut self) -> Result<(), RenderFailure> {
        let (settings, began) = (self.settings, Instant::now());
        if settings.pictures.is_empty() {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.limit, Instant::now() + PICTURE_TIME_MAX);
        let rewound = self.rewind().await;
        let rewound = self.end(before, rewound);
        self.forgive(rewound)?;
        for kind in PictureKind::ALL.into_iter().filter(|kind| settings.pictures.contains(kind)) {
            let before = std::mem::replace(&mut self.limit, Instant::now() + PICTURE_TIME_MAX);
            let taken = self.take_picture(kind).await;
            let mut picture = None;
            let done = taken.map(|taken| picture = Some(taken));
            match self.end(before, done) {
                Ok(_) | Err(RenderFailure::Protocol { .. }) => {}
                Err(failure) => return Err(failure),
            }
            match picture.filter(|(bytes, _)| !bytes.is_empty() && bytes.len() <= settings.picture_bytes_max) {
                None => self.rendered.pictures.left_out += 1,
                Some((bytes, is_cut)) => {
                    self.rendered.pictures.cut += u32::from(is_cut);
                    self.rendered.pictures.taken.push(Picture { kind, bytes });
                }
            }
        }
        let spent = began.elapsed();
        self.limit += spent;
        self.deadline += spent;
        Ok(())
    }

    /// A picture, and whether it does not show all.
    async fn take_picture(&mut self, kind: PictureKind) -> Result<(Bytes, bool), RenderFailure> {
        if kind == PictureKind::Pdf {
            let asked = json!({"printBackground": true, "preferCSSPageSize": true, "transferMode": "ReturnAsBase64"});
            return Ok((self.file("Page.printToPDF", asked).await?, false));
        }
        let metrics = self.send_and_attend("Page.getLayoutMetrics", json!({})).await?;
        let density = self.evaluate("devicePixelRatio").await?.as_f64().unwrap_or(1.0).max(f64::EPSILON);
        let Part { width, height, is_cut } = match kind {
            PictureKind::FullPage => self.whole(&metrics, density),
            _ => window(&metrics),
        };
        let scale = if kind == PictureKind::Thumbnail { THUMBNAIL_WIDTH / (width * density) } else { 1.0 };
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": scale});
        let mut asked = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        if kind == PictureKind::Thumbnail {
            asked["format"] = json!("jpeg");
            asked["quality"] = json!(THUMBNAIL_QUALITY);
        }
        Ok((self.file("Page.captureScreenshot", asked).await?, is_cut))
    }

    /// The whole page, as far as a picture may have so many pixels.
    fn whole(&self, metrics: &Value, density: f64) -> Part {
        let (width, height) = sides(&metrics["cssContentSize"], "width", "height");
        let width_max = WIDTH_MAX.min(LENGTH_MAX / density);
        let pixels_max = self.settings.picture_pixels_max as f64 / (density * density);
        let shown = width.min(width_max).min(pixels_max);
        let height_max = (LENGTH_MAX / density).min(pixels_max / shown).floor().max(1.0);
        Part { width: shown, height: height.min(height_max), is_cut: width > shown || height > height_max }
    }

    /// What a command gives as a file.
    async fn file(&mut self, method: &'static str, asked: Value) -> Result<Bytes, RenderFailure> {
        let taken = self.send_and_attend(method, asked).await?;
        let file = BASE64.decode(taken["data"].as_str().unwrap_or_default().as_bytes());
        file.map(Bytes::from).map_err(|error| RenderFailure::Protocol { method, answer: error.to_string() })
    }
}

/// What the window shows first.
fn window(metrics: &Value) -> Part {
    let (width, height) = sides(&metrics["cssLayoutViewport"], "clientWidth", "clientHeight");
    Part { width, height, is_cut: false }
}

fn sides(size: &Value, width: &str, height: &str) -> (f64, f64) {
    let side = |name: &str| size[name].as_f64().unwrap_or(0.0).max(1.0);
    (side(width), side(height))
}
