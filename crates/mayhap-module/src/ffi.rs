//! The interface to the engine, and all unsafe code. Functions that the engine calls catch panics, which would otherwise crash the engine.
//!
//! `api` declares the engine's functions instead of using a crate: of the crates for modules only these declarations would be useful (their
//! commands copy every argument and let panics through), and they need a C compiler, libclang and forty more crates.

#![allow(unsafe_code, reason = "the engine's API is C")]

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

/// Set once, before anything else in this module runs.
static API: OnceLock<Api> = OnceLock::new();
static HOST: OnceLock<Host> = OnceLock::new();
/// The types of values, in the order of [`TYPES`].
static KINDS: [AtomicPtr<RawType>; TYPES.len()] =
    [const { AtomicPtr::new(null_mut()) }; TYPES.len()];
/// The memory limit of all keys; 0 is no limit.
static MAX_MEMORY: AtomicU64 = AtomicU64::new(0);
/// Whether the engine evicts keys to make room.
static EVICTS: AtomicBool = AtomicBool::new(false);
/// The number of filters.
static FILTERS: AtomicU64 = AtomicU64::new(0);

/// The engine's functions.
fn api() -> &'static Api {
    API.get().expect("the engine has loaded the module")
}

/// A call of one of our commands by the engine.
pub(crate) struct Call<'a> {
    ctx: *mut Ctx,
    strings: &'a [*mut RawString],
    args: &'a [&'a [u8]],
}

/// Where a command comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Client,
    /// A client of a replica that accepts writes from its primary only.
    ClientOfReplica,
    /// A primary, or an append-only file.
    AcceptedBefore,
}

/// The value of a key.
pub(crate) enum KeyValue<T> {
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
    /// The arguments, the name of the command first.
    pub(crate) fn args(&self) -> &'a [&'a [u8]] {
        self.args
    }

    fn flags(&self) -> c_int {
        // SAFETY: the context is that of the running command.
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

    /// Whether the caller may run the command that begins at this argument, on its keys. The engine has checked only the command that carries
    /// it. Denials are written to `ACL LOG`.
    pub(crate) fn may_run_carried(&self, first: usize) -> bool {
        if !self.has_user() {
            return true;
        }
        let carried = &self.strings[first..];
        // SAFETY: context and strings are those of the running command; a name and a user that are not null are ours to free, and are not
        // used afterwards.
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

    /// Whether access rules apply to the caller. They do not if another module calls as the unrestricted user, and Redis 7.0 crashes when
    /// asked for the name of that user. So this runs an unknown command as the user of this call: the engine looks up the user first, and the
    /// command second.
    fn has_user(&self) -> bool {
        // SAFETY: the context is that of the running command; texts end with a zero byte, and a reply is ours to free.
        unsafe {
            let reply = (api().call)(self.ctx, c"mayhap.unknown".as_ptr(), c"C".as_ptr());
            let error = std::io::Error::last_os_error();
            if !reply.is_null() {
                (api().free_call_reply)(reply);
            }
            error.raw_os_error() != Some(NOT_SUPPORTED)
        }
    }

    /// The time of the command. It is the same for all commands of a transaction, if the engine supports that.
    pub(crate) fn now() -> Timestamp {
        // SAFETY: neither function has arguments.
        let milliseconds = unsafe {
            match api().cached_microseconds {
                Some(cached) => cached() / 1000,
                None => (api().milliseconds)(),
            }
        };
        Timestamp(milliseconds.try_into().unwrap_or(0))
    }

    /// The engine's string of an argument.
    fn string(&self, argument: &[u8]) -> *mut RawString {
        let at = self
            .args
            .iter()
            .position(|other| std::ptr::eq(*other, argument));
        self.strings[at.expect("one of the arguments")]
    }

    /// Opens the key that an argument names.
    pub(crate) fn open(&'a self, argument: &[u8], to_write: bool) -> Key<'a> {
        let mode = if to_write { READ | WRITE } else { READ };
        // SAFETY: context and string are those of the running command.
        let raw = unsafe { (api().open_key)(self.ctx, self.string(argument), mode) };
        Key { raw, _call: self }
    }

    /// Opens keys for reading; they are arguments in this order.
    pub(crate) fn open_all(&'a self, keys: &[&[u8]]) -> Vec<Key<'a>> {
        let mut strings = self.args.iter().zip(self.strings);
        let open = |key: &&[u8]| {
            let (_, string) = strings.find(|(argument, _)| std::ptr::eq(**argument, *key))?;
            // SAFETY: context and string are those of the running command.
            let raw = unsafe { (api().open_key)(self.ctx, *string, READ) };
            Some(Key { raw, _call: self })
        };
        keys.iter().map_while(open).collect()
    }

    /// Sends the command to replicas and the append-only file.
    pub(crate) fn replicate_verbatim(&self) {
        // SAFETY: the context is that of the running command.
        unsafe { (api().replicate_verbatim)(self.ctx) };
    }

    /// Sends another command to replicas and the append-only file.
    pub(crate) fn replicate(&self, command: &[Vec<u8>]) {
        let Some((name, args)) = command.split_first() else {
            return;
        };
        let strings = Strings::new(args.iter().map(Vec::as_slice));
        let name = c_string(name);
        // SAFETY: "v" takes a vector of strings and its length; both live until the call returns.
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

    /// Marks the key as modified for clients that watch it.
    pub(crate) fn signal_changed(&self, key: &[u8]) {
        // SAFETY: context and string are those of the running command.
        unsafe { (api().signal_modified)(self.ctx, self.string(key)) };
    }

    /// Sends a keyspace event: the name of the command in lower case.
    pub(crate) fn notify(&self, key: &[u8], event: &str) {
        let event = c_string(event.as_bytes());
        // SAFETY: as above, and the event ends with a zero byte.
        unsafe { (api().notify)(self.ctx, NOTIFY_MODULE, event.as_ptr(), self.string(key)) };
    }

    pub(crate) fn reply(&self, reply: &Reply) {
        let (api, ctx) = (api(), self.ctx);
        let is_resp3 = || self.flags() & FLAG_RESP3 != 0;
        // SAFETY: the context is that of the running command; texts end with a zero byte and live until the call returns, and
        // the announced number of elements follows.
        unsafe {
            match reply {
                Reply::Simple(text) => (api.reply_simple)(ctx, c_string(text.as_bytes()).as_ptr()),
                Reply::Error(text) => (api.reply_error)(ctx, c_string(text.as_bytes()).as_ptr()),
                Reply::Integer(number) => (api.reply_integer)(ctx, *number),
                Reply::Boolean(yes) => (api.reply_boolean)(ctx, (*yes).into()),
                Reply::NotAdded if is_resp3() => (api.reply_boolean)(ctx, 0),
                Reply::NotAdded => (api.reply_integer)(ctx, -1),
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
        // SAFETY: the context is that of the running command, and pointer and length are those of the bytes.
        unsafe { (api().reply_bulk)(self.ctx, bytes.as_ptr().cast(), bytes.len()) }
    }
}

impl Key<'_> {
    fn filter(&self) -> KeyValue<*mut Slot> {
        if self.raw.is_null() {
            return KeyValue::Missing;
        }
        // SAFETY: the key is open.
        let kind = unsafe { (api().key_type)(self.raw) };
        if kind == 0 {
            return KeyValue::Missing;
        }
        // SAFETY: the key is open; only a module's value has a type of a module's.
        let is_ours = kind == KEY_TYPE_MODULE && is_ours(unsafe { (api().value_type)(self.raw) });
        if !is_ours {
            return KeyValue::Other;
        }
        // SAFETY: values of our types are slots.
        KeyValue::Filter(unsafe { (api().value)(self.raw) }.cast())
    }

    pub(crate) fn value(&self) -> KeyValue<&Slot> {
        match self.filter() {
            KeyValue::Missing => KeyValue::Missing,
            KeyValue::Other => KeyValue::Other,
            // SAFETY: the value lives as long as the key is open, and is changed only through a mutably borrowed key.
            KeyValue::Filter(slot) => KeyValue::Filter(unsafe { &*slot }),
        }
    }

    /// The key must have been opened for writing.
    pub(crate) fn value_mut(&mut self) -> KeyValue<&mut Slot> {
        match self.filter() {
            KeyValue::Missing => KeyValue::Missing,
            KeyValue::Other => KeyValue::Other,
            // SAFETY: as above; commands do not open a key twice, and run one at a time.
            KeyValue::Filter(slot) => KeyValue::Filter(unsafe { &mut *slot }),
        }
    }

    /// Sets the value of the key to a filter.
    pub(crate) fn put(&mut self, slot: Slot) {
        let name = slot.type_name().as_bytes();
        let Some(number) = TYPES.iter().position(|(kind, _)| *kind == name) else {
            return;
        };
        let kind = KINDS[number].load(Ordering::Relaxed);
        // SAFETY: the key is open for writing; the engine passes the value to `on_free` of its type.
        unsafe { (api().set_value)(self.raw, kind, into_value(slot)) };
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: it is open, and not used afterwards.
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

/// The memory that may still be allocated under the engine's limit. An engine that evicts keys makes room up to its whole limit; a larger
/// filter would be evicted itself, after everything else.
pub(crate) fn memory_left() -> u64 {
    let max_memory = MAX_MEMORY.load(Ordering::Relaxed);
    if max_memory == 0 {
        return u64::MAX;
    }
    if EVICTS.load(Ordering::Relaxed) {
        return max_memory;
    }
    // SAFETY: it has no arguments.
    let used = f64::from(unsafe { (api().used_memory_ratio)() });
    (max_memory as f64 * (1.0 - used).max(0.0)) as u64
}

/// Whether this much memory can be allocated at all. Rust aborts the process when an ordinary allocation fails.
pub(crate) fn can_allocate(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else {
        return false;
    };
    if bytes == 0 {
        return true;
    }
    // SAFETY: any size may be requested; the block is freed and never accessed.
    unsafe {
        let probe = (api().try_alloc)(bytes);
        if !probe.is_null() {
            (api().free)(probe);
        }
        !probe.is_null()
    }
}

/// A C string: the text up to its first zero byte, which ours do not have.
fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0);
    CString::new(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or_default()
}

/// Strings of the engine that we own.
struct Strings(Vec<*mut RawString>);

impl Strings {
    fn new<'a>(texts: impl Iterator<Item = &'a [u8]>) -> Self {
        Self(texts.map(new_string).collect())
    }
}

impl Drop for Strings {
    fn drop(&mut self) {
        for &string in &self.0 {
            // SAFETY: it was created without a context, and is not used afterwards.
            unsafe { (api().free_string)(null_mut(), string) };
        }
    }
}

fn new_string(bytes: &[u8]) -> *mut RawString {
    // SAFETY: pointer and length are those of the bytes, which are copied; a string without a context is ours.
    unsafe { (api().create_string)(null_mut(), bytes.as_ptr().cast(), bytes.len()) }
}

/// # Safety
/// The string must live for `'a` and not be changed.
unsafe fn bytes_of<'a>(string: *const RawString) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: guaranteed by the caller; the engine returns a pointer to this many bytes.
    unsafe {
        let start = (api().string_bytes)(string, &raw mut length);
        slice_of(start, length)
    }
}

/// # Safety
/// There must be this many bytes, or a null pointer.
unsafe fn slice_of<'a>(start: *const c_char, length: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice::from_raw_parts(start.cast(), length) }
}

/// Runs a callback of the engine and catches panics; then it returns `otherwise`. The panic hook has logged the panic.
fn catch_panic<T>(otherwise: T, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(otherwise)
}

/// Commands with at most this many arguments do not allocate memory for them.
const FEW_ARGS: usize = 8;

/// # Safety
/// The engine calls it with a context and arguments that live until it returns.
unsafe extern "C" fn on_command(
    ctx: *mut Ctx,
    strings: *mut *mut RawString,
    count: c_int,
) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: pointer and count are the engine's.
        let strings = unsafe { slice::from_raw_parts(strings.cast_const(), count as usize) };
        // SAFETY: the arguments live as long as the command runs.
        let argument = |string: &*mut RawString| unsafe { bytes_of(*string) };
        let mut few = [&[][..]; FEW_ARGS];
        let many: Vec<&[u8]>;
        let args = if let Some(few) = few.get_mut(..strings.len()) {
            for (place, string) in few.iter_mut().zip(strings) {
                *place = argument(string);
            }
            &*few
        } else {
            many = strings.iter().map(argument).collect();
            &many
        };
        let call = Call { ctx, strings, args };
        if let Some(host) = HOST.get() {
            commands::run(&call, host);
        }
    }));
    if done.is_err() {
        let text =
            c"ERR internal error in mayhap: please report it with the command and the engine's log";
        // SAFETY: the context is that of the running command.
        unsafe { (api().reply_error)(ctx, text.as_ptr()) };
    }
    OK
}
