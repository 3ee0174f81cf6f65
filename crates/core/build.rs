//! Lists the templates for the program to compile in.

use std::path::Path;
use std::{env, fs};

/// From this package's folder.
const TEMPLATES: &str = "../../templates";

fn main() {
    println!("cargo:rerun-if-changed={TEMPLATES}");
    let mut names = Vec::new();
    add_names(Path::new(TEMPLATES), "", &mut names);
    names.sort();
    let sources = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{TEMPLATES}/");
    let items = names.iter().map(|name| format!("(\"{name}\", include_str!({sources}{name}\"))),\n"));
    let list = Path::new(&env::var("OUT_DIR").expect("Cargo sets it")).join("templates.rs");
    fs::write(list, format!("&[\n{}]\n", items.collect::<String>())).expect("the list can be written");
}

/// Adds the path of each file below `folder`, after `prefix`.
fn add_names(folder: &Path, prefix: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder to list") {
        let entry = entry.expect("an entry of the folder");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        // Skip hidden files, and the backups that editors leave.
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        if entry.path().is_dir() {
            add_names(&entry.path(), &format!("{prefix}{name}/"), names);
        } else {
            names.push(format!("{prefix}{name}"));
        }
    }
}
