//! The tokens of a login, and the times of their renewal.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use oauth2::basic::BasicTokenType;
use oauth2::{ExtraTokenFields, StandardTokenResponse, TokenResponse as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Secret;

/// Lifetime of an access token if the server does not say.
const USUAL_LIFETIME: Duration = Duration::from_secs(3600);

/// Delay before asking the provider again after it ended the login.
const ENDED_RETRY: TimeDelta = TimeDelta::minutes(10);

/// Time by which the clock may be set back before a token is distrusted.
const TOLERANCE: TimeDelta = TimeDelta::minutes(1);

/// Age at which an unused login is renewed: if the provider cannot be reached, a day is left of the week.
const UNUSED_RENEWAL: TimeDelta = TimeDelta::days(6);

/// A token server's answer.
pub type TokenAnswer = StandardTokenResponse<RefreshLifetime, BasicTokenType>;

/// The lifetime of a refresh token. Few providers state it; Google does, whose logins end after seven days
/// while the program is "in testing".
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RefreshLifetime {
    /// Seconds. Any other value from a server must not spoil the login.
    #[serde(default)]
    refresh_token_expires_in: Option<Value>,
}

impl ExtraTokenFields for RefreshLifetime {}

/// The error if there is no login.
pub const LOG_IN: &str = "nobody has logged in yet; run: fogpost login";

/// The tokens of a login.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tokens {
    #[serde(serialize_with = "serialize_secret")]
    pub refresh: Secret,
    /// Missing after a mail server has refused the access token.
    pub access: Option<AccessToken>,
    pub logged_in_at: DateTime<Utc>,
    pub renewed_at: DateTime<Utc>,
    /// The time at which the provider said that the login has ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The time at which the login ends, if the provider has said so.
    pub ends_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccessToken {
    #[serde(serialize_with = "serialize_secret")]
    pub token: Secret,
    pub renew_at: DateTime<Utc>,
}

fn serialize_secret<S: serde::Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.reveal())
}

impl AccessToken {
    fn of(answer: &TokenAnswer, now: DateTime<Utc>) -> AccessToken {
        let token = Secret::new(answer.access_token().secret());
        AccessToken { token, renew_at: renewal(now, answer.expires_in()) }
    }
}

impl Tokens {
    /// Returns the tokens of a new login.
    pub fn new(refresh: Secret, answer: &TokenAnswer, now: DateTime<Utc>) -> Tokens {
        Tokens {
            refresh,
            access: Some(AccessToken::of(answer, now)),
            logged_in_at: now,
            renewed_at: now,
            ended_at: None,
            ends_at: end_of_login(answer, now),
        }
    }

    /// Returns the tokens after a renewal. The provider may have replaced the refresh token.
    pub fn renewed(&self, answer: &TokenAnswer, now: DateTime<Utc>) -> Tokens {
        let refresh = answer.refresh_token().map(|token| Secret::new(token.secret()));
        let ends_at = match &refresh {
            Some(_) => end_of_login(answer, now),
            // The old refresh token stays valid, and so does the end of its login.
            None => end_of_login(answer, now).or(self.ends_at),
        };
        Tokens {
            refresh: refresh.unwrap_or_else(|| self.refresh.clone()),
            access: Some(AccessToken::of(answer, now)),
            logged_in_at: self.logged_in_at,
            renewed_at: now,
            ended_at: None,
            ends_at,
        }
    }

    /// Returns the tokens after the provider has said that the login has ended.
    pub fn ended(&self, now: DateTime<Utc>) -> Tokens {
        Tokens { ended_at: Some(now), ..self.clone() }
    }

    /// Returns the tokens without the access token, if that is `token`.
    pub fn without(&self, token: &Secret) -> Option<Tokens> {
        let is_ours = self.access.as_ref().is_some_and(|access| access.token == *token);
        is_ours.then(|| Tokens { access: None, ..self.clone() })
    }

    /// Returns the access token, unless it is time for a new one. A token from the future was made before the
    /// clock was set back, so nobody knows when it ends.
    pub fn fresh_access(&self, now: DateTime<Utc>) -> Option<&Secret> {
        let access = self.access.as_ref()?;
        let good = self.renewed_at - TOLERANCE..access.renew_at;
        good.contains(&now).then_some(&access.token)
    }

    /// Whether the provider said a short time ago that the login has ended.
    pub fn has_just_ended(&self, now: DateTime<Utc>) -> bool {
        self.ended_at.is_some_and(|ended| (ended - TOLERANCE..ended + ENDED_RETRY).contains(&now))
    }

    /// Whether the login is due to be renewed even if nobody uses it.
    pub fn are_old(&self, now: DateTime<Utc>) -> bool {
        now - self.renewed_at >= UNUSED_RENEWAL
    }
}

/// Returns the time at which the refresh token ends, if the server says so.
fn end_of_login(answer: &TokenAnswer, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let seconds = answer.extra_fields().refresh_token_expires_in.as_ref()?.as_i64()?;
    now.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}

/// Returns the time to renew a token: after three quarters of its `lifetime` from now.
fn renewal(now: DateTime<Utc>, lifetime: Option<Duration>) -> DateTime<Utc> {
    // Three quarters of eight days are [`UNUSED_RENEWAL`].
    let lifetime = lifetime.unwrap_or(USUAL_LIFETIME).min(Duration::from_secs(8 * 86_400));
    now + TimeDelta::from_std(lifetime * 3 / 4).unwrap_or_default()
}
