//! The GM's screen: pages for the browser of a GM on this machine. A request is admitted or rejected here;
//! `web/screen` makes the pages, and acts are carried out like any other instruction of a GM.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::load::load_event;
use super::status::service;
use super::waiting::run_blocking;
use super::{GmIndex, Office, instruct};
use crate::club::events::keys::UNTIL_OPENING;
use crate::game::Seat;
use crate::referee::{Instruction, InstructionFault};
use crate::report::{GmResult, SeenTurn, TemplateError};
use crate::web::screen::forms::{self, Form, Subject};
use crate::web::screen::game_match::MatchRows;
use crate::web::screen::{PageFrame, agenda as agenda_page, event, game_match, lists as list_pages, person};
use crate::web::{asset, screen_sheet};

use self::sessions::{GmSession, SESSION_SECONDS, Sessions};

pub mod agenda;
pub mod sessions;
pub mod subjects;

/// Maximum bytes of a form.
const MAX_FORM: usize = 32 * 1024;

/// The headers of every answer. With `no-referrer`, browsers would not send the `Origin` of our own forms.
const HEADERS: [(header::HeaderName, &str); 5] = [
    (header::CACHE_CONTROL, "no-store"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Serves the screen at `listener` until the future is dropped.
pub async fn serve(listener: TcpListener, office: watch::Receiver<Arc<Office>>, sessions: Arc<Sessions>) {
    let routes = Router::new().fallback(answer).with_state(Screen { office, sessions });
    service::serve(listener, routes).await;
}

#[derive(Clone)]
struct Screen {
    /// The current office; a reload of the config replaces it.
    office: watch::Receiver<Arc<Office>>,
    sessions: Arc<Sessions>,
}

/// An answer other than the page that was asked for: its status, and the template's key for the reason.
struct PageRefusal(StatusCode, &'static str);

impl PageRefusal {
    fn not_found() -> PageRefusal {
        PageRefusal(StatusCode::NOT_FOUND, "not_found")
    }
}

impl From<anyhow::Error> for PageRefusal {
    fn from(error: anyhow::Error) -> PageRefusal {
        tracing::warn!(error = format!("{error:#}"), "failed to serve the screen");
        PageRefusal(StatusCode::SERVICE_UNAVAILABLE, "failed")
    }
}

impl From<TemplateError> for PageRefusal {
    fn from(error: TemplateError) -> PageRefusal {
        PageRefusal::from(anyhow::Error::from(error))
    }
}

type Answer = Result<Response, PageRefusal>;

async fn answer(State(screen): State<Screen>, request: Request) -> Response {
    let office = Arc::clone(&screen.office.borrow());
    respond(office, screen.sessions, request).await
}

/// Answers one request.
pub async fn respond(office: Arc<Office>, sessions: Arc<Sessions>, request: Request) -> Response {
    let visit = Visit { office, sessions };
    let answer = visit.answer(request).await;
    let mut response = answer.unwrap_or_else(|refusal| visit.refuse(refusal));
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    response
}

/// One request.
struct Visit {
    office: Arc<Office>,
    sessions: Arc<Sessions>,
}

/// A GM who has logged in.
struct Guest {
    session: GmSession,
    gm: GmIndex,
}

impl Visit {
    async fn answer(&self, request: Request) -> Answer {
        let host =
            own_host(request.headers()).ok_or(PageRefusal(StatusCode::MISDIRECTED_REQUEST, "other_host"))?;
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/style.css") => return Ok(sheet(asset("style.css"))),
            (&Method::GET, "/screen.css") => return Ok(sheet(screen_sheet())),
            (&Method::GET, "/login") => return self.link(request.uri().query().unwrap_or_default()),
            (&Method::POST, "/login") => {
                let form = self.form(request, &host).await?;
                return self.log_in(&host, form.get("token")).await;
            }
            _ => {}
        }
        let guest = self.guest(request.headers(), &host);
        match *request.method() {
            Method::GET => self.page(&guest?, request.uri().path(), request.uri().query()).await,
            Method::POST => {
                let path = request.uri().path().to_owned();
                let form = self.form(request, &host).await?;
                let guest = match guest {
                    Ok(guest) => guest,
                    Err(PageRefusal(status, why)) => return self.not_done(None, &form, (status, why), ""),
                };
                if !guest.session.has_form(form.get("form")) {
                    return self.not_done(Some(&guest), &form, (StatusCode::FORBIDDEN, "other_login"), "");
                }
                match path.as_str() {
                    "/act" => self.act(&guest, &form).await,
                    "/logout" => {
                        self.sessions.log_out(&guest.session);
                        Ok(see_other("/"))
                    }
                    _ => Err(PageRefusal::not_found()),
                }
            }
            _ => Err(PageRefusal(StatusCode::METHOD_NOT_ALLOWED, "other_method")),
        }
    }

    /// Reads a form that one of our own pages has sent.
    async fn form(&self, request: Request, host: &str) -> Result<Form, PageRefusal> {
        let origin = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        if origin != Some(&format!("http://{host}")) {
            return Err(PageRefusal(StatusCode::FORBIDDEN, "other_origin"));
        }
        let body = to_bytes(request.into_body(), MAX_FORM)
            .await
            .map_err(|_| PageRefusal(StatusCode::PAYLOAD_TOO_LARGE, "too_long"))?;
        Ok(Form(form_urlencoded::parse(&body).into_owned().collect()))
    }

    /// Returns the page behind a link. The link stays valid, because a mail program or a browser may prefetch
    /// it.
    fn link(&self, query: &str) -> Answer {
        let token = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "token");
        let token = token.map(|(_, token)| token.into_owned()).unwrap_or_default();
        self.with_frame(None, |frame| Ok(html(StatusCode::OK, frame.login(&token)?)))
    }

    async fn log_in(&self, host: &str, token: &str) -> Answer {
        match self.sessions.log_in(&self.office, token).await? {
            Some(secret) => {
                let cookie = format!(
                    "{}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={SESSION_SECONDS}",
                    cookie_name(host)
                );
                let mut response = see_other("/");
                let cookie = header::HeaderValue::from_str(&cookie).context("failed to write the cookie")?;
                response.headers_mut().insert(header::SET_COOKIE, cookie);
                tracing::info!("a GM has logged in to the screen");
                Ok(response)
            }
            None => {
                tracing::warn!("rejected an invalid login link");
                Err(PageRefusal(StatusCode::FORBIDDEN, "wrong_link"))
            }
        }
    }

    /// Returns the GM who sends a request.
    fn guest(&self, headers: &HeaderMap, host: &str) -> Result<Guest, PageRefusal> {
        let now = self.office.now();
        let found = cookies(headers, &cookie_name(host)).find_map(|secret| self.sessions.find(secret, now));
        let named = found.and_then(|session| {
            let gm = GmIndex(self.office.config.club.gm.named(&session.gm)?);
            Some(Guest { session, gm })
        });
        named.ok_or(PageRefusal(StatusCode::FORBIDDEN, "no_login"))
    }

    async fn page(&self, guest: &Guest, path: &str, query: Option<&str>) -> Answer {
        let office = &*self.office;
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts[..] {
            [""] => {
                let rows = agenda::rows(office, guest.gm).await?;
                self.render(guest, move |frame| agenda_page::page(frame, &rows)).await
            }
            ["match", id] => {
                let rows =
                    subjects::match_rows(office, guest.gm, id).await?.ok_or_else(PageRefusal::not_found)?;
                let rows = MatchRows { answered: Seat::parse(&field_of(query, "to")), ..rows };
                self.render(guest, move |frame| game_match::page(frame, &rows)).await
            }
            ["person", id] => {
                let rows =
                    subjects::person_rows(office, guest.gm, id).await?.ok_or_else(PageRefusal::not_found)?;
                self.render(guest, move |frame| person::page(frame, &rows)).await
            }
            ["event", id] => {
                let rows = subjects::event_rows(office, id).await?.ok_or_else(PageRefusal::not_found)?;
                self.render(guest, move |frame| event::page(frame, &rows)).await
            }
            ["matches"] => {
                let found = subjects::matches(office, &field_of(query, "q")).await?;
                self.render(guest, move |frame| list_pages::matches(frame, &found)).await
            }
            ["people"] => {
                let found = subjects::people(office, &field_of(query, "q")).await?;
                self.render(guest, move |frame| list_pages::people(frame, &found)).await
            }
            ["events"] => {
                let found = subjects::events(office, &field_of(query, "q")).await?;
                let opens = (office.now() + UNTIL_OPENING).date_naive();
                self.render(guest, move |frame| list_pages::events(frame, &found, opens)).await
            }
            ["find"] => {
                let words = field_of(query, "q");
                let found = subjects::search_pages(office, &words).await?;
                match &found[..] {
                    [(to, _)] => Ok(see_other(to)),
                    _ => self.render(guest, move |frame| frame.found(&words, &found)).await,
                }
            }
            _ => Err(PageRefusal::not_found()),
        }
    }

    /// Carries out the instruction of a form, or first shows its consequences.
    async fn act(&self, guest: &Guest, form: &Form) -> Answer {
        let meant = match subjects::with_addresses(&self.office, form).await? {
            Ok(meant) => meant,
            Err(says) => {
                return self.not_done(Some(guest), form, (StatusCode::BAD_REQUEST, "not_done"), &says);
            }
        };
        let instruction = match meant.instruction() {
            Ok(instruction) => instruction,
            Err(InstructionFault { reason: says, example }) => {
                let fault = GmResult::NotRead { says, example: example.to_owned() };
                let says = instruct::tell(&self.office, &fault)?;
                return self.not_done(Some(guest), form, (StatusCode::BAD_REQUEST, "not_done"), &says);
            }
        };
        let check = forms::asks_first(&instruction) && !form.is_sure();
        let digest = form.digest();
        if self.sessions.is_done(&guest.session, digest) {
            let says = "This form was sent twice. It was carried out the first time, and not again.";
            return self.not_done(None, &Form::default(), (StatusCode::CONFLICT, "sent_twice"), says);
        }
        let guard = Some(form.get("guard").to_owned());
        let done = instruct::carry_out_as(&self.office, guest.gm, &instruction, guard, check).await?;
        let text = instruct::tell(&self.office, &done)?;
        match &done {
            GmResult::Would { .. } if check => self.ask(guest, form, &instruction, &[]).await,
            GmResult::Voided { seen, .. } => self.ask(guest, form, &instruction, seen).await,
            _ if done.is_done() => {
                self.sessions.note_done(&guest.session, digest);
                self.sessions.tell(&guest.session, sentences_of(&text));
                Ok(see_other(form.back()))
            }
            _ => {
                let fresh = subjects::guard_of(&self.office, &instruction).await?;
                let form = form.guarded(fresh);
                self.not_done(Some(guest), &form, (StatusCode::CONFLICT, "not_done"), &text)
            }
        }
    }

    async fn ask(&self, guest: &Guest, form: &Form, act: &Instruction, seen: &[SeenTurn]) -> Answer {
        let ask = |subject: Subject<'_>| {
            self.with_frame(Some(guest), |frame| {
                Ok(html(StatusCode::OK, form.ask(frame, subject, act, seen)?))
            })
        };
        match act {
            Instruction::Match { id, .. } => {
                let found = subjects::match_of(&self.office, id).await?;
                let (game_match, _) = found.ok_or_else(PageRefusal::not_found)?;
                ask(Subject::Match(&game_match.id, &game_match.players))
            }
            Instruction::Event { id, .. } => {
                let found = load_event(&self.office, &id.to_ascii_uppercase()).await?;
                ask(Subject::Event(&found.ok_or_else(PageRefusal::not_found)?.event))
            }
            _ => Err(PageRefusal::not_found()),
        }
    }

    /// Says why a form was not followed, and shows what was typed into it, ready to be sent again.
    fn not_done(
        &self,
        guest: Option<&Guest>,
        form: &Form,
        (status, why): (StatusCode, &str),
        says: &str,
    ) -> Answer {
        let typed = form.typed();
        self.with_frame(guest, |frame| Ok(html(status, frame.notice(why, says, form.back(), &typed)?)))
    }

    /// Renders a page off the runtime's threads.
    async fn render(
        &self,
        guest: &Guest,
        page: impl FnOnce(&PageFrame<'_>) -> Result<String, TemplateError> + Send + 'static,
    ) -> Answer {
        let office = Arc::clone(&self.office);
        let session = guest.session.clone();
        let told = self.sessions.take_told(&session);
        let rendered = run_blocking(move || page(&frame(&office, Some(&session), told.as_deref())));
        Ok(html(StatusCode::OK, rendered.await??))
    }

    fn with_frame(&self, guest: Option<&Guest>, page: impl FnOnce(&PageFrame<'_>) -> Answer) -> Answer {
        page(&frame(&self.office, guest.map(|guest| &guest.session), None))
    }

    fn refuse(&self, PageRefusal(status, why): PageRefusal) -> Response {
        let page = frame(&self.office, None, None).notice(why, "", "/", &[]);
        page.map_or_else(|_| status.into_response(), |page| html(status, page))
    }
}

/// Returns a text that is laid out for a letter as one paragraph of sentences.
fn sentences_of(text: &str) -> String {
    let mut told = String::new();
    for paragraph in text.split("\n\n") {
        let words: Vec<&str> = paragraph.split_whitespace().filter(|word| *word != "-").collect();
        if words.is_empty() {
            continue;
        }
        if !told.is_empty() {
            told.push_str(if told.ends_with(['.', ':', '!', '?']) { " " } else { ". " });
        }
        told.push_str(&words.join(" "));
    }
    told
}

/// Returns a field of an address; empty if it is not there.
fn field_of(query: Option<&str>, wanted: &str) -> String {
    let field = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).find(|(name, _)| name == wanted);
    field.map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Returns what every page shows.
fn frame<'a>(office: &'a Office, session: Option<&'a GmSession>, told: Option<&'a str>) -> PageFrame<'a> {
    PageFrame {
        templates: &office.templates,
        club: &office.config.club.name,
        gm: session.map_or("", |session| &session.gm),
        form: session.map_or("", |session| &session.form),
        told,
        now: office.now(),
        zone: office.config.terms.zone,
    }
}

/// Returns the host that a request names, with its port, if it is a name of this machine that no name server
/// resolves: any other name may have been made to point here (DNS rebinding). The port may be that of a
/// tunnel.
fn own_host(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let (name, port) = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).unwrap_or((host, "80"));
    let is_ours = ["127.0.0.1", "localhost", "[::1]"].contains(&name) && port.parse::<u16>().is_ok();
    is_ours.then(|| host.to_owned())
}

/// Returns the name of the cookie. It contains the port, because browsers send the cookies of all ports of a
/// host.
fn cookie_name(host: &str) -> String {
    let port = host.rsplit_once(':').map_or("80", |(_, port)| port);
    format!("fogpost-{port}")
}

/// Returns the values of the cookies of this name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = all.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(move |(own, _)| *own == name).map(|(_, value)| value)
}

fn html(status: StatusCode, page: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn sheet(sheet: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], Body::from(sheet)).into_response()
}

fn see_other(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, path)]).into_response()
}
