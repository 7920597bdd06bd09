//! Documents that are read: their text in the dataset, during a crawl and afterwards, and what damage costs.

use std::collections::BTreeMap;
use std::path::Path;

use documents::{ARGUMENT, Reader, TEXT_BYTES_MAX};
use extract::media_type::Kind;
use serde_json::{Value, json};
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::python::script;
use testkit::tables::pages;

/// Damaged files that are read.
const DAMAGED: u64 = 200;

/// Writes a document of each kind, as the standards describe them, and a part that decodes to 80 MB.
const DOCUMENTS: &str = r#"
import sys, zipfile
dir = sys.argv[1]
def package(name, parts, mimetype=None):
    with zipfile.ZipFile(f"{dir}/{name}", "w", zipfile.ZIP_DEFLATED) as out:
        if mimetype:
            out.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        for part, text in parts.items():
            out.writestr(part, text)
core = '<p xmlns:dc="x"><dc:title>Of %s</dc:title><dc:creator>Ana &amp; Bo</dc:creator></p>'
word = '<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Spiders</w:t></w:r></w:p><w:p><w:r><w:t>sit &amp; wait</w:t><w:tab/><w:t>here</w:t>' \
    '<w:delText>gone</w:delText></w:r></w:p></w:body></w:document>'
package("b.docx", {"word/document.xml": word, "word/footnotes.xml": '<w:n xmlns:w="w"><w:p><w:t>A note.</w:t></w:p></w:n>', "word/_rels/document.xml.rels": '<r><Relationship Id="f" Type="x/footnotes" Target="footnotes.xml"/></r>',
    "docProps/core.xml": core % "Word"})
slide = '<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>Slide %d</a:t></a:r></a:p></p:sld>'
slides = {"ppt/slides/slide%d.xml" % n: slide % n for n in (10, 2, 1)}
list = '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldId r:id="r2"/><p:sldId r:id="r10"/><p:sldId r:id="r1"/></p:presentation>'
names = "<r>%s</r>" % "".join('<Relationship Id="r%d" Type="x/slide" Target="slides/slide%d.xml"/>' % (n, n) for n in (1, 2, 10))
package("c.pptx", {"ppt/presentation.xml": list, "ppt/_rels/presentation.xml.rels": names, "docProps/core.xml": core % "slides", **slides})
text = '<o xmlns:text="t" xmlns:office="f"><office:annotation><text:p>left out</text:p></office:annotation><text:h>Webs</text:h>' \
    '<text:p>hold<text:s/>well<text:line-break/>here</text:p></o>'
package("d.odt", {"content.xml": text, "meta.xml": core % "text"}, "application/vnd.oasis.opendocument.text")
opf = '<package xmlns:dc="x"><dc:title>Of a book</dc:title><dc:creator>Ana &amp; Bo</dc:creator><item href="two.xhtml" id="2"/>' \
    '<item id="1" href="one%20.xhtml"/><itemref idref="1"/><itemref idref="2"/></package>'
page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Chapter %s</p></body></html>'
package("e.epub", {"META-INF/container.xml": '<c><rootfile full-path="in/p.opf"/></c>', "in/p.opf": opf,
    "in/two.xhtml": page % "two", "in/one .xhtml": page % "one"}, "application/epub+zip")
package("bomb.docx", {"word/document.xml": "<w:t>" + "a " * 40_000_000})
# A PDF with a page, its tables of places included (ISO 32000-1 7.5).
lines = b"BT /F 12 Tf 72 700 Td (Spiders sit and com-) Tj 0 -14 Td (mand their webs.) Tj ET"
objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
    b"<</Length %d>>stream\n%s\nendstream" % (len(lines), lines),
    b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>", b"<</Title(Of PDF)/Author(Ana & Bo)>>"]
out, places = b"%PDF-1.4\n", []
for number, body in enumerate(objects, 1):
    places.append(len(out))
    out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
table = b"".join(b"%010d 00000 n \n" % place for place in places)
out += b"xref\n0 7\n0000000000 65535 f \n%strailer<</Size 7/Root 1 0 R/Info 6 0 R>>\nstartxref\n%d\n%%%%EOF" % (table, len(out))
open(f"{dir}/a.pdf", "wb").write(out)
"#;

/// The documents, by name.
fn made_in(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    script(&[], DOCUMENTS, &[&dir.display().to_string()]);
    let files = std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("a file").path());
    files
        .map(|path| {
            (path.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(&path).expect("a file"))
        })
        .collect()
}

fn library(documents: &BTreeMap<String, Vec<u8>>) -> Web {
    let links: String = documents.keys().map(|name| format!("<a href=/{name}>{name}</a>")).collect();
    let site = Pages::new().html("/", links);
    let site = documents.iter().fold(site, |site, (name, bytes)| {
        let reply = Reply::new(200).header("Content-Type", "application/octet-stream").body(bytes.clone());
        site.reply(format!("/{name}"), reply)
    });
    Web::new().site("library.test", site)
}

/// Kind, title, author, text and what is missing, by name.
type Read = BTreeMap<String, [Option<String>; 5]>;

fn read(dir: &str) -> Read {
    let columns = ["kind", "title", "author", "text", "truncated"];
    let rows = pages(dir).into_iter().filter(|(url, _)| url != "http://library.test/");
    let name = |url: &str| url.rsplit_once('/').expect("a URL").1.to_owned();
    rows.map(|(url, row)| (name(&url), columns.map(|column| row.get(column).cloned()))).collect()
}

#[test]
fn documents_have_their_text_in_the_dataset() {
    let files = tempfile::tempdir().expect("a directory");
    let mut documents = made_in(files.path());
    documents.insert("broken.pdf".to_owned(), documents["a.pdf"][..200].to_vec());
    let crawled = Crawled::of(library(&documents), "http://library.test/", &["--documents-text"]);
    let found = read(crawled.dir());
    let who = Some("Ana & Bo");
    for (name, kind, title, text) in [
        ("a.pdf", "pdf", "Of PDF", "Spiders sit and command their webs."),
        ("b.docx", "docx", "Of Word", "Spiders\nsit & wait here\n\nA note."),
        ("c.pptx", "pptx", "Of slides", "Slide 2\n\nSlide 10\n\nSlide 1"),
        ("d.odt", "opendocument", "Of text", "Webs\nhold well\nhere"),
        ("e.epub", "epub", "Of a book", "Chapter one\n\nChapter two"),
    ] {
        let found = found[name].each_ref().map(Option::as_deref);
        assert_eq!(found, [Some(kind), Some(title), who, Some(text), None], "{name}");
    }
    let [kind, .., text, truncated] = &found["broken.pdf"];
    assert_eq!((kind.as_deref(), text, truncated.as_deref()), (Some("pdf"), &None, Some("document")));
    let [.., text, truncated] = &found["bomb.docx"];
    assert_eq!(text.as_ref().map(String::len), Some(TEXT_BYTES_MAX));
    assert_eq!(truncated.as_deref(), Some("document"));

    // Exports have them, with the numbers of pages and slides.
    let ran = crawled.run("export", &["chunks"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let chunks: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |name: &str| {
        chunks.iter().filter(|chunk| chunk["url"] == format!("http://library.test/{name}")).collect::<Vec<_>>()
    };
    let slides: Vec<_> = of("c.pptx").iter().map(|chunk| (chunk["headings"].clone(), chunk["text"].clone())).collect();
    let slide =
        |number: usize, text: &str| (json!([format!("Page {number}")]), json!(format!("## Page {number}\n\n{text}")));
    assert_eq!(slides, [slide(1, "Slide 2"), slide(2, "Slide 10"), slide(3, "Slide 1")]);
    assert_eq!((&of("a.pdf")[0]["kind"], &of("a.pdf")[0]["title"]), (&json!("pdf"), &json!("Of PDF")));
    assert!(of("broken.pdf").is_empty());
    let target = files.path().join("markdown");
    assert_eq!(crawled.run("export", &["markdown", "-o", target.to_str().expect("UTF-8")]).code, 0);
    let markdown = std::fs::read_to_string(target.join("library.test/a.pdf.md")).expect("a file");
    let (head, text) = markdown.split_once("---\n\n").expect("a head");
    assert!(head.contains("\nkind: \"pdf\"\n") && head.contains("\nauthor: \"Ana & Bo\"\n"), "{head}");
    assert_eq!(text, "## Page 1\n\nSpiders sit and command their webs.\n");

    // The archive gives the same rows, and without the switch there is no text.
    std::fs::remove_dir_all(Path::new(crawled.dir()).join("dataset")).expect("a dataset");
    assert_eq!(crawled.run("derive", &[]).code, 0);
    assert_eq!(read(crawled.dir()), found);
    let without = Crawled::of(library(&documents), "http://library.test/", &[]);
    let unread = read(without.dir());
    assert!(unread.values().all(|[_, title, author, text, truncated]| [title, author, text, truncated] == [&None; 4]));

    // What was fetched can be read later, with all that the crawl would have.
    let settings = Path::new(without.dir()).join("crawl.toml");
    let given = std::fs::read_to_string(&settings).expect("settings");
    let wanted = given.replace("documents-text = false", "documents-text = true");
    assert_ne!(given, wanted);
    std::fs::write(&settings, wanted).expect("settings");
    let derived = without.run("derive", &["--all"]);
    assert_eq!(derived.code, 0, "{derived:?}");
    assert_eq!(read(without.dir()), found);
}

#[test]
fn damaged_documents_cost_their_text_and_nothing_else() {
    let files = tempfile::tempdir().expect("a directory");
    let documents = made_in(files.path());
    let reader = Reader::of(env!("CARGO_BIN_EXE_argiope"), [ARGUMENT]);
    let kinds = [Kind::Pdf, Kind::Docx, Kind::Pptx, Kind::OpenDocument, Kind::Epub];
    let whole: Vec<(Kind, &Vec<u8>)> =
        kinds.into_iter().zip(["a.pdf", "b.docx", "c.pptx", "d.odt", "e.epub"].map(|name| &documents[name])).collect();
    // The same damage in every run: a linear congruential generator (Knuth, MMIX).
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    };
    let mut unread = 0;
    for number in 0..DAMAGED {
        let (kind, bytes) = &whole[random(whole.len())];
        let mut bytes = bytes.to_vec();
        if number % 4 == 0 {
            bytes.truncate(random(bytes.len()));
        } else {
            for _ in 0..=random(20) {
                let at = random(bytes.len());
                bytes[at] = u8::try_from(random(256)).expect("a byte");
            }
        }
        unread += u64::from(reader.read(*kind, &bytes).is_err());
    }
    assert!((DAMAGED / 20..DAMAGED).contains(&unread), "{unread} of {DAMAGED} were not read");
    // Nothing that is left harms the next one.
    for (kind, bytes) in whole {
        assert!(reader.read(kind, bytes).is_ok_and(|text| !text.is_cut), "{kind:?}");
    }
}
