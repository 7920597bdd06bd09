//! Content codings (RFC 9110 section 8.4.1) and character encodings. Each page links to one that is found only when
//! the page was decoded.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::html;
use crate::{Pages, Reply};

/// The titles, as they must be read, of the pages in other encodings than UTF-8.
pub const TITLES: &[(&str, &str)] = &[
    ("/encodings/windows-1250.html", "Čmrlj šumi na žici"),
    ("/encodings/iso-8859-2.html", "Pajek čaka, šviga, žari"),
    ("/encodings/utf-16.html", "Mreža v jutranji rosi: 蜘蛛"),
];
/// What the pages of [`TITLES`] link to, in plain letters.
const LINKS: [&str; 3] = ["/encodings/č-1250.html", "/encodings/š-8859.html", "/encodings/ž-蛛.html"];
/// The same, escaped.
const LEAVES: [&str; 3] =
    ["/encodings/%C4%8D-1250.html", "/encodings/%C5%A1-8859.html", "/encodings/%C5%BE-%E8%9B%9B.html"];
const CODINGS: [&str; 4] = ["gzip", "br", "zstd", "deflate"];

pub(super) fn add(pages: Pages) -> Pages {
    let mut links: Vec<String> = CODINGS.iter().map(|coding| format!("/encodings/{coding}.html")).collect();
    links.push("/encodings/chunked.html".to_owned());
    links.extend(TITLES.iter().map(|(path, _)| (*path).to_owned()));
    let pages = pages.html("/encodings/", html::list("Encodings", &links));
    let pages = add_charsets(pages);
    let pages = CODINGS.iter().fold(pages, |pages, coding| {
        let target = format!("/encodings/from-{coding}.html");
        let page = html::list(&format!("Encoded with {coding}"), &[&target]);
        let reply = Reply::html(encode(coding, page.as_bytes())).header("Content-Encoding", *coding);
        pages.reply(format!("/encodings/{coding}.html"), reply).html(target.clone(), html::leaf(&target))
    });
    let chunked = html::list("In small chunks", &["/encodings/from-chunked.html"]).into_bytes();
    let pieces = move || chunked.chunks(7).map(<[u8]>::to_vec).map(Into::into).collect::<Vec<_>>().into_iter();
    pages
        .reply("/encodings/chunked.html", Reply::html("").stream(pieces))
        .html("/encodings/from-chunked.html", html::leaf("/encodings/from-chunked.html"))
}

fn add_charsets(pages: Pages) -> Pages {
    let [(path_1250, title_1250), (path_8859, title_8859), (path_utf16, title_utf16)] = *TITLES else {
        return pages;
    };
    let typed = |content_type| Reply::new(200).header("Content-Type", content_type);
    let windows_1250 = central_european(&html::list(title_1250, &LINKS[..1]), 0x9a, 0x9e);
    let iso_8859_2 = html::list(title_8859, &LINKS[1..2]).replace("<title>", "<meta charset=iso-8859-2>\n<title>");
    let utf_16 = format!("\u{feff}{}", html::list(title_utf16, &LINKS[2..]));
    let utf_16: Vec<u8> = utf_16.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let pages = pages
        .reply(path_1250, typed("text/html; charset=windows-1250").body(windows_1250))
        .reply(path_8859, typed("text/html").body(central_european(&iso_8859_2, 0xb9, 0xbe)))
        .reply(path_utf16, typed("text/html").body(utf_16));
    LEAVES.iter().fold(pages, |pages, leaf| pages.html(*leaf, html::leaf(leaf)))
}

/// The text in windows-1250 or ISO 8859-2, which differ in where they have `š` and `ž`; other letters are not used.
fn central_european(text: &str, s_caron: u8, z_caron: u8) -> Vec<u8> {
    text.chars()
        .map(|char| match char {
            'Č' => 0xc8,
            'č' => 0xe8,
            'š' => s_caron,
            'ž' => z_caron,
            ascii => u8::try_from(ascii).unwrap_or(b'?'),
        })
        .collect()
}

/// Writing to a vector cannot fail; if it did, the page would come out empty and its link not be found.
fn encode(coding: &str, page: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => gzip(page),
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(page).and_then(|()| encoder.finish()).unwrap_or_default()
        }
        "zstd" => zstd::encode_all(page, 0).unwrap_or_default(),
        _ => brotli(page),
    }
}

pub(super) fn gzip(page: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(page).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// A brotli stream (RFC 7932 section 9) that holds the page, of at most 64 KiB, as it is: no compressor is needed.
fn brotli(page: &[u8]) -> Vec<u8> {
    const UNCOMPRESSED: u32 = 1 << 20;
    const LAST_AND_EMPTY: u8 = 0b11;
    // From the lowest bit: window of 64 KiB (0), not the last block (0), length in 4 nibbles (00), length - 1, uncompressed (1).
    let header = (u32::try_from(page.len()).unwrap_or(1) - 1) << 4 | UNCOMPRESSED;
    let mut stream = header.to_le_bytes()[..3].to_vec();
    stream.extend_from_slice(page);
    stream.push(LAST_AND_EMPTY);
    stream
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn codings_decode_to_the_page() {
        let page = b"<a href=x>x</a>".repeat(100);
        let mut decoded = Vec::new();
        brotli_decompressor::Decompressor::new(&*encode("br", &page), 4096).read_to_end(&mut decoded).unwrap();
        assert_eq!(decoded, page);
        assert_eq!(zstd::decode_all(&*encode("zstd", &page)).unwrap(), page);
        let mut decoded = Vec::new();
        flate2::read::ZlibDecoder::new(&*encode("deflate", &page)).read_to_end(&mut decoded).unwrap();
        assert_eq!(decoded, page);
    }

    #[test]
    fn charsets_decode_to_the_titles() {
        for (encoding, s_caron, z_caron) in
            [(encoding_rs::WINDOWS_1250, 0x9a, 0x9e), (encoding_rs::ISO_8859_2, 0xb9, 0xbe)]
        {
            for (_, title) in &TITLES[..2] {
                let bytes = central_european(title, s_caron, z_caron);
                assert_eq!(encoding.decode_without_bom_handling(&bytes).0, *title);
            }
        }
    }
}
