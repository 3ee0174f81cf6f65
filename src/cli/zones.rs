//! The zone data of the system, which are used if they are newer than those that are compiled in.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use chrono::NaiveDate;

use crate::zone::{self, ZoneData};

/// The folder of the system's zone data, unless `TZDIR` names another, as for the C library.
const FOLDER: &str = "/usr/share/zoneinfo";

/// The file there that names the edition and every zone; see zic(8).
const LIST: &str = "tzdata.zi";

/// Maximum bytes of a file there. The list has about 110,000, a zone less than 4,000.
const MAX_FILE: u64 = 1_000_000;

/// The version of the program and the edition of the zone data, for `--version`.
pub static LONG_VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (zone data {}, {})", env!("CARGO_PKG_VERSION"), zone::edition(), origin()));

/// Puts the system's zone data in force if they are newer than those that are compiled in. If they cannot be read, `doctor`
/// says so.
pub fn use_newest() {
    if let Ok(Some(data)) = newer_data(&folder()) {
        zone::install(data);
    }
}

/// Describes the zone data in force, and returns warnings about them.
pub fn check(today: NaiveDate) -> (String, Vec<String>) {
    let edition = zone::edition();
    let mut warnings = Vec::new();
    let folder = folder();
    if let Err(error) = newer_data(&folder) {
        warnings.push(format!("the system's are not used: {}: {error}", folder.display()));
    }
    if zone::is_outdated(edition, today) {
        warnings.push(format!(
            "edition {edition} is old: in countries that have changed their clocks since, deadlines are told wrongly; install \
             the system's newest tzdata, or a newer fogpost, and restart it"
        ));
    }
    (format!("edition {edition}, {}", origin()), warnings)
}

/// Says where the zone data in force come from.
fn origin() -> &'static str {
    match zone::edition() == zone::compiled_in_edition() {
        true => "compiled in",
        false => "of the system",
    }
}

fn folder() -> PathBuf {
    std::env::var_os("TZDIR").filter(|folder| !folder.is_empty()).unwrap_or_else(|| FOLDER.into()).into()
}

/// Returns the zone data in a folder, if they are newer than those that are compiled in.
fn newer_data(folder: &Path) -> Result<Option<ZoneData>, String> {
    let Ok(list) = read(&folder.join(LIST)) else {
        // Not every system has zone data, and not every one says which.
        return Ok(None);
    };
    let list = String::from_utf8_lossy(&list);
    let edition = edition_of(&list);
    if !zone::is_newer(edition, zone::compiled_in_edition()) {
        return Ok(None);
    }
    let mut files = BTreeMap::new();
    for (name, target) in names(&list) {
        let file = read(&folder.join(name)).or_else(|_| read(&folder.join(target)));
        match file {
            Ok(bytes) => drop(files.insert(name.to_owned(), bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    let again = read(&folder.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    if edition_of(&String::from_utf8_lossy(&again)) != edition {
        return Err("they were replaced while they were read; restart".to_owned());
    }
    ZoneData::with(edition, files).map(Some)
}

/// Returns the edition in the first line of the list, `# version 2026f`.
fn edition_of(list: &str) -> &str {
    let first = list.lines().next().unwrap_or_default();
    first.strip_prefix("# version ").unwrap_or_default().trim()
}

/// Returns the zones on the list, each with the one of which it is another name: `Z NAME …` and `L TARGET NAME`. Some systems
/// have no files for other names.
fn names(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let zones = list.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        match (words.next()?, words.next()?, words.next()?) {
            ("Z", name, _) => Some((name, name)),
            ("L", target, name) => Some((name, target)),
            _ => None,
        }
    });
    zones.filter(|(name, target)| {
        ![name, target].iter().any(|name| name.starts_with('/') || name.contains(".."))
    })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A device or a pipe would have no end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}
