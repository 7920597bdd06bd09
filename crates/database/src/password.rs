//! Passwords: kept out of what is shown, and found where libpq finds them.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use postgres::Config;
use postgres::config::{Host, SslMode};

/// Bytes read of a password file, at most.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The port of a server whose address names none.
const DEFAULT_PORT: u16 = 5432;

/// An address without its password; `None` where it stands in a place from which it is not removed.
pub(crate) fn removed(address: &str) -> Option<String> {
    let Some((scheme, rest)) = address.split_once("://") else { return removed_from_pairs(address) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if path.contains("password") {
        return None;
    }
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
        None => authority.to_owned(),
    };
    Some(format!("{scheme}://{authority}{path}"))
}

/// `key=value` pairs without that of the password, which is without spaces or in quotation marks.
fn removed_from_pairs(pairs: &str) -> Option<String> {
    let Some(start) = pairs.find("password=") else { return (!pairs.contains("password")).then(|| pairs.to_owned()) };
    let value = &pairs[start + "password=".len()..];
    let length = match value.strip_prefix('\'') {
        Some(quoted) if quoted.contains('\\') => return None,
        Some(quoted) => quoted.find('\'')? + 2,
        None => value.find(char::is_whitespace).unwrap_or(value.len()),
    };
    let left = [pairs[..start].trim_end(), value[length..].trim_start()];
    let left = left.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    (!left.contains("password")).then_some(left)
}

/// The password that the environment or the password file has for a database.
pub(crate) fn looked_up(config: &Config) -> Option<String> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Some(password);
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let path = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home)?;
    let file = File::open(path).ok().filter(is_private)?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    in_file(&text, &wanted(config)?)
}

/// Whether the environment names the host of a database, and every other of its hosts: then the password is meant for it. An address that
/// leads elsewhere than its host says, or has a password sent in the clear, is none that was named.
pub(crate) fn is_for(config: &Config) -> bool {
    let list = |name: &str| std::env::var(name).ok().filter(|list| !list.is_empty());
    let Some(hosts) = list("PGHOST") else { return false };
    is_named(config, &hosts, list("PGPORT").as_deref())
}

fn is_named(config: &Config, hosts: &str, ports: Option<&str>) -> bool {
    let ports: Vec<&str> = ports.map(|ports| ports.split(',').collect()).unwrap_or_default();
    let default = DEFAULT_PORT.to_string();
    let port_of = |ports: &[String], at: usize| ports.get(at).or(ports.first()).cloned().unwrap_or(default.clone());
    let ports: Vec<String> = ports.into_iter().map(str::to_owned).collect();
    let named: Vec<(String, String)> =
        hosts.split(',').enumerate().map(|(at, host)| (host.to_owned(), port_of(&ports, at))).collect();
    let asked: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
    let mut wanted = config.get_hosts().iter().enumerate().map(|(at, host)| (name_of(host), port_of(&asked, at)));
    let is_encrypted = config.get_ssl_mode() != SslMode::Disable || crate::is_local(config);
    is_encrypted && config.get_hostaddrs().is_empty() && wanted.all(|wanted| named.contains(&wanted))
}

/// A host as people write it.
pub(crate) fn name_of(host: &Host) -> String {
    match host {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(dir) => dir.display().to_string(),
    }
}

/// As libpq: a password that others of this machine can read is none. A symbolic link to the file is followed.
fn is_private(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file()) && fresh::is_private(file).unwrap_or(false)
}

/// Host, port, database and user, as a password file names them.
fn wanted(config: &Config) -> Option<[String; 4]> {
    let host = match config.get_hosts().first() {
        Some(host) => name_of(host),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT).to_string();
    let user = config.get_user().map(str::to_owned).or_else(|| std::env::var("USER").ok())?;
    let database = config.get_dbname().unwrap_or(&user).to_owned();
    Some([host, port, database, user])
}

/// The password in the first line that fits: `host:port:database:user:password`, where `*` fits everything and `\` makes the
/// character behind it an ordinary one.
fn in_file(text: &str, wanted: &[String; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [names @ .., password] = fields.as_slice() else { return None };
        let fits =
            names.len() == wanted.len() && names.iter().zip(wanted).all(|(name, want)| name == "*" || name == want);
        fits.then(|| password.clone())
    })
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let ordinary = if char == '\\' { chars.next() } else { Some(char).filter(|char| *char != ':') };
        match (ordinary, fields.last_mut()) {
            (Some(ordinary), Some(field)) => field.push(ordinary),
            _ => fields.push(String::new()),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_host_of_a_password() {
        let check = |address: &str, hosts: &str, ports: Option<&str>, expect: bool| {
            let config: Config = address.parse().expect("an address");
            assert_eq!(is_named(&config, hosts, ports), expect, "{address} by {hosts} {ports:?}");
        };
        check("postgres://me@h/db", "h", None, true);
        check("postgres://me@h/db", "h", Some("5433"), false);
        check("postgres://me@h:5433/db", "h", Some("5433"), true);
        check("postgres://me@h:5433/db", "h", None, false);
        check("postgres://me@other/db", "h", None, false);
        check("postgres://me@h,other/db", "h", None, false);
        check("postgres://me@h,i/db", "i,h", None, true);
        check("host=/run/postgresql user=me", "/run/postgresql", None, true);
        check("host=h hostaddr=192.0.2.1 user=me", "h", None, false);
        check("postgres://me@h/db?sslmode=disable", "h", None, false);
        check("postgres://me@127.0.0.1/db?sslmode=disable", "127.0.0.1", None, true);
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let file = "# h:5432:db:me:comment\nh:5433:db:me:other port\nh:*:db:me:a\\:b\\\\c\n*:*:*:*:any\n";
        let check = |host: &str, expect: &str| {
            let wanted = [host, "5432", "db", "me"].map(str::to_owned);
            assert_eq!(in_file(file, &wanted).as_deref(), Some(expect), "{host}");
        };
        check("h", "a:b\\c");
        check("elsewhere", "any");
        assert_eq!(in_file("h:5432:db:me\n", &["h", "5432", "db", "me"].map(str::to_owned)), None);
    }
}
