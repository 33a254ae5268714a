//! `POST /api/add`, `/api/query`, `/api/reserve` and `/api/delete`: commands in JSON.

use super::Web;
use super::call::CommandReply;
use super::error::ApiError;
use super::json::{self, Encoding, KeyName};
use crate::net::http::{Answer, RequestHead};
use crate::printable::printable;
use serde::Deserialize;
use serde_json::{Value, json};

/// The maximum number of items in one request.
const MAX_ITEMS: usize = 10_000;

/// The commands for a type of filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Bloom,
    Cuckoo,
    Counting,
    /// A file in the data folder: it can only be queried.
    File,
}

pub(super) fn missing(key: &[u8]) -> ApiError {
    let name: String = printable(key, &[]).chars().take(100).collect();
    ApiError::new(404, format!("there is no filter {name}: create it first"))
}

impl Web {
    fn family(&self, key: &[u8]) -> Result<Family, ApiError> {
        let engine = &self.engine;
        let name = engine.keys.read(key, engine.clock.now(), |body| {
            body.map(|body| body.value.type_name())
        });
        match name {
            Some("MBbloom--" | "mayhap-bf") => Ok(Family::Bloom),
            Some("MBbloomCF" | "mayhap-cf") => Ok(Family::Cuckoo),
            Some("mayhap-cb") => Ok(Family::Counting),
            Some(_) => Err(ApiError::new(
                409,
                "this key is not a filter: choose another one",
            )),
            None if engine.files.contains(key) => Ok(Family::File),
            None => Err(missing(key)),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemsBody {
    key: String,
    items: Vec<String>,
    /// Of the key and the items.
    #[serde(default)]
    encoding: Encoding,
}

impl ItemsBody {
    fn parse(body: &[u8]) -> Result<(Vec<u8>, Vec<Vec<u8>>), ApiError> {
        let Self {
            key,
            items,
            encoding,
        } = json::body(body)?;
        if items.is_empty() || items.len() > MAX_ITEMS {
            let text = format!("send between 1 and {MAX_ITEMS} items");
            return Err(ApiError::new(400, text));
        }
        let items = items.iter().map(|item| encoding.decode(item));
        Ok((encoding.decode(&key)?, items.collect::<Result<_, _>>()?))
    }
}

/// The words of a command on a key and items.
fn words<'w>(start: &[&'w [u8]], items: &'w [Vec<u8>]) -> Vec<&'w [u8]> {
    let start = start.iter().copied();
    start.chain(items.iter().map(Vec::as_slice)).collect()
}

/// The replies for each item: 1 and 0 as booleans, anything else as its error.
fn per_item(reply: CommandReply) -> Value {
    match reply {
        CommandReply::Array(replies) => replies.into_iter().map(per_item).collect(),
        CommandReply::Integer(number @ (0 | 1)) => Value::from(number == 1),
        CommandReply::Integer(-1) => Value::from("the filter is full"),
        CommandReply::Integer(number) => Value::from(number),
        CommandReply::Error(text) | CommandReply::Text(text) => Value::from(text),
        CommandReply::Null => Value::Null,
    }
}

/// `POST /api/add {"key", "items", "encoding"}`: whether each item is new.
pub(super) fn add(web: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let (key, items) = ItemsBody::parse(body)?;
    let start: &[&[u8]] = match web.family(&key)? {
        // Without creating the filter if it has vanished meanwhile.
        Family::Bloom => &[b"BF.INSERT", &key, b"NOCREATE", b"ITEMS"],
        Family::Cuckoo => &[b"CF.INSERT", &key, b"NOCREATE", b"ITEMS"],
        Family::Counting => &[b"CBF.MADD", &key],
        Family::File => return Err(ApiError::from_reply(crate::files::READ_ONLY)),
    };
    let reply = web.call(head, &words(start, &items))?;
    Ok(json::answer(&json!({ "added": per_item(reply) })))
}

/// `POST /api/query {"key", "items", "encoding"}`: whether each item may be in the filter.
pub(super) fn query(web: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let (key, items) = ItemsBody::parse(body)?;
    let command: &[u8] = match web.family(&key)? {
        Family::Bloom | Family::File => b"BF.MEXISTS",
        Family::Cuckoo => b"CF.MEXISTS",
        Family::Counting => b"CBF.MEXISTS",
    };
    let reply = web.call(head, &words(&[command, &key], &items))?;
    Ok(json::answer(&json!({ "found": per_item(reply) })))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReserveKind {
    Bloom,
    Cuckoo,
    Counting,
    Window,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReserveBody {
    key: String,
    #[serde(default)]
    encoding: Encoding,
    kind: ReserveKind,
    capacity: u64,
    /// The false-positive rate.
    rate: Option<f64>,
    /// Of Bloom and cuckoo filters: 0 means that the filter does not grow.
    expansion: Option<u32>,
    /// The window of a filter that forgets.
    seconds: Option<u64>,
}

/// `POST /api/reserve {"key", "encoding", "kind", "capacity", "rate", "expansion", "seconds"}`
pub(super) fn reserve(web: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let body: ReserveBody = json::body(body)?;
    let key = body.encoding.decode(&body.key)?;
    if key.is_empty() {
        return Err(ApiError::new(400, "the filter needs a name"));
    }
    let kind = body.kind;
    let wrong = |text: &str| Err(ApiError::new(400, text));
    if (kind == ReserveKind::Window) != body.seconds.is_some() {
        return wrong("seconds are for the kind window, which needs them");
    }
    if body.expansion.is_some() && matches!(kind, ReserveKind::Counting | ReserveKind::Window) {
        return wrong("expansion is for the kinds bloom and cuckoo");
    }
    if body.rate.is_none() && kind != ReserveKind::Cuckoo {
        return wrong("this kind needs a rate, such as 0.01");
    }
    let capacity = body.capacity.to_string();
    let rate = body.rate.map(|rate| rate.to_string()).unwrap_or_default();
    let seconds = body
        .seconds
        .map(|time| time.to_string())
        .unwrap_or_default();
    let expansion = body.expansion.map(|number| number.to_string());
    let mut words: Vec<&[u8]> = match kind {
        ReserveKind::Bloom => vec![b"BF.RESERVE", &key, rate.as_bytes(), capacity.as_bytes()],
        ReserveKind::Cuckoo => vec![b"CF.RESERVE", &key, capacity.as_bytes()],
        ReserveKind::Counting => vec![b"CBF.RESERVE", &key, rate.as_bytes(), capacity.as_bytes()],
        ReserveKind::Window => vec![
            b"BF.WINDOW",
            &key,
            rate.as_bytes(),
            capacity.as_bytes(),
            seconds.as_bytes(),
        ],
    };
    match (kind, &expansion) {
        (ReserveKind::Bloom, Some(number)) if number == "0" => words.push(b"NONSCALING"),
        (_, Some(number)) => words.extend([&b"EXPANSION"[..], number.as_bytes()]),
        (_, None) => {}
    }
    if kind == ReserveKind::Cuckoo && body.rate.is_some() {
        words.extend([&b"ERROR"[..], rate.as_bytes()]);
    }
    web.call(head, &words)?;
    Ok(json::answer(&KeyName::new(&key)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteBody {
    key: String,
    #[serde(default)]
    encoding: Encoding,
}

/// `POST /api/delete {"key", "encoding"}`
pub(super) fn delete(web: &Web, head: &RequestHead, body: &[u8]) -> Result<Answer, ApiError> {
    let body: DeleteBody = json::body(body)?;
    let key = body.encoding.decode(&body.key)?;
    // Only filters: a string may be somebody's data that this page does not even show.
    web.family(&key)?;
    match web.call(head, &[b"DEL", &key])? {
        CommandReply::Integer(1) => Ok(json::answer(&json!({ "deleted": true }))),
        _ => Err(missing(&key)),
    }
}
