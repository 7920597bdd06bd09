//! The images of a page.

use super::attributes::{Attributes, Key};
use super::collector::Collector;
use crate::data_uri::{self, DataUri};
use crate::href::{self, Target};
use crate::page::{Image, ImageSource};
use crate::srcset;

impl Collector<'_> {
    pub(super) fn img(&mut self, attributes: &Attributes<'_>) {
        let (alt, _) = self.collapsed(&attributes.get(Key::Alt).unwrap_or_default());
        if self.anchor.is_some() {
            self.anchor_alt.separate_if(true);
            self.anchor_alt.push(&alt);
        }
        if let Some(src) = attributes.non_empty(Key::Src) {
            self.image(&src, attributes, &alt, false);
        }
        self.srcset(attributes, &alt);
    }

    pub(super) fn srcset(&mut self, attributes: &Attributes<'_>, alt: &str) {
        for url in srcset::urls(&attributes.get(Key::Srcset).unwrap_or_default()) {
            if self.page.images.len() >= self.limits.images_max {
                self.page.truncated.images = true;
                return;
            }
            self.image(url, attributes, alt, true);
        }
    }

    fn image(&mut self, url: &str, attributes: &Attributes<'_>, alt: &str, from_srcset: bool) {
        let Some(source) = self.image_source(url) else {
            return;
        };
        if self.page.images.len() >= self.limits.images_max {
            self.page.truncated.images = true;
            return;
        }
        self.page.images.push(Image {
            source,
            alt: alt.to_owned(),
            width: attributes.get(Key::Width).and_then(|value| pixels(&value)),
            height: attributes.get(Key::Height).and_then(|value| pixels(&value)),
            from_srcset,
        });
    }

    fn image_source(&mut self, url: &str) -> Option<ImageSource> {
        let (url, target) = href::read(url);
        match target {
            Target::Web if url.len() > self.limits.href_bytes_max => {
                self.page.truncated.href = true;
                None
            }
            Target::Web => Some(ImageSource::Url(url.into_owned())),
            Target::Data => self.data_image(&url),
            _ => None,
        }
    }

    fn data_image(&mut self, uri: &str) -> Option<ImageSource> {
        let room = self.limits.data_images_bytes_max - self.data_images_bytes;
        let decoded = data_uri::decode(uri, room.min(self.limits.data_image_bytes_max));
        self.page.truncated.data_images |= decoded == Err(data_uri::Refused::TooLarge);
        let DataUri { media_type, bytes } = decoded.ok()?;
        self.data_images_bytes += bytes.len();
        Some(ImageSource::Data { media_type, bytes })
    }
}

/// A `width` or `height` in CSS pixels (HTML Standard, "rules for parsing dimension values");
/// percentages are none.
fn pixels(value: &str) -> Option<u32> {
    let value = value.trim_ascii_start();
    let end = value.find(|c: char| !(c.is_ascii_digit())).unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    let unit = unit.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if unit.starts_with('%') {
        return None;
    }
    digits.parse().ok()
}
