//! Pictures of pages, and their print: their sizes, what they show, their limits.

use std::sync::Arc;

use model::{PictureKind, Pictures};
use render::{Renderer, Settings, Viewport};

use crate::site::{Site, render, settings};

const WINDOW: Viewport = Viewport { width: 600, height: 400, scale: 1.0, is_mobile: false };

/// A page of this height: red, and blue from 1,000 pixels on.
fn page(height: u32) -> String {
    format!(
        "<!DOCTYPE html><meta name=viewport content='width=device-width'><body style='margin:0'>\
         <div style='height:{height}px; background: linear-gradient(#f00 1000px, #00f 1000px)'></div>"
    )
}

async fn pictures(settings: Settings, page: &str) -> Pictures {
    render(&Renderer::new(settings), page, &Arc::new(Site::new())).await.expect("a page").pictures
}

/// An image as the browser's file has it: its sides, and the colour of a pixel.
struct Image {
    sides: (u32, u32),
    pixels: Vec<u8>,
}

impl Image {
    fn of(png: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("an image");
        pixels.truncate(info.buffer_size());
        Image { sides: (info.width, info.height), pixels }
    }

    fn colour(&self, x: u32, y: u32) -> [u8; 3] {
        let samples = self.pixels.len() / (self.sides.0 * self.sides.1) as usize;
        let at = (y * self.sides.0 + x) as usize * samples;
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }
}

/// The sides that a JPEG declares in its frame (ITU T.81, B.2.2).
fn sides_of_jpeg(jpeg: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from(u16::from_be_bytes([jpeg[at], jpeg[at + 1]]));
    assert_eq!((number(0), number(jpeg.len() - 2)), (0xffd8, 0xffd9), "begin and end of the image");
    let mut at = 2;
    while !(0xffc0..=0xffc2).contains(&number(at)) {
        at += 2 + number(at + 2) as usize;
    }
    (number(at + 7), number(at + 5))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_has_its_size_and_shows_the_page() {
    let all = Settings { viewport: Some(WINDOW), pictures: PictureKind::ALL.to_vec(), ..settings() };
    let Pictures { taken, cut, left_out } = pictures(all, &page(3_000)).await;
    assert_eq!((cut, left_out), (0, 0));
    let kinds: Vec<PictureKind> = taken.iter().map(|picture| picture.kind).collect();
    assert_eq!(kinds, PictureKind::ALL);
    let [view, whole] = [0, 1].map(|n| Image::of(&taken[n].bytes));
    assert_eq!((view.sides, whole.sides), ((600, 400), (600, 3_000)));
    assert_eq!((view.colour(10, 10), view.colour(599, 399)), ([255, 0, 0], [255, 0, 0]));
    assert_eq!(
        (whole.colour(10, 990), whole.colour(10, 1_010), whole.colour(10, 2_990)),
        ([255, 0, 0], [0, 0, 255], [0, 0, 255])
    );
    let thumbnail = sides_of_jpeg(&taken[2].bytes);
    assert!(thumbnail.0.abs_diff(320) <= 1 && (212..=222).contains(&thumbnail.1), "{thumbnail:?}");
    assert!(taken[3].bytes.starts_with(b"%PDF-") && taken[3].bytes.trim_ascii_end().ends_with(b"%%EOF"));
    let none = pictures(settings(), &page(100)).await;
    assert_eq!(none, Pictures::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_scrolled_is_shown_from_its_beginning() {
    let view = Settings { viewport: Some(WINDOW), pictures: vec![PictureKind::View], ..settings() };
    let inside = format!(
        "<!DOCTYPE html><body style='margin:0'><div id=d style='height:400px; overflow-y:auto'>{}</div>\
         <script>d.onscroll = () => document.title = d.scrollTop</script>",
        "<div style='height:1000px; background:#f00'></div><div style='height:1000px; background:#00f'></div>"
    );
    let rendered = render(&Renderer::new(view), &inside, &Arc::new(Site::new())).await.expect("a page");
    assert!(rendered.html.contains("<title>1600</title>"), "it was scrolled to its end: {}", rendered.html);
    let shown = Image::of(&rendered.pictures.taken[0].bytes);
    assert_eq!((shown.colour(10, 10), shown.colour(10, 390)), ([255, 0, 0], [255, 0, 0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_has_its_window_density_and_touch_screen() {
    let phone = Settings { viewport: "phone".parse().ok(), pictures: vec![PictureKind::View], ..settings() };
    let says = format!(
        "{}<p id=p><script>p.textContent = [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0, \
         matchMedia('(max-width: 400px)').matches]</script>",
        page(2_000)
    );
    let rendered = render(&Renderer::new(phone), &says, &Arc::new(Site::new())).await.expect("a page");
    assert!(rendered.html.contains(">390,844,3,true,true<"), "{}", rendered.html);
    assert_eq!(Image::of(&rendered.pictures.taken[0].bytes).sides, (1_170, 2_532));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_beyond_a_limit_is_cut_or_left_out_and_counted() {
    let kinds = vec![PictureKind::View, PictureKind::FullPage];
    let few_pixels =
        Settings { viewport: Some(WINDOW), pictures: kinds.clone(), picture_pixels_max: 600_000, ..settings() };
    let Pictures { taken, cut, left_out } = pictures(few_pixels, &page(50_000)).await;
    assert_eq!((taken.len(), cut, left_out), (2, 1, 0));
    let (width, height) = Image::of(&taken[1].bytes).sides;
    assert!(height < 1_100 && width * height <= 600_000 && width * (height + 1) > 599_000, "{width} {height}");
    let longest = Settings { viewport: Some(WINDOW), pictures: vec![PictureKind::FullPage], ..settings() };
    let longest = pictures(longest, &page(50_000)).await;
    assert_eq!((Image::of(&longest.taken[0].bytes).sides.1, longest.cut), (16_384, 1));
    let few_bytes = Settings { pictures: kinds, picture_bytes_max: 50, ..settings() };
    let none = pictures(few_bytes, &page(100)).await;
    assert_eq!((none.taken.len(), none.left_out), (0, 2));
    assert_eq!(none.note(), "; 2 pictures left out");
}
