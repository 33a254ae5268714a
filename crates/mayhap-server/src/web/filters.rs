//! `GET /api/filters`, the table of filters, and `GET /api/filter`, one of them.

use super::Web;
use super::error::ApiError;
use super::figures::is_nearly_full;
use super::json::{self, Encoding, KeyName};
use crate::filter_table::FilterRow;
use crate::net::http::{Answer, RequestHead};
use crate::pattern;
use crate::printable::printable;
use mayhap_codec::Detail;
use mayhap_core::Stats;
use serde::Serialize;
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// The rows of a page, unless the query says otherwise.
const PER_PAGE: usize = 50;
const MAX_PER_PAGE: usize = 500;
/// The maximum length of a name in the table: a longer one would not fit into a request for its details. Names may have
/// megabytes, and a page of the table hundreds of them.
const MAX_NAME: usize = 16_000;
/// The bytes of a name that are shown in the table.
const MAX_SHOWN: usize = 1000;

/// A filter, as the page shows it.
#[derive(Serialize)]
struct FilterJson {
    #[serde(flatten)]
    name: KeyName,
    /// The name in one printable line.
    name_shown: String,
    #[serde(rename = "type")]
    type_name: &'static str,
    kind: Option<String>,
    size_bytes: u64,
    keys: Option<u64>,
    capacity: Option<u64>,
    keys_until_full: Option<u64>,
    fill: Option<f64>,
    rate_requested: Option<f64>,
    rate_now: Option<f64>,
    layers: Option<u64>,
    is_over_capacity: bool,
    is_nearly_full: bool,
    /// Until it expires, in milliseconds.
    ttl_ms: Option<u64>,
    /// The age of these figures, in milliseconds; `null` if they are still to be computed.
    age_ms: Option<u64>,
    can_change: bool,
}

impl FilterJson {
    /// As a row of the table.
    fn row(web: &Web, row: &FilterRow, now: u64) -> Self {
        let mut name_shown = printable(start(&row.name, MAX_SHOWN), &[]);
        if row.name.len() > MAX_SHOWN {
            name_shown.push('…');
        }
        let name = if row.name.len() > MAX_NAME {
            KeyName {
                key: name_shown.clone(),
                encoding: Encoding::Cut,
            }
        } else {
            KeyName::new(&row.name)
        };
        Self::new(web, row, now, name, name_shown)
    }

    fn new(web: &Web, row: &FilterRow, now: u64, name: KeyName, name_shown: String) -> Self {
        let stats: Option<Stats> = row.stats.map(|(stats, _)| stats);
        Self {
            name,
            name_shown,
            type_name: row.type_name,
            kind: stats.map(|stats| stats.kind.to_string()),
            size_bytes: row.size_bytes,
            keys: row.stat(|stats| stats.estimated_keys),
            capacity: row.stat(|stats| stats.capacity),
            keys_until_full: row.stat(|stats| stats.keys_until_full),
            fill: row.stat(|stats| stats.fill),
            rate_requested: row.stat(|stats| stats.false_positive_rate),
            rate_now: row.stat(|stats| stats.estimated_rate),
            layers: stats.map(|stats| stats.layers),
            is_over_capacity: stats.is_some_and(|stats| stats.is_over_capacity),
            is_nearly_full: stats.is_some_and(|stats| is_nearly_full(&stats)),
            ttl_ms: row.expires.map(|expires| expires.saturating_sub(now)),
            age_ms: row.stats.map(|(_, at)| now.saturating_sub(at)),
            can_change: !web.options.is_read_only && row.type_name != crate::files::TYPE_NAME,
        }
    }
}

/// The first bytes of a name, without half of a character at the end.
fn start(name: &[u8], most: usize) -> &[u8] {
    let is_inside = |at: usize| name.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = (most.saturating_sub(3)..=most).rfind(|at| !is_inside(*at));
    name.get(..end.unwrap_or(most)).unwrap_or(name)
}

#[derive(Serialize)]
struct FiltersJson {
    /// All filters of the server.
    total: usize,
    /// Those that match.
    matching: usize,
    /// The server has more filters than the table.
    is_cut: bool,
    page: usize,
    per: usize,
    filters: Vec<FilterJson>,
}

/// What to sort by. Filters without the figure come last in either order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SortBy {
    Name,
    Size,
    Keys,
    Capacity,
    Fill,
    Rate,
    Left,
    Expiry,
    Type,
}

impl SortBy {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "name" => Self::Name,
            "size" => Self::Size,
            "keys" | "items" => Self::Keys,
            "capacity" => Self::Capacity,
            "fill" => Self::Fill,
            "rate" => Self::Rate,
            "left" | "keys_until_full" => Self::Left,
            "ttl" => Self::Expiry,
            "type" => Self::Type,
            _ => return None,
        })
    }

    fn compare(self, one: &FilterRow, other: &FilterRow, is_descending: bool) -> Ordering {
        let figure = |row: &FilterRow| match self {
            Self::Name | Self::Type => None,
            Self::Size => Some(row.size_bytes as f64),
            Self::Keys => row.stat(|stats| Some(stats.estimated_keys? as f64)),
            Self::Capacity => row.stat(|stats| Some(stats.capacity? as f64)),
            Self::Fill => row.stat(|stats| stats.fill),
            Self::Rate => row.stat(|stats| stats.estimated_rate),
            Self::Left => row.stat(|stats| Some(stats.keys_until_full? as f64)),
            Self::Expiry => row.expires.map(|expires| expires as f64),
        };
        let turned = |order: Ordering| {
            if is_descending {
                order.reverse()
            } else {
                order
            }
        };
        let by_figure = match (figure(one), figure(other)) {
            (Some(one), Some(other)) => turned(one.total_cmp(&other)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) if self == Self::Type => turned(one.type_name.cmp(other.type_name)),
            (None, None) => Ordering::Equal,
        };
        let by_name = one.name.cmp(&other.name);
        by_figure.then(if self == Self::Name {
            turned(by_name)
        } else {
            by_name
        })
    }
}

/// Which names are searched for: those that contain the text, or match the pattern if it has a star.
enum Search {
    All,
    Text(Vec<u8>),
    Pattern(Vec<u8>),
}

impl Search {
    fn parse(text: &str) -> Result<Self, ApiError> {
        if text.len() > pattern::MAX_BYTES {
            return Err(ApiError::new(400, "the search is too long: shorten it"));
        }
        let lower = text.to_ascii_lowercase().into_bytes();
        Ok(match text {
            "" => Self::All,
            text if text.contains('*') => Self::Pattern(lower),
            _ => Self::Text(lower),
        })
    }

    fn matches(&self, name: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Pattern(pattern) => pattern::matches(pattern, &name.to_ascii_lowercase()),
            Self::Text(text) => memchr::memmem::find(&name.to_ascii_lowercase(), text).is_some(),
        }
    }
}

fn number(head: &RequestHead, name: &str, default: usize) -> Result<usize, ApiError> {
    match head.parameter(name).as_deref() {
        None | Some("") => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|_| ApiError::new(400, format!("{name} must be a number"))),
    }
}

/// `GET /api/filters?page=&per=&sort=&order=&search=`
pub(super) fn filters(web: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let page = number(head, "page", 1)?.max(1);
    let per = number(head, "per", PER_PAGE)?.clamp(1, MAX_PER_PAGE);
    let sort = SortBy::parse(&head.parameter("sort").unwrap_or_default()).ok_or_else(|| {
        let text = "sort by name, type, size, keys, capacity, fill, rate, left or ttl";
        ApiError::new(400, text)
    })?;
    let is_descending = match head.parameter("order").as_deref() {
        None | Some("" | "asc") => false,
        Some("desc") => true,
        Some(_) => return Err(ApiError::new(400, "the order is asc or desc")),
    };
    let search = Search::parse(&head.parameter("search").unwrap_or_default())?;
    let table = web.engine.filter_table.rows(&web.engine);
    let rows = table.rows.iter();
    let mut found: Vec<&FilterRow> = rows.filter(|row| search.matches(&row.name)).collect();
    let start = (page - 1).saturating_mul(per).min(found.len());
    let end = start.saturating_add(per).min(found.len());
    let compare = |one: &&FilterRow, other: &&FilterRow| sort.compare(one, other, is_descending);
    // Only what is before the end of the page needs to be in order.
    if end < found.len() {
        found.select_nth_unstable_by(end, compare);
    }
    let matching = found.len();
    found.truncate(end);
    found.sort_unstable_by(compare);
    let now = web.engine.clock.now();
    let shown = found.get(start..).unwrap_or_default().iter();
    Ok(json::answer(&FiltersJson {
        total: table.total,
        matching,
        is_cut: table.total > table.rows.len(),
        page,
        per,
        filters: shown.map(|row| FilterJson::row(web, row, now)).collect(),
    }))
}

/// A filter with what only the detail view shows.
#[derive(Serialize)]
struct FilterDetails {
    #[serde(flatten)]
    filter: FilterJson,
    bits: Option<u64>,
    probes: Option<u32>,
    /// The name of the served file and its format.
    file: Option<String>,
    format: Option<&'static str>,
    details: Map<String, Value>,
}

/// `GET /api/filter?key=...`
pub(super) fn filter(web: &Web, head: &RequestHead, _: &[u8]) -> Result<Answer, ApiError> {
    let key = head.parameter("key");
    let key = key.ok_or_else(|| ApiError::new(400, "name the filter: ?key=..."))?;
    let key = Encoding::in_query(head)?.decode(&key)?;
    let engine = &web.engine;
    let now = engine.clock.now();
    let entry = engine.keys.read(&key, now, |body| {
        let body = body.filter(|body| body.value.is_filter())?;
        Some((
            body.value.type_name(),
            body.size_bytes(&key),
            body.expires(),
        ))
    });
    let (row, served) = if let Some((type_name, size_bytes, expires)) = entry {
        let stats = engine.stats.one(engine, &key, now);
        let row = FilterRow {
            name: key.into(),
            type_name,
            size_bytes,
            expires,
            stats: stats.map(|found| (found.stats, found.at)),
        };
        (row, None)
    } else if let Some(served) = engine.files.get(&key) {
        let stats = served.description.stats;
        let row = FilterRow {
            name: key.into(),
            type_name: crate::files::TYPE_NAME,
            size_bytes: stats.size_bytes,
            expires: None,
            stats: Some((stats, now)),
        };
        (row, Some(served))
    } else {
        return Err(super::writes::missing(&key));
    };
    let description = served.as_ref().map(|served| &served.description);
    let details = description.map(|found| found.details.as_slice());
    let details = details.unwrap_or_default().iter().map(|(name, detail)| {
        let value = match detail {
            Detail::Number(number) => Value::from(*number),
            Detail::Text(text) => Value::from(text.as_str()),
            Detail::Flag(flag) => Value::from(*flag),
        };
        ((*name).to_owned(), value)
    });
    let name = (KeyName::new(&row.name), printable(&row.name, &[]));
    Ok(json::answer(&FilterDetails {
        bits: row.stat(|stats| stats.bits),
        probes: row.stat(|stats| stats.probes),
        file: served.as_ref().map(|served| served.file.clone()),
        format: description.map(|found| found.format.name()),
        details: details.collect(),
        filter: FilterJson::new(web, &row, now, name.0, name.1),
    }))
}
