//! The pictures of pages that are wanted.

use std::collections::BTreeSet;

use model::PictureKind;
use render::{Settings, Viewport};

use super::parsed;
use crate::options::Options;
use crate::usage;

/// Names in `--screenshots`. PDF has a switch of its own.
const NAMES: [(&str, PictureKind); 3] =
    [("view", PictureKind::View), ("full-page", PictureKind::FullPage), ("thumbnail", PictureKind::Thumbnail)];

/// The settings of the browser with its window and its pictures. These show images, fonts and videos, so it requests them.
///
/// # Errors
/// A word that names no picture, no window, or nothing is rendered.
pub(super) fn with_pictures(rendering: Settings, options: &Options) -> anyhow::Result<Settings> {
    let mut kinds = options.screenshots.iter().map(|name| named(name)).collect::<anyhow::Result<BTreeSet<_>>>()?;
    kinds.extend((options.render_screenshot == Some(true)).then_some(PictureKind::FullPage));
    kinds.extend((options.pdf == Some(true)).then_some(PictureKind::Pdf));
    let pictures: Vec<PictureKind> = kinds.into_iter().collect();
    if options.render.as_deref() == Some("never") && !pictures.is_empty() {
        return Err(usage("--screenshots and --pdf are of rendered pages: give --render always, or auto"));
    }
    let named = options.viewport.as_deref().map(|text| parsed("viewport", text, str::parse)).transpose()?;
    let viewport = named.or_else(|| (!pictures.is_empty()).then_some(Viewport::OF_PICTURES));
    let media = rendering.media || !pictures.is_empty();
    Ok(Settings { viewport, pictures, media, ..rendering })
}

fn named(name: &str) -> anyhow::Result<PictureKind> {
    let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    known.ok_or_else(|| usage(format!("--screenshots {name}: is none of {}", NAMES.map(|(name, _)| name).join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(screenshots: &[&str], options: Options) -> Result<Settings, String> {
        let screenshots = screenshots.iter().map(|&name| name.to_owned()).collect();
        with_pictures(Settings::default(), &Options { screenshots, ..options }).map_err(|error| error.to_string())
    }

    #[test]
    fn pictures_have_a_window_and_images() {
        let none = with(&[], Options::default()).expect("settings");
        assert_eq!((none.pictures.len(), none.viewport, none.media), (0, None, false));
        let all = Options { pdf: Some(true), ..Options::default() };
        let all = with(&["thumbnail", "view", "full-page"], all).expect("settings");
        assert_eq!((&all.pictures[..], all.viewport), (&PictureKind::ALL[..], Some(Viewport::OF_PICTURES)));
        assert!(all.media);
        let phone = Options { viewport: Some("phone".to_owned()), ..Options::default() };
        assert_eq!(with(&[], phone).expect("settings").viewport, "phone".parse().ok());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let error = |screenshots: &[&str], options| with(screenshots, options).expect_err("no settings");
        assert_eq!(error(&["page"], Options::default()), "--screenshots page: is none of view, full-page, thumbnail");
        let never = || Options { render: Some("never".to_owned()), ..Options::default() };
        assert!(error(&["view"], never()).contains("--render always"));
        assert!(error(&[], Options { pdf: Some(true), ..never() }).contains("--render always"));
        let tiny = Options { viewport: Some("1x1".to_owned()), ..Options::default() };
        assert!(error(&[], tiny).starts_with("--viewport `1x1`: is none of desktop"), "the flag is named");
    }
}
