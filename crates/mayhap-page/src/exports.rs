//! The functions that the page calls as WebAssembly.
//!
//! A request is written to a buffer of the module and an answer read from it: `mayhap_input(length)` makes room for a request and
//! returns its place, `mayhap_call()` answers it and returns the length of the answer, `mayhap_output()` its place. A request is a
//! line of JSON, `{"call": "plan" | "inspect" | "check" | "demo", "options": [[name, value], ...], ...}`, and after the line end the
//! bytes of a file.
//!
//! The pointers are only handed out, never followed here, so there is no unsafe code but the names of the functions.

use crate::{Options, PageError, check, demo, inspect, plan};
use serde_json::Value;
use std::cell::RefCell;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request; 0 if there is not enough memory.
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "the page finds the function by name"),
    unsafe(no_mangle)
)]
pub(crate) extern "C" fn mayhap_input(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        if buffer.try_reserve_exact(length).is_err() {
            return std::ptr::null_mut();
        }
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Answers the request, and returns the length of the answer.
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "the page finds the function by name"),
    unsafe(no_mangle)
)]
pub(crate) extern "C" fn mayhap_call() -> usize {
    BUFFER.with_borrow_mut(|buffer| {
        let request = std::mem::take(buffer);
        let answer = answer(&request).unwrap_or_else(|error| error.to_json());
        drop(request);
        *buffer = answer.to_string().into_bytes();
        buffer.len()
    })
}

/// Where the answer is.
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "the page finds the function by name"),
    unsafe(no_mangle)
)]
pub(crate) extern "C" fn mayhap_output() -> *const u8 {
    BUFFER.with_borrow(Vec::as_ptr)
}

fn answer(request: &[u8]) -> Result<Value, PageError> {
    let end = request.iter().position(|&byte| byte == b'\n');
    let (line, bytes) = match end {
        Some(end) => (&request[..end], &request[end + 1..]),
        None => (request, &[][..]),
    };
    let request: Value = serde_json::from_slice(line)
        .map_err(|error| PageError::new(format!("not a request: {error}")))?;
    let options = || {
        let pairs = request["options"].as_array().into_iter().flatten();
        Options::new(pairs.map(|pair| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&pair[0]), text(&pair[1]))
        }))
    };
    match request["call"].as_str() {
        Some("plan") => plan(&options()),
        Some("inspect") => inspect(bytes, &options()),
        Some("check") => {
            let keys = request["keys"].as_array().into_iter().flatten();
            let keys: Vec<String> = keys
                .filter_map(|key| key.as_str().map(str::to_owned))
                .collect();
            check(bytes, &keys, &options())
        }
        Some("demo") => demo(&request["demo"]),
        _ => Err(PageError::new(
            "not a request: call plan, inspect, check or demo",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(request: &str) -> Value {
        let request = request.as_bytes();
        assert!(!mayhap_input(request.len()).is_null());
        BUFFER.with_borrow_mut(|buffer| buffer.copy_from_slice(request));
        let length = mayhap_call();
        assert!(!mayhap_output().is_null());
        BUFFER.with_borrow(|buffer| {
            assert_eq!(buffer.len(), length);
            serde_json::from_slice(buffer).unwrap()
        })
    }

    #[test]
    fn a_request_is_answered_and_a_wrong_one_explained() {
        let plan = call(r#"{"call": "plan", "options": [["keys", "1000"], ["fpr", "0.01"]]}"#);
        assert_eq!(plan["keys"], 1000);
        for wrong in ["", "{", "{}", "[]", r#"{"call": "plan", "options": 7}"#] {
            assert!(call(wrong)["error"].is_string(), "{wrong}");
        }
        let text = call("{\"call\": \"inspect\"}\nsome text\n");
        assert!(text["error"].as_str().unwrap().contains("text"));
    }
}
