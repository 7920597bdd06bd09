//! `argiope settings`: all settings of a crawl.

use std::io::{Result, Write};
use std::process::ExitCode;

use clap::Args;
use printable::write_json_line;
use settings::Options;
use settings::table::{Setting, all};

/// What docs/settings.md says above the tables.
const ABOVE: &str = "# Settings

`argiope settings --markdown` writes this page; a test compares the two. Each setting is a flag of `argiope crawl`, `pages` and `server`, and a key of `crawl.toml` and
of the file that `--config` names. Flags win over that file, and both over `crawl.toml`. `argiope steer DIR set` with flags, such as `--max-pages 50`, changes settings marked \"while running\".

Forms: N is a number, D a duration of at most 100 years (`250ms`, `1m 30s`), B bytes (`10MB`, `500KiB`). A switch is a flag alone, or `--flag=false`. A list is given by repeating the flag: a comma is part of a pattern.

Some flags name a file: of tables (`--extract`, `--login`), a script (`--behaviour`), patterns (`--exclude-file`) or certificates (`--ca-cert`). It is read once: `crawl.toml` keeps its content, as `[extract.NAME]`, `[login.NAME]`, and tables
with `name` and `script`, `patterns` or `pem`. In a file for `--config`, `exclude-file` and `ca-cert` may be paths, too, relative to the working directory.
";

/// The arguments of `argiope settings`.
#[derive(Args, Debug)]
pub struct SettingsArgs {
    /// Print a JSON object per line
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print docs/settings.md
    #[arg(long)]
    markdown: bool,
}

/// Runs the command.
///
/// # Errors
/// Standard output cannot be written to.
pub fn run(args: SettingsArgs) -> anyhow::Result<ExitCode> {
    let settings = all(&Options::default());
    let mut out = std::io::stdout().lock();
    match (args.json, args.markdown) {
        (true, _) => settings.iter().try_for_each(|setting| write_json_line(&mut out, setting))?,
        (_, true) => write_markdown(&mut out, &settings)?,
        _ => write_text(&mut out, &settings)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_text(out: &mut dyn Write, settings: &[Setting]) -> Result<()> {
    for (n, group) in settings.chunk_by(|a, b| a.group == b.group).enumerate() {
        writeln!(out, "{}{}", if n > 0 { "\n" } else { "" }, group[0].group)?;
        for setting in group {
            let default = setting.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
            let changeable = if setting.is_changeable { "; can change while the crawl runs" } else { "" };
            writeln!(out, "  {} {}{default}", setting.key, setting.form)?;
            writeln!(out, "      {}{changeable}", setting.help)?;
        }
    }
    Ok(())
}

/// Writes the page. A `|` would end a cell.
fn write_markdown(out: &mut dyn Write, settings: &[Setting]) -> Result<()> {
    write!(out, "{ABOVE}")?;
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    for group in settings.chunk_by(|a, b| a.group == b.group) {
        writeln!(
            out,
            "\n## {}\n\n| key | form | default | while running | what it does |\n|---|---|---|---|---|",
            group[0].group
        )?;
        for Setting { key, form, is_list, default, is_changeable, help, .. } in group {
            let form = format!("{}{}", code(form), if *is_list { ", list" } else { "" });
            let default = default.as_deref().map(code).unwrap_or_default();
            let changeable = if *is_changeable { "yes" } else { "" };
            writeln!(out, "| {} | {form} | {default} | {changeable} | {} |", code(key), help.replace('|', "\\|"))?;
        }
    }
    Ok(())
}
