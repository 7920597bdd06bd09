//! `cargo xtask pictures`: the pictures of the README and of the documents, from crawls of the built-in test web.
//!
//! `report.png` is the page of `argiope report` as Chromium shows it. `explain.svg` is what `argiope explain` prints. `ui-*.png` are screens
//! of `argiope ui`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::interface::Interface;
use crate::svg::escaped;
use crate::testweb::TestWeb;
use crate::workspace::workspace;
use crate::{needs, site};

/// A synthetic web: its seed, sites, pages, and links on a page.
const WEB: &str = "7,12,400,6";
/// What of the report is left out in the picture: long tables, all but the picture of links.
const LEFT_OUT: &str = "nav, section:not(#picture), #picture table { display: none }</style>";
/// The picture of the report, in pixels.
const WINDOW: &str = "1000,950";
/// The screens of the interface in the documents: names, paths, windows in pixels.
const SCREENS: [(&str, &str, &str); 5] = [
    ("ui-overview", "/", "1000,820"),
    ("ui-urls", "/urls?site=http%3A%2F%2Fs0001.synthetic.test", "1000,620"),
    ("ui-url", "/url?u=http%3A%2F%2Fs0001.synthetic.test%2Fp%2F1", "1000,720"),
    ("ui-graph", "/graph?of=pages", "1000,900"),
    ("ui-steer", "/steer", "1000,820"),
];
/// The URL whose story is shown.
const EXPLAINED: &str = "http://advanced.test/private/secret.html";

/// A line of the terminal, and a letter, in pixels; the margin around the text.
const LINE: usize = 19;
const LETTER: usize = 8;
const MARGIN: usize = 18;

/// Makes the pictures.
///
/// # Errors
/// A crawl fails, or Chromium is missing.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let binary = site::binary(arguments)?;
    needs::packages("pictures", &[("chromium", "/usr/bin/chromium")])?;
    let dir = TempDir::with_prefix("argiope-pictures-")?;
    let pictures = workspace().join("docs/pictures");
    std::fs::create_dir_all(&pictures)?;
    report(&binary, dir.path(), &pictures.join("report.png"))?;
    interface(&binary, &dir.path().join("report"), &pictures)?;
    explain(&binary, dir.path(), &pictures.join("explain.svg"))
}

/// The report of a synthetic web.
fn report(binary: &Path, dir: &Path, picture: &Path) -> anyhow::Result<()> {
    let web = TestWeb::start(binary, &["--synthetic", WEB])?;
    let mut crawl = Command::new(binary);
    crawl.args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--connect-to", &web.connect_to]);
    crawl.args(["--delay", "50ms", "--ip-delay", "0", "--quiet", "-o", "report"]).current_dir(dir);
    printed(&mut crawl)?;
    printed(Command::new(binary).args(["report", "report", "--html", "report.html"]).current_dir(dir))?;
    let page = dir.join("report.html");
    let html = std::fs::read_to_string(&page)?;
    // The page allows its own style only.
    let html = html.replacen("Content-Security-Policy", "", 1).replacen("</style>", LEFT_OUT, 1);
    std::fs::write(&page, html)?;
    painted(&format!("file://{}", page.display()), WINDOW, picture)
}

/// Screens of the interface to a crawl.
fn interface(binary: &Path, crawl: &Path, pictures: &Path) -> anyhow::Result<()> {
    let interface = Interface::start(binary, crawl)?;
    for (name, path, window) in SCREENS {
        painted(&format!("{}{path}", interface.origin), window, &pictures.join(format!("{name}.png")))?;
    }
    Ok(())
}

/// A page as Chromium shows it.
fn painted(url: &str, window: &str, picture: &Path) -> anyhow::Result<()> {
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--hide-scrollbars", &format!("--window-size={window}")]);
    // A page that goes on receiving events is painted, too.
    browser.args(["--timeout=5000", &format!("--screenshot={}", picture.display()), url]);
    printed(&mut browser).map(|_| ())
}

/// The story of a URL that robots.txt forbids.
fn explain(binary: &Path, dir: &Path, picture: &Path) -> anyhow::Result<()> {
    let mut crawl = Command::new(binary);
    crawl.args(["crawl", "http://advanced.test/", "--sandbox", "--depth", "2", "--exclude", "*/traps/*"]);
    crawl.args(["--delay", "10ms", "--ip-delay", "0", "--patience", "0", "--quiet", "-o", "crawl"]).current_dir(dir);
    printed(&mut crawl)?;
    let told = printed(Command::new(binary).args(["explain", "crawl", EXPLAINED]).current_dir(dir))?;
    std::fs::write(picture, terminal(&format!("argiope explain crawl {EXPLAINED}"), &told))?;
    Ok(())
}

/// What a command prints.
fn printed(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command and what it prints, as a terminal shows them.
fn terminal(command: &str, printed: &str) -> String {
    let lines: Vec<String> =
        std::iter::once(format!("$ {command}")).chain(printed.lines().map(str::to_owned)).collect();
    let width = 2 * MARGIN + LETTER * lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let height = 2 * MARGIN + LINE * lines.len();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#16181d\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let (y, width) = (MARGIN + LINE * number + LINE * 3 / 4, LETTER * line.chars().count());
        let colour = match line.chars().next() {
            Some('$') => "#7fd1b9",
            Some(' ') => "#c9d1d9",
            _ => "#f0c674",
        };
        // A given length keeps columns in line, whatever font there is.
        svg += &format!(
            "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{colour}\" textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\" \
             xml:space=\"preserve\">{}</text>\n",
            escaped(line)
        );
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_terminal_shows_the_command_and_every_line() {
        let svg = super::terminal("explain <x>", "a & b\n  c\n");
        assert_eq!(svg.matches("<text ").count(), 3, "{svg}");
        assert!(
            svg.contains(">$ explain &lt;x&gt;</text>")
                && svg.contains(">a &amp; b</text>")
                && svg.contains(">  c</text>")
        );
        assert!(svg.ends_with("</svg>\n"));
    }
}
