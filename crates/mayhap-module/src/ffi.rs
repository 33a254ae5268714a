//! Everything that touches the engine, and everything that is unsafe. What the engine calls catches panics: one that left Rust would
//! take the engine with it.
//!
//! The functions of the engine are declared in `api` and not by a crate: of the crates for modules only these declarations would be
//! of use (their commands copy every word and let panics through), and they take a C compiler, libclang and forty more crates.

#![allow(unsafe_code, reason = "the engine speaks C")]

mod api;
mod docs;
mod fields;
mod load;
mod memory;
mod settings;
mod values;

use crate::commands;
use crate::host::Host;
use api::{
    Api, Ctx, DENIED_COMMAND, FLAG_LOADING, FLAG_READ_ONLY, FLAG_REPLICATED, FLAG_RESP3,
    KEY_TYPE_MODULE, NOT_SUPPORTED, NOTIFY_MODULE, OK, READ, RawKey, RawString, RawType, WRITE,
};
use mayhap_command::{Reply, Slot, TYPES};
use mayhap_core::Timestamp;
use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Set once, before anything else of this module runs.
static API: OnceLock<Api> = OnceLock::new();
static HOST: OnceLock<Host> = OnceLock::new();
/// The types of values, in the order of [`TYPES`].
static KINDS: [AtomicPtr<RawType>; TYPES.len()] =
    [const { AtomicPtr::new(null_mut()) }; TYPES.len()];
/// What all keys may take; 0 is no limit.
static MAX_MEMORY: AtomicU64 = AtomicU64::new(0);
/// Whether the engine forgets keys to make room.
static EVICTS: AtomicBool = AtomicBool::new(false);
/// Filters that there are now.
static FILTERS: AtomicU64 = AtomicU64::new(0);

/// The engine's functions.
fn api() -> &'static Api {
    API.get().expect("the engine has loaded the module")
}

/// A command that the engine has for us.
pub(crate) struct Call<'a> {
    ctx: *mut Ctx,
    strings: &'a [*mut RawString],
    words: &'a [&'a [u8]],
}

/// Where a command comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Client,
    /// Of a replica that takes changes from its primary only.
    ClientOfReplica,
    /// A primary, or an append-only file.
    AcceptedBefore,
}

/// What a key holds.
pub(crate) enum Held<T> {
    Missing,
    Other,
    Filter(T),
}

/// An open key.
pub(crate) struct Key<'a> {
    raw: *mut RawKey,
    _call: &'a Call<'a>,
}

impl<'a> Call<'a> {
    pub(crate) fn words(&self) -> &'a [&'a [u8]] {
        self.words
    }

    fn flags(&self) -> c_int {
        // SAFETY: the context is that of the command that runs.
        unsafe { (api().context_flags)(self.ctx) }
    }

    /// Where the command comes from.
    pub(crate) fn origin(&self) -> Origin {
        let flags = self.flags();
        if flags & (FLAG_REPLICATED | FLAG_LOADING) != 0 {
            Origin::AcceptedBefore
        } else if flags & FLAG_READ_ONLY != 0 {
            Origin::ClientOfReplica
        } else {
            Origin::Client
        }
    }

    /// Whether the caller may run the command that begins at this word, on its keys. The engine has checked the command that carries it,
    /// and this one only if we ask. Denials are in `ACL LOG`.
    pub(crate) fn may_run_carried(&self, first: usize) -> bool {
        if !self.has_user() {
            return true;
        }
        let carried = &self.strings[first..];
        // SAFETY: context and strings are those of the command that runs; a name and a user that are not null are ours to free, and are
        // not used after.
        unsafe {
            let name = (api().current_user_name)(self.ctx);
            if name.is_null() {
                return true;
            }
            let user = (api().user_of_name)(name);
            (api().free_string)(self.ctx, name);
            if user.is_null() {
                return false;
            }
            let count = carried.len().cast_signed() as c_int;
            let may_run = (api().check_permissions)(user, carried.as_ptr(), count) == OK;
            if !may_run {
                (api().log_denied)(self.ctx, user, carried[0], DENIED_COMMAND);
            }
            (api().free_user)(user);
            may_run
        }
    }

    /// Whether access rules hold for the caller. They do not for another module that calls as the unrestricted user, and Redis 7.0 crashes
    /// when it is asked for the name of that one. So it is asked to run an unknown command as the user of this call: it looks for the user
    /// first, and then for the command.
    fn has_user(&self) -> bool {
        // SAFETY: the context is that of the command that runs; texts end with a zero byte, and a reply is ours to free.
        unsafe {
            let reply = (api().call)(self.ctx, c"mayhap.unknown".as_ptr(), c"C".as_ptr());
            let error = std::io::Error::last_os_error();
            if !reply.is_null() {
                (api().free_call_reply)(reply);
            }
            error.raw_os_error() != Some(NOT_SUPPORTED)
        }
    }

    /// The time of a command: the same for all commands of a transaction, where the engine can tell it.
    pub(crate) fn now() -> Timestamp {
        // SAFETY: neither takes anything.
        let milliseconds = unsafe {
            match api().cached_microseconds {
                Some(cached) => cached() / 1000,
                None => (api().milliseconds)(),
            }
        };
        Timestamp(milliseconds.try_into().unwrap_or(0))
    }

    /// The engine's string that these bytes, one of the words, are of.
    fn string(&self, word: &[u8]) -> *mut RawString {
        let at = self
            .words
            .iter()
            .position(|other| std::ptr::eq(*other, word));
        self.strings[at.expect("one of the words")]
    }

    /// Opens the key that one of the words names.
    pub(crate) fn open(&'a self, word: &[u8], to_change: bool) -> Key<'a> {
        let mode = if to_change { READ | WRITE } else { READ };
        // SAFETY: context and string are those of the command that runs.
        let raw = unsafe { (api().open_key)(self.ctx, self.string(word), mode) };
        Key { raw, _call: self }
    }

    /// Opens keys to be read, which are words in this order.
    pub(crate) fn open_all(&'a self, keys: &[&[u8]]) -> Vec<Key<'a>> {
        let mut strings = self.words.iter().zip(self.strings);
        let open = |key: &&[u8]| {
            let (_, string) = strings.find(|(word, _)| std::ptr::eq(**word, *key))?;
            // SAFETY: context and string are those of the command that runs.
            let raw = unsafe { (api().open_key)(self.ctx, *string, READ) };
            Some(Key { raw, _call: self })
        };
        keys.iter().map_while(open).collect()
    }

    /// Passes the command on to replicas and the append-only file.
    pub(crate) fn replicate_as_it_came(&self) {
        // SAFETY: the context is that of the command that runs.
        unsafe { (api().replicate_verbatim)(self.ctx) };
    }

    /// Passes another command on.
    pub(crate) fn replicate(&self, words: &[Vec<u8>]) {
        let Some((name, words)) = words.split_first() else {
            return;
        };
        let strings = Strings::new(words.iter().map(Vec::as_slice));
        let name = c_string(name);
        // SAFETY: "v" takes a vector of strings and its length; both live until the call is over.
        unsafe {
            (api().replicate)(
                self.ctx,
                name.as_ptr(),
                c"v".as_ptr(),
                strings.0.as_ptr(),
                strings.0.len(),
            );
        }
    }

    /// Tells those who watch the key.
    pub(crate) fn signal_changed(&self, key: &[u8]) {
        // SAFETY: context and string are those of the command that runs.
        unsafe { (api().signal_modified)(self.ctx, self.string(key)) };
    }

    /// Sends the event of a key, which is the name of the command in lower case.
    pub(crate) fn notify(&self, key: &[u8], event: &str) {
        let event = c_string(event.as_bytes());
        // SAFETY: as above, and the event ends with a zero byte.
        unsafe { (api().notify)(self.ctx, NOTIFY_MODULE, event.as_ptr(), self.string(key)) };
    }

    pub(crate) fn reply(&self, reply: &Reply) {
        let (api, ctx) = (api(), self.ctx);
        let is_resp3 = || self.flags() & FLAG_RESP3 != 0;
        // SAFETY: the context is that of the command that runs; texts end with a zero byte and live until the call is over, and the
        // numbers of elements are followed by so many.
        unsafe {
            match reply {
                Reply::Simple(text) => (api.reply_simple)(ctx, c_string(text.as_bytes()).as_ptr()),
                Reply::Error(text) => (api.reply_error)(ctx, c_string(text.as_bytes()).as_ptr()),
                Reply::Integer(number) => (api.reply_integer)(ctx, *number),
                Reply::Boolean(yes) => (api.reply_boolean)(ctx, (*yes).into()),
                Reply::Refused if is_resp3() => (api.reply_boolean)(ctx, 0),
                Reply::Refused => (api.reply_integer)(ctx, -1),
                Reply::Double(number) if is_resp3() => (api.reply_double)(ctx, *number),
                Reply::Double(number) => self.reply_bulk(number.to_string().as_bytes()),
                Reply::Bulk(bytes) => self.reply_bulk(bytes),
                Reply::Null => (api.reply_null)(ctx),
                Reply::Array(replies) => {
                    (api.reply_array)(ctx, replies.len().cast_signed() as c_long);
                    for reply in replies {
                        self.reply(reply);
                    }
                    OK
                }
                Reply::Booleans(answers) => {
                    (api.reply_array)(ctx, answers.len().cast_signed() as c_long);
                    for &answer in answers {
                        (api.reply_boolean)(ctx, answer.into());
                    }
                    OK
                }
                Reply::Fields(fields) => {
                    (api.reply_map)(ctx, fields.len().cast_signed() as c_long);
                    for (name, value) in fields {
                        (api.reply_simple)(ctx, c_string(name.as_bytes()).as_ptr());
                        self.reply(value);
                    }
                    OK
                }
                Reply::Field(name, value) => {
                    if is_resp3() {
                        (api.reply_map)(ctx, 1);
                        (api.reply_simple)(ctx, c_string(name.as_bytes()).as_ptr());
                    } else {
                        (api.reply_array)(ctx, 1);
                    }
                    self.reply(value);
                    OK
                }
            };
        }
    }

    fn reply_bulk(&self, bytes: &[u8]) -> c_int {
        // SAFETY: the context is that of the command that runs, and pointer and length are those of the bytes.
        unsafe { (api().reply_bulk)(self.ctx, bytes.as_ptr().cast(), bytes.len()) }
    }
}

impl Key<'_> {
    fn filter(&self) -> Held<*mut Slot> {
        if self.raw.is_null() {
            return Held::Missing;
        }
        // SAFETY: the key is open.
        let kind = unsafe { (api().key_type)(self.raw) };
        if kind == 0 {
            return Held::Missing;
        }
        // SAFETY: the key is open; only a module's value has a type of a module's.
        let is_ours = kind == KEY_TYPE_MODULE && is_ours(unsafe { (api().value_type)(self.raw) });
        if !is_ours {
            return Held::Other;
        }
        // SAFETY: values of our types are slots.
        Held::Filter(unsafe { (api().value)(self.raw) }.cast())
    }

    pub(crate) fn held(&self) -> Held<&Slot> {
        match self.filter() {
            Held::Missing => Held::Missing,
            Held::Other => Held::Other,
            // SAFETY: the value lives as long as the key is open, and is changed through a key that is borrowed for it only.
            Held::Filter(slot) => Held::Filter(unsafe { &*slot }),
        }
    }

    /// Of a key that was opened to be changed.
    pub(crate) fn held_mut(&mut self) -> Held<&mut Slot> {
        match self.filter() {
            Held::Missing => Held::Missing,
            Held::Other => Held::Other,
            // SAFETY: as above; commands open no key twice, and run one at a time.
            Held::Filter(slot) => Held::Filter(unsafe { &mut *slot }),
        }
    }

    /// Puts a filter into the key, in place of what it holds.
    pub(crate) fn put(&mut self, slot: Slot) {
        let name = slot.type_name().as_bytes();
        let Some(number) = TYPES.iter().position(|(kind, _)| *kind == name) else {
            return;
        };
        let kind = KINDS[number].load(Ordering::Relaxed);
        // SAFETY: the key is open to be changed; the engine gives the value back to `on_free` of its type.
        unsafe { (api().set_value)(self.raw, kind, into_value(slot)) };
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it is open, and not used after.
            unsafe { (api().close_key)(self.raw) };
        }
    }
}

fn is_ours(kind: *mut RawType) -> bool {
    KINDS
        .iter()
        .any(|ours| ours.load(Ordering::Relaxed) == kind)
}

fn into_value(slot: Slot) -> *mut c_void {
    FILTERS.fetch_add(1, Ordering::Relaxed);
    Box::into_raw(Box::new(slot)).cast()
}

/// What new memory may be taken, as far as the engine has a limit. One that forgets keys makes room, but for no more than there is
/// in all: a filter beyond that would be forgotten itself, after everything else.
pub(crate) fn memory_left() -> u64 {
    let most = MAX_MEMORY.load(Ordering::Relaxed);
    if most == 0 {
        return u64::MAX;
    }
    if EVICTS.load(Ordering::Relaxed) {
        return most;
    }
    // SAFETY: it takes nothing.
    let used = f64::from(unsafe { (api().used_memory_ratio)() });
    (most as f64 * (1.0 - used).max(0.0)) as u64
}

/// Whether so much memory is to be had at all. Rust ends the process when a copy of something does not find its memory.
pub(crate) fn can_take(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    if bytes == 0 {
        return true;
    }
    // SAFETY: any size may be asked for, and what was given is given back. It is not touched.
    unsafe {
        let probe = (api().try_alloc)(bytes);
        if !probe.is_null() {
            (api().free)(probe);
        }
        !probe.is_null()
    }
}

/// Text for C: up to its first zero byte, which none of ours has.
fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0);
    CString::new(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or_default()
}

/// Strings of the engine's that are ours.
struct Strings(Vec<*mut RawString>);

impl Strings {
    fn new<'a>(words: impl Iterator<Item = &'a [u8]>) -> Self {
        Self(words.map(new_string).collect())
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        for &string in &self.0 {
            // SAFETY: it was made without a context, and is not used after.
            unsafe { (api().free_string)(null_mut(), string) };
        }
    }
}

fn new_string(bytes: &[u8]) -> *mut RawString {
    // SAFETY: pointer and length are those of the bytes, which are copied; without a context the string is ours.
    unsafe { (api().create_string)(null_mut(), bytes.as_ptr().cast(), bytes.len()) }
}

/// # Safety
/// The string must live for `'a` and not be changed.
unsafe fn bytes_of<'a>(string: *const RawString) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: the caller's; the engine gives a pointer to so many bytes.
    unsafe {
        let start = (api().string_bytes)(string, &raw mut length);
        slice_of(start, length)
    }
}

/// # Safety
/// There must be so many bytes, or none and a null pointer.
unsafe fn slice_of<'a>(start: *const c_char, length: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { slice::from_raw_parts(start.cast(), length) }
}

/// Runs what the engine asked for; what it gets when there was a panic, which has been written to its standard error.
fn caught<T>(otherwise: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(otherwise)
}

/// Commands with at most so many words take no memory for them.
const FEW: usize = 8;

/// # Safety
/// The engine calls it with a context and words that live until it returns. The same holds for all functions below.
unsafe extern "C" fn on_command(
    ctx: *mut Ctx,
    strings: *mut *mut RawString,
    count: c_int,
) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the engine's.
        let strings = unsafe { slice::from_raw_parts(strings.cast_const(), count as usize) };
        // SAFETY: the words live as long as the command runs.
        let word = |string: &*mut RawString| unsafe { bytes_of(*string) };
        let mut few = [&[][..]; FEW];
        let many: Vec<&[u8]>;
        let words = if let Some(few) = few.get_mut(..strings.len()) {
            for (place, string) in few.iter_mut().zip(strings) {
                *place = word(string);
            }
            &*few
        } else {
            many = strings.iter().map(word).collect();
            &many
        };
        let call = Call {
            ctx,
            strings,
            words,
        };
        if let Some(host) = HOST.get() {
            commands::run(&call, host);
        }
    }));
    if done.is_err() {
        let text = c"ERR an error inside of mayhap: please report it with the command and the engine's log";
        // SAFETY: the context is that of the command that runs.
        unsafe { (api().reply_error)(ctx, text.as_ptr()) };
    }
    OK
}
