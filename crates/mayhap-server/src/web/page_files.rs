//! The files of the page, which are part of the program.

use crate::net::http::{HttpResponse, RequestHead};
use crate::page::{FILES, PageFile};
use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

/// Nothing from other hosts, nothing inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The entity tags of the files, in the same order.
static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    // Another run has other tags; then browsers load the files once more.
    let state = std::hash::RandomState::new();
    let tag = |file: &PageFile| {
        let mut hasher = state.build_hasher();
        hasher.write(file.text.as_bytes());
        format!("\"{:016x}\"", hasher.finish())
    };
    FILES.iter().map(tag).collect()
});

fn position(path: &str) -> Option<usize> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    FILES.binary_search_by_key(&name, |file| file.name).ok()
}

/// Whether there is such a file.
pub(super) fn exists(path: &str) -> bool {
    position(path).is_some()
}

/// A file of the page.
pub(super) fn respond(head: &RequestHead) -> Option<HttpResponse> {
    let at = position(&head.path)?;
    let file = FILES.get(at)?;
    let tag = TAGS.get(at)?;
    let is_known = head
        .header("if-none-match")
        .is_some_and(|tags| tags.split(',').any(|known| known.trim() == tag));
    let response = if is_known {
        HttpResponse::new(304, file.content_type(), &b""[..])
    } else {
        HttpResponse::new(
            200,
            file.content_type(),
            Cow::Borrowed(file.text.as_bytes()),
        )
    };
    Some(
        response
            .with("ETag", tag.clone())
            // Kept, but checked each time: a new program has new files.
            .with("Cache-Control", "no-cache")
            .with("Content-Security-Policy", POLICY),
    )
}
