//! Waiting letters: the oldest, and which are claimed together.

/// Maximum bytes of the letters that are claimed together: they are held in memory, some of them decoded.
const MAX_CLAIMED_BYTES: u32 = 32_000_000;

/// Selects when the oldest waiting letter arrived that is not deferred past `$1`.
pub const OLDEST: &str = "SELECT received_at FROM letter \
                          WHERE fate = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
                          ORDER BY received_at, id LIMIT 1";

/// Selects up to `$3` waiting letters that meet a `condition` and are not deferred past `$2`, oldest first, and of those
/// as many as fit into [`MAX_CLAIMED_BYTES`], but at least one. The running total is computed over that page only, not
/// over everything that waits.
pub fn select(condition: &str) -> String {
    format!(
        "WITH page AS (\
             SELECT l.id, l.received_at, l.size FROM letter l \
             WHERE l.fate = 'waiting' AND (l.wait_until IS NULL OR l.wait_until <= $2) AND {condition} \
             ORDER BY l.received_at, l.id LIMIT $3\
         ), sized AS (SELECT id, size, SUM(size) OVER (ORDER BY received_at, id) AS total FROM page) \
         SELECT l.digest, r.bytes, l.received_at, l.tries FROM sized s \
         JOIN letter l ON l.id = s.id JOIN letter_raw r ON r.letter_id = l.id \
         WHERE s.total <= {MAX_CLAIMED_BYTES} OR s.total = s.size ORDER BY l.received_at, l.id"
    )
}
