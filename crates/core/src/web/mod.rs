//! The pages of the site and of the GM's screen: values in, bytes out. The daemon reads the rows and writes or
//! serves the pages.

use serde::Serialize;

use crate::report::COMPILED_IN;

pub mod boards;
mod characters;
pub mod events;
pub mod listed;
pub mod pages;
pub mod plot;
pub mod proof;
pub mod replay;
pub mod screen;

/// The facts that every page of a site shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Site {
    /// The name of the club.
    pub club: String,
    /// The referee's address.
    pub address: String,
    /// The address of the site, if it is known.
    pub url: Option<String>,
    /// The style sheet, in a page that stands alone.
    pub sheet: Option<&'static str>,
    /// The script, in a page that stands alone.
    pub script: Option<&'static str>,
}

impl Site {
    /// The facts for a page that stands alone and contains everything it needs.
    pub fn of_one_page(club: &str, address: &str) -> Site {
        Site {
            club: club.to_owned(),
            address: address.to_owned(),
            url: None,
            sheet: Some(asset("style.css")),
            script: Some(asset("replay.js")),
        }
    }
}

/// Returns a file that pages of the site refer to.
///
/// # Panics
/// Panics if no asset has this name.
pub fn asset(name: &str) -> &'static str {
    compiled_in(&format!("site/{name}"))
}

/// Returns the style sheet that pages of the GM's screen use in addition to the site's.
pub fn screen_sheet() -> &'static str {
    compiled_in("screen/screen.css")
}

fn compiled_in(path: &str) -> &'static str {
    COMPILED_IN.iter().find(|(name, _)| *name == path).expect("an asset of the pages").1
}

#[cfg(test)]
mod tests;
