//! How fast pages are read: all that [`extract::html`] gives of a page and its links alone, beside other parsers.
//!
//! `cargo bench -p argiope-extract --bench html`. [`testpages`] describes the pages.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5gum::Span;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use lol_html::html_content::{Element, TextType};
use testpages::{Pages, ProcessorTime};

/// Reads a page and says how much it found.
type Reader = fn(&[u8]) -> usize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

// As the product has it: a page is many small pieces of memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<()> {
    let pages: Vec<Vec<u8>> = Pages::read()?.into_iter().flat_map(|all| all.pages).collect();
    let bytes: usize = pages.iter().map(Vec::len).sum();
    let links: usize = pages.iter().map(|page| ours(page)).sum();
    println!("{} pages, {bytes} bytes, {links} links and images", pages.len());

    let readers: [(&str, Reader); 6] = [
        ("extract", ours),
        ("extract, links only", our_links),
        ("lol_html, with texts", lol_html_with_texts),
        ("lol_html", lol_html),
        ("html5gum", html5gum),
        ("html5ever", html5ever),
    ];
    let mut criterion = Criterion::default().with_measurement(ProcessorTime).configure_from_args();
    let mut group = criterion.benchmark_group("html");
    group.sample_size(20).measurement_time(Duration::from_secs(10)).throughput(Throughput::Bytes(bytes as u64));
    for (name, read) in readers {
        group.bench_with_input(BenchmarkId::from_parameter(name), &pages, |bencher, pages| {
            bencher.iter(|| pages.iter().map(|page| read(page)).sum::<usize>());
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

/// Everything: links with their texts, images, title, text, metadata.
fn ours(page: &[u8]) -> usize {
    let page = extract::html::extract(page, None, &extract::Limits::default());
    page.links.len() + page.images.len()
}

/// Links without their texts, and what a page says of itself: as a crawl reads pages that keeps its state alone.
fn our_links(page: &[u8]) -> usize {
    let limits = extract::Limits { link_text_bytes_max: 0, text_bytes_max: 0, images_max: 0, ..Default::default() };
    extract::html::extract(page, None, &limits).links.len()
}

/// Bytes of the links' references, as of the next two.
fn lol_html(page: &[u8]) -> usize {
    let mut bytes = 0;
    let handler = lol_html::element!("a[href]", |element| {
        bytes += element.get_attribute("href").map_or(0, |href| href.len());
        Ok(())
    });
    let settings = lol_html::Settings { element_content_handlers: vec![handler], ..lol_html::Settings::default() };
    let mut rewriter = lol_html::HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(page).and_then(|()| rewriter.end());
    read.map_or(0, |()| bytes)
}

/// What a crawl keeps of a page: its title and text, links with their texts, images with their descriptions. The text is taken as it
/// stands: white space is not collapsed, and the encoding is not decided.
fn lol_html_with_texts(page: &[u8]) -> usize {
    let (links, images) = (RefCell::new(Vec::<[String; 2]>::new()), RefCell::new(Vec::<[String; 2]>::new()));
    let (title, text) = (RefCell::new(String::new()), RefCell::new(String::new()));
    let attribute = |element: &Element<'_, '_>, name: &str| element.get_attribute(name).unwrap_or_default();
    let element_content_handlers = vec![
        lol_html::element!("a[href]", |element| {
            links.borrow_mut().push([attribute(element, "href"), String::new()]);
            Ok(())
        }),
        lol_html::text!("a[href]", |chunk| {
            links.borrow_mut().last_mut().into_iter().for_each(|[_, text]| text.push_str(chunk.as_str()));
            Ok(())
        }),
        lol_html::element!("img[src]", |element| {
            images.borrow_mut().push([attribute(element, "src"), attribute(element, "alt")]);
            Ok(())
        }),
        lol_html::text!("title", |chunk| {
            title.borrow_mut().push_str(chunk.as_str());
            Ok(())
        }),
    ];
    let all_text = lol_html::doc_text!(|chunk| {
        // Neither scripts nor styles.
        if chunk.text_type() == TextType::Data {
            text.borrow_mut().push_str(chunk.as_str());
        }
        Ok(())
    });
    let document_content_handlers = vec![all_text];
    let settings = lol_html::Settings { element_content_handlers, document_content_handlers, ..Default::default() };
    let mut rewriter = lol_html::HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(page).and_then(|()| rewriter.end());
    let (title, text) = (black_box(title.into_inner()), black_box(text.into_inner()));
    read.map_or(0, |()| links.borrow().len() + images.borrow().len() + title.len() + text.len())
}

fn html5gum(page: &[u8]) -> usize {
    let (mut in_anchor, mut in_href, mut bytes) = (false, false, 0);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => in_anchor = name == b"a",
            CallbackEvent::AttributeName { name } => in_href = in_anchor && name == b"href",
            CallbackEvent::AttributeValue { value } if in_href => bytes += value.len(),
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    let Ok(()) = html5gum::Tokenizer::new_with_emitter(page, emitter).finish();
    bytes
}

struct Links(Cell<usize>);

impl TokenSink for Links {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && tag.kind == TagKind::StartTag
            && &*tag.name == "a"
        {
            let hrefs = tag.attrs.iter().filter(|attribute| &*attribute.name.local == "href");
            self.0.set(self.0.get() + hrefs.map(|href| href.value.len()).sum::<usize>());
        }
        TokenSinkResult::Continue
    }
}

fn html5ever(page: &[u8]) -> usize {
    let tokenizer = Tokenizer::new(Links(Cell::new(0)), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(String::from_utf8_lossy(page).as_ref()));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.get()
}
