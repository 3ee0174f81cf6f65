//! The pages of the site other than the replays.

use std::collections::BTreeMap;

use atom_syndication::{Entry, Feed, Link, Person, Text};
use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::events::{self, ListedEvent, Shown};
use super::listed::{ListedMatch, ListedMember, ListedRating, OpenSeat};
use super::plot::{self, PlotPoint};
use super::{Site, asset, boards, replay};
use crate::club::member::number;
use crate::club::rating::UNSURE;
use crate::game::Seat;
use crate::game::any::{Choices, GameKind};
use crate::game::picture::Picture;
use crate::report::{self, TemplateError, Templates};

/// Everything that the site shows apart from the replays.
#[derive(Debug, Default)]
pub struct SiteContents {
    /// The matches, by ID.
    pub matches: Vec<ListedMatch>,
    /// The players, by number.
    pub members: Vec<ListedMember>,
    /// The changes, by player and number of the result.
    pub ratings: Vec<ListedRating>,
    pub seats: Vec<OpenSeat>,
    /// The events, by ID.
    pub events: Vec<ListedEvent>,
    /// The last board of the match that ended last, and the ID of that match.
    pub hero: Option<(String, Picture)>,
}

/// Results on the first page.
const LATEST: usize = 10;
/// Running matches on the first page.
const RUNNING: usize = 15;
/// Results on the page of an event.
const IN_EVENT: usize = 100;
/// Results and news of events in a feed.
const IN_FEED: usize = 50;

/// A line of a list.
#[derive(Clone, Serialize)]
struct ListRow<'a> {
    id: &'a str,
    first: &'a str,
    second: &'a str,
    winner: Option<Seat>,
    game: &'static str,
    options: &'a str,
    event: Option<&'a str>,
    turn: Option<u32>,
    result: String,
    ended: String,
}

/// The pages made so far: their paths and bytes.
struct Pages<'a> {
    templates: &'a Templates,
    site: &'a Site,
    contents: &'a SiteContents,
    /// The finished matches, the latest first.
    finished: Vec<(&'a ListedMatch, ListRow<'a>)>,
    running: Vec<ListRow<'a>>,
    pages: BTreeMap<String, Vec<u8>>,
}

/// Returns the pages by path, and the files that they use.
///
/// # Errors
/// [`TemplateError`] if a template cannot be rendered.
pub fn pages(
    templates: &Templates,
    site: &Site,
    contents: &SiteContents,
) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let mut finished = Vec::new();
    let mut running = Vec::new();
    for listed in &contents.matches {
        let row = row(templates, listed)?;
        match listed.end {
            Some(_) => finished.push((listed, row)),
            None => running.push(row),
        }
    }
    finished.sort_by(|(a, _), (b, _)| ended_at(b).cmp(&ended_at(a)).then_with(|| a.id.cmp(&b.id)));
    let mut pages = Pages { templates, site, contents, finished, running, pages: BTreeMap::new() };
    for name in ["style.css", "replay.js", "proof.js"] {
        pages.pages.insert(name.to_owned(), asset(name).as_bytes().to_vec());
    }
    pages.pages.extend(play(templates, site)?);
    pages.club()?;
    pages.matches()?;
    pages.players()?;
    pages.ratings()?;
    pages.games()?;
    pages.events()?;
    let mut entries = FeedEntry::results(&pages.finished);
    for listed in &contents.events {
        entries.extend(pages.news(listed)?);
    }
    pages.feed("", &site.club, &site.address, entries);
    Ok(pages.pages)
}

/// Returns the page that composes letters, and the files that it uses: the same for every match, because the position
/// travels in the link. Its letters go to the address of this club and to no other.
///
/// # Errors
/// [`TemplateError`] if the template cannot be rendered.
pub fn play(templates: &Templates, site: &Site) -> Result<BTreeMap<String, Vec<u8>>, TemplateError> {
    let html = templates.render("site/play/index.html", context! { site => Serde(site) })?;
    let mut files = BTreeMap::from([("play/index.html".to_owned(), html.into_bytes())]);
    for name in ["play/play.css", "play/play.js"] {
        files.insert(name.to_owned(), asset(name).as_bytes().to_vec());
    }
    Ok(files)
}

/// Whether this is the path of a file that a site can hold: its pages, the files that they use, replays with their records,
/// and feeds.
pub fn is_page(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| part.is_empty() || part.starts_with('.')) {
        return false;
    }
    match parts[..] {
        [file] => ["index.html", "style.css", "replay.js", "proof.js", "feed.atom"].contains(&file),
        ["play", file] => ["index.html", "play.css", "play.js"].contains(&file),
        ["matches", file] => file.ends_with(".html"),
        ["players" | "games" | "events", "index.html"] => true,
        ["matches", _, file] => ["index.html", "words.html", "record.toml", "chain.js"].contains(&file),
        ["players" | "ratings", _, "index.html"] => true,
        ["games", _, file] => ["index.html", "figure.svg"].contains(&file),
        ["events", _, file] => file.ends_with(".html") || file == "feed.atom",
        _ => false,
    }
}

fn ended_at(listed: &ListedMatch) -> Option<DateTime<Utc>> {
    listed.end.as_ref().map(|(_, at)| *at)
}

fn row<'a>(templates: &Templates, listed: &'a ListedMatch) -> Result<ListRow<'a>, TemplateError> {
    let result = match &listed.end {
        Some((outcome, _)) => replay::result_of(templates, &listed.names, outcome, None)?,
        None => String::new(),
    };
    Ok(ListRow {
        id: &listed.id,
        first: &listed.names.first,
        second: &listed.names.second,
        winner: listed.end.as_ref().and_then(|(outcome, _)| outcome.winner),
        game: listed.game.name(),
        options: &listed.options,
        event: listed.event.as_deref(),
        turn: listed.turn,
        result,
        ended: ended_at(listed).map(|at| at.format("%-d %b %Y").to_string()).unwrap_or_default(),
    })
}

impl<'a> Pages<'a> {
    fn add(&mut self, path: &str, template: &str, page: Value) -> Result<(), TemplateError> {
        let root = Value::from_safe_string("../".repeat(path.matches('/').count()));
        let here = path.split('/').next().filter(|_| path.contains('/')).unwrap_or("club");
        let frame = context! { site => Serde(self.site), root => root, here => here };
        let html = self.templates.render(template, minijinja::value::merge_maps([page, frame]))?;
        self.pages.insert(path.to_owned(), html.into_bytes());
        Ok(())
    }

    fn club(&mut self) -> Result<(), TemplateError> {
        let latest: Vec<&ListRow<'_>> = self.finished.iter().take(LATEST).map(|(_, row)| row).collect();
        let running = &self.running[..self.running.len().min(RUNNING)];
        let hero = self.contents.hero.as_ref().map(|(id, picture)| drawing(id, picture));
        let hero_style = self.contents.hero.as_ref().and_then(|(id, _)| {
            let listed = self.contents.matches.iter().find(|listed| listed.id == *id)?;
            Some(boards::dark_style(listed.game))
        });
        let page = context! {
            latest => Serde(latest), running => Serde(running), all_finished => self.finished.len(),
            all_running => self.running.len(), seats => Serde(&self.contents.seats), hero => hero,
            hero_style => hero_style, games => games(),
            events => self.contents.events.iter().map(events::line).collect::<Vec<_>>(),
        };
        self.add("index.html", "site/club.html", page)
    }

    fn matches(&mut self) -> Result<(), TemplateError> {
        let mut months: BTreeMap<String, (String, Vec<ListRow<'a>>)> = BTreeMap::new();
        for (listed, row) in &self.finished {
            let ended = |format| ended_at(listed).map(|at| at.format(format).to_string()).unwrap_or_default();
            let (_, rows) = months.entry(ended("%Y-%m")).or_insert_with(|| (ended("%B %Y"), Vec::new()));
            rows.push(row.clone());
        }
        let listed: Vec<_> = months
            .iter()
            .rev()
            .map(|(key, (name, rows))| context! { key, name, count => rows.len() })
            .collect();
        let running = Serde(&self.running);
        let page = context! { running => running, months => listed };
        self.add("matches/index.html", "site/matches.html", page)?;
        for (key, (name, rows)) in months {
            let page = context! { month => &name, rows => Serde(rows) };
            self.add(&format!("matches/{key}.html"), "site/month.html", page)?;
        }
        Ok(())
    }

    fn players(&mut self) -> Result<(), TemplateError> {
        let mut finished: BTreeMap<i64, Vec<(Seat, ListRow<'a>)>> = BTreeMap::new();
        let mut running: BTreeMap<i64, Vec<(Seat, ListRow<'a>)>> = BTreeMap::new();
        for (listed, row) in &self.finished {
            for (seat, player) in listed.players.iter() {
                player
                    .iter()
                    .for_each(|player| finished.entry(*player).or_default().push((seat, row.clone())));
            }
        }
        let listed = self.contents.matches.iter().filter(|listed| listed.end.is_none());
        for (listed, row) in listed.zip(&self.running) {
            for (seat, player) in listed.players.iter() {
                player
                    .iter()
                    .for_each(|player| running.entry(*player).or_default().push((seat, row.clone())));
            }
        }
        let members = &self.contents.members;
        let listed: Vec<_> = members
            .iter()
            .map(|member| {
                let count = finished.get(&member.id).map_or(0, Vec::len);
                let running = running.get(&member.id).map_or(0, Vec::len);
                context! { number => number(member.id), name => &member.name, finished => count, running => running }
            })
            .collect();
        self.add("players/index.html", "site/players.html", context! { players => listed })?;
        for member in members {
            let own = finished.remove(&member.id).unwrap_or_default();
            self.player(member, own, running.remove(&member.id).unwrap_or_default())?;
        }
        Ok(())
    }

    fn player(
        &mut self,
        member: &ListedMember,
        finished: Vec<(Seat, ListRow<'_>)>,
        running: Vec<(Seat, ListRow<'_>)>,
    ) -> Result<(), TemplateError> {
        let line = |(seat, row)| context! { seat => Serde(seat), ..Value::from(Serde(row)) };
        let rows: Vec<_> = finished.into_iter().map(line).collect();
        let running: Vec<_> = running.into_iter().map(line).collect();
        let from = self.contents.ratings.partition_point(|rating| rating.player < member.id);
        let own = self.contents.ratings[from..].iter().take_while(|rating| rating.player == member.id);
        let mut by_game: BTreeMap<GameKind, Vec<&ListedRating>> = BTreeMap::new();
        own.for_each(|rating| by_game.entry(rating.game).or_default().push(rating));
        let ratings: Vec<_> = by_game
            .iter()
            .map(|(game, ratings)| {
                let points: Vec<PlotPoint> = ratings.iter().map(|rating| rating.point).collect();
                let last = ratings.last().expect("a group is not empty");
                let plot = (points.len() > 1).then(|| plot::draw(&points));
                context! {
                    game => game.name(), key => game.key(), shown => &last.shown, deviation => last.point.deviation,
                    count => points.len(), from => points[0].figure, to => last.point.figure,
                    plot => plot.as_ref().map(|picture| drawing("", picture)),
                }
            })
            .collect();
        let reliability = &member.reliability;
        let has = |listed: &&ListedEvent| {
            let mut seasons = listed.event.seasons.iter();
            listed.event.has(member.id) || seasons.any(|season| season.list.contains(&member.id))
        };
        let own_events: Vec<_> = self.contents.events.iter().filter(has).map(events::line).collect();
        let page = context! {
            events => own_events, number => number(member.id), name => &member.name, rows => rows, running => running,
            ratings => ratings, owed => reliability.owed, in_time => reliability.in_time, lost => reliability.lost,
            plot_style => plot::dark_style(), unsure => format!("{UNSURE:.0}"),
        };
        self.add(&format!("players/{}/index.html", number(member.id)), "site/player.html", page)
    }

    fn ratings(&mut self) -> Result<(), TemplateError> {
        for game in GameKind::ALL {
            let mut latest: BTreeMap<i64, &ListedRating> = BTreeMap::new();
            let of_game = self.contents.ratings.iter().filter(|rating| rating.game == *game);
            latest.extend(of_game.map(|rating| (rating.player, rating)));
            let mut latest: Vec<_> = latest.into_values().collect();
            latest.sort_by_key(|rating| (-rating.point.figure, rating.player));
            let name_of = |id: i64| {
                let members = &self.contents.members;
                let place = members.binary_search_by_key(&id, |member| member.id).ok()?;
                Some(members[place].name.as_str())
            };
            let rows: Vec<_> = latest
                .into_iter()
                .map(|rating| {
                    context! {
                        number => number(rating.player), name => name_of(rating.player), shown => &rating.shown,
                        deviation => rating.point.deviation, results => rating.results,
                    }
                })
                .collect();
            let page = context! { rows => rows, game => game.name(), key => game.key(), unsure => format!("{UNSURE:.0}") };
            self.add(&format!("ratings/{}/index.html", game.key()), "site/ratings.html", page)?;
        }
        Ok(())
    }

    fn games(&mut self) -> Result<(), TemplateError> {
        self.add("games/index.html", "site/games.html", context! { games => games() })?;
        for game in GameKind::ALL {
            let with_figure = context! { html => true, figure => game.key() };
            let text =
                |name: &str| self.templates.render(&format!("{}/{name}.txt", game.key()), &with_figure);
            let figure = game.figure();
            let address = figure.as_ref().map(|figure| ("figure.svg", figure.width));
            let rules = report::page_html(&text("rules")?, address);
            if let Some(figure) = figure {
                let path = format!("games/{}/figure.svg", game.key());
                // A standalone SVG does not see the page's style sheet, so embed the dark colours.
                let style = format!("><style>{}</style>", boards::dark_style(*game));
                self.pages.insert(path, report::svg(&figure).replacen('>', &style, 1).into_bytes());
            }
            let has_strategy =
                report::COMPILED_IN.iter().any(|(name, _)| *name == format!("{}/strategy.txt", game.key()));
            let strategy =
                if has_strategy { Some(report::page_html(&text("strategy")?, None)) } else { None };
            let start = game.start(&Choices::default()).open_board(None).picture;
            let page = context! {
                game => game.name(), key => game.key(), rules => rules, strategy => strategy,
                board => drawing("", &start), style => boards::dark_style(*game),
                ratio => format!("{:.3}", f64::from(start.width) / f64::from(start.height)),
            };
            self.add(&format!("games/{}/index.html", game.key()), "site/game.html", page)?;
        }
        Ok(())
    }

    fn events(&mut self) -> Result<(), TemplateError> {
        let contents = self.contents;
        let lines: Vec<_> = contents.events.iter().map(events::line).collect();
        self.add("events/index.html", "site/events.html", context! { events => lines })?;
        let (over, running): (Vec<_>, Vec<_>) =
            contents.matches.iter().partition(|listed| listed.end.is_some());
        let shown = Shown {
            names: contents.members.iter().map(|member| (member.id, member.name.as_str())).collect(),
            running: running.iter().map(|listed| (listed.id.as_str(), listed.turn)).collect(),
            replays: over.iter().map(|listed| listed.id.as_str()).collect(),
        };
        let mut results: BTreeMap<&str, Vec<(&ListedMatch, ListRow<'a>)>> = BTreeMap::new();
        for (listed, row) in &self.finished {
            if let Some(event) = &listed.event {
                results.entry(event).or_default().push((listed, row.clone()));
            }
        }
        for listed in &contents.events {
            let plan = &listed.event.plan;
            let folder = format!("events/{}/", plan.id);
            let results = results.remove(plan.id.as_str()).unwrap_or_default();
            let rows: Vec<&ListRow<'_>> = results.iter().map(|(_, row)| row).take(IN_EVENT).collect();
            let last = listed.event.season().map(|season| season.no);
            for season in &listed.event.seasons {
                let file = if Some(season.no) == last {
                    "index".to_owned()
                } else {
                    format!("season-{}", season.no)
                };
                let page = context! {
                    event => events::announcement(listed, &shown), season => events::season(&listed.event, season, &shown),
                    rows => Serde(&rows),
                };
                self.add(&format!("{folder}{file}.html"), "site/event.html", page)?;
            }
            if last.is_none() {
                let page = context! { event => events::announcement(listed, &shown), season => (), rows => Serde(&rows) };
                self.add(&format!("{folder}index.html"), "site/event.html", page)?;
            }
            let mut entries = FeedEntry::results(&results);
            entries.extend(self.news(listed)?);
            self.feed(&folder, &plan.name, &plan.id, entries);
        }
        Ok(())
    }

    /// Returns the feed entries for the news of an event.
    fn news(&self, listed: &ListedEvent) -> Result<Vec<FeedEntry>, TemplateError> {
        let plan = &listed.event.plan;
        let mut entries = Vec::new();
        for (at, news) in &listed.news {
            let words = context! { news => news.as_str(), season => news.season(), span => plan.format.span(), name => &plan.name };
            entries.push(FeedEntry {
                at: *at,
                title: self.templates.render("site/event-news.txt", words)?.trim().to_owned(),
                summary: format!("{}, a {} of {}.", plan.name, plan.format, plan.game.name()),
                id: format!("{}:{}:{}", plan.id, news.as_str(), news.season().unwrap_or(0)),
                page: format!("events/{}/index.html", plan.id),
            });
        }
        Ok(entries)
    }

    /// Writes the feed of the club or, in its folder, of an event.
    fn feed(&mut self, folder: &str, title: &str, id: &str, mut entries: Vec<FeedEntry>) {
        entries.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.id.cmp(&b.id)));
        entries.truncate(IN_FEED);
        let mut feed = Feed::default();
        feed.set_title(Text::plain(title.to_owned()));
        feed.set_id(format!("urn:fogpost:{id}"));
        // A feed without entries is dated to the epoch.
        feed.set_updated(entries.first().map(|entry| entry.at).unwrap_or_default().fixed_offset());
        feed.set_authors(vec![Person { name: self.site.club.clone(), ..Person::default() }]);
        // If the site's address is unknown, links are relative to the feed.
        let base = match &self.site.url {
            Some(url) => format!("{}/", url.trim_end_matches('/')),
            None => "../".repeat(folder.matches('/').count()),
        };
        let link = |page: &str| vec![Link { href: format!("{base}{page}"), ..Link::default() }];
        let own =
            Link { rel: "self".to_owned(), href: format!("{base}{folder}feed.atom"), ..Link::default() };
        feed.set_links([link(&format!("{folder}index.html")), vec![own]].concat());
        let written = entries.into_iter().map(|FeedEntry { at, title, summary, id, page }| Entry {
            title: Text::plain(title),
            summary: Some(Text::plain(summary)),
            id: format!("urn:fogpost:{id}"),
            updated: at.fixed_offset(),
            links: link(&page),
            ..Entry::default()
        });
        feed.set_entries(written.collect::<Vec<_>>());
        self.pages.insert(format!("{folder}feed.atom"), feed.to_string().into_bytes());
    }
}

/// An entry of a feed.
struct FeedEntry {
    at: DateTime<Utc>,
    title: String,
    summary: String,
    /// Unique in the club.
    id: String,
    page: String,
}

impl FeedEntry {
    /// The entries of the latest of these matches.
    fn results(finished: &[(&ListedMatch, ListRow<'_>)]) -> Vec<FeedEntry> {
        let entry = |(listed, row): &(&ListedMatch, ListRow<'_>)| FeedEntry {
            at: ended_at(listed).unwrap_or_default(),
            title: format!("{} – {}, {}: {}", row.first, row.second, row.game, row.result),
            summary: format!("{} ended on {}. The page replays it turn by turn.", listed.id, row.ended),
            id: listed.id.clone(),
            page: format!("matches/{}/index.html", listed.id),
        };
        finished.iter().take(IN_FEED).map(entry).collect()
    }
}

fn games() -> Vec<Value> {
    GameKind::ALL.iter().map(|game| context! { key => game.key(), name => game.name() }).collect()
}

/// A drawing on a page, and the match that it leads to.
fn drawing(id: &str, picture: &Picture) -> Value {
    context! { id, width => picture.width, height => picture.height, shapes => boards::fragment(picture) }
}
