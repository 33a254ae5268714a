//! The functions, structures and constants of `redismodule.h`, as of Redis 7.0. Valkey has them under the same names.

#![allow(unsafe_code, reason = "the engine's API is C")]

use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

/// Opaque types of the engine.
macro_rules! opaque {
    ($($name:ident),*) => { $(#[repr(C)] pub(crate) struct $name { _private: [u8; 0] })* };
}
opaque!(
    Ctx, RawString, RawKey, RawType, RawCommand, Io, Digest, InfoCtx, DefragCtx, ServerInfo, User,
    CallReply
);

pub(super) type OnCommand = unsafe extern "C" fn(*mut Ctx, *mut *mut RawString, c_int) -> c_int;
pub(super) type OnGet = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut RawString;
pub(super) type OnSet =
    unsafe extern "C" fn(*const c_char, *mut RawString, *mut c_void, *mut *mut RawString) -> c_int;
pub(super) type OnEvent = unsafe extern "C" fn(*mut Ctx, Event, u64, *mut c_void);
pub(super) type OnInfo = unsafe extern "C" fn(*mut InfoCtx, c_int);

/// Declares [`Api`]: the engine's functions and their names.
macro_rules! api {
    (
        all { $($field:ident = $name:literal: fn($($argument:ty),* $(; $dots:tt)?) $(-> $result:ty)?;)* }
        some { $($(#[$meta:meta])* $field_some:ident = $name_some:literal: fn($($argument_some:ty),*) $(-> $result_some:ty)?;)* }
    ) => {
        pub(super) struct Api {
            $(pub(super) $field: unsafe extern "C" fn($($argument),* $(, $dots)?) $(-> $result)?,)*
            $($(#[$meta])* pub(super) $field_some: Option<unsafe extern "C" fn($($argument_some),*) $(-> $result_some)?>,)*
        }

        impl Api {
            /// Looks up all functions; the error is the name of one that the engine lacks.
            ///
            /// # Safety
            /// `ctx` must be the context that the engine loads the module with.
            pub(super) unsafe fn find(ctx: *mut Ctx) -> Result<Self, &'static CStr> {
                // SAFETY: by the API's contract the first field of this context is the function that looks up the others.
                let get: unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int = unsafe { *ctx.cast() };
                let find = |name: &CStr| {
                    let mut function = null_mut();
                    // SAFETY: the name ends with a zero byte, and the result is a pointer or unchanged.
                    unsafe { get(name.as_ptr(), &raw mut function) };
                    function
                };
                Ok(Self {
                    $($field: {
                        let function = find($name);
                        if function.is_null() {
                            return Err($name);
                        }
                        // SAFETY: the engine's function of this name has this signature.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),* $(, $dots)?) $(-> $result)?>(function) }
                    },)*
                    $($field_some: {
                        let function = find($name_some);
                        // SAFETY: as above; null is `None`.
                        unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($argument_some),*) $(-> $result_some)?>>(function) }
                    },)*
                })
            }
        }
    };
}

api! {
    all {
        set_attributes = c"RedisModule_SetModuleAttribs": fn(*mut Ctx, *const c_char, c_int, c_int);
        is_name_busy = c"RedisModule_IsModuleNameBusy": fn(*const c_char) -> c_int;
        set_options = c"RedisModule_SetModuleOptions": fn(*mut Ctx, c_int);
        log = c"RedisModule_Log": fn(*mut Ctx, *const c_char, *const c_char; ...);
        log_io = c"RedisModule_LogIOError": fn(*mut Io, *const c_char, *const c_char; ...);

        try_alloc = c"RedisModule_TryAlloc": fn(usize) -> *mut c_void;
        calloc = c"RedisModule_Calloc": fn(usize, usize) -> *mut c_void;
        free = c"RedisModule_Free": fn(*mut c_void);
        used_memory_ratio = c"RedisModule_GetUsedMemoryRatio": fn() -> f32;

        create_command = c"RedisModule_CreateCommand": fn(*mut Ctx, *const c_char, OnCommand, *const c_char, c_int, c_int, c_int) -> c_int;
        get_command = c"RedisModule_GetCommand": fn(*mut Ctx, *const c_char) -> *mut RawCommand;
        set_command_info = c"RedisModule_SetCommandInfo": fn(*mut RawCommand, *const CommandInfo) -> c_int;
        create_type = c"RedisModule_CreateDataType": fn(*mut Ctx, *const c_char, c_int, *mut TypeMethods) -> *mut RawType;
        register_setting = c"RedisModule_RegisterStringConfig": fn(*mut Ctx, *const c_char, *const c_char, c_uint, OnGet, OnSet, *mut c_void, *mut c_void) -> c_int;
        load_settings = c"RedisModule_LoadConfigs": fn(*mut Ctx) -> c_int;
        subscribe = c"RedisModule_SubscribeToServerEvent": fn(*mut Ctx, Event, OnEvent) -> c_int;
        register_info = c"RedisModule_RegisterInfoFunc": fn(*mut Ctx, OnInfo) -> c_int;
        info_section = c"RedisModule_InfoAddSection": fn(*mut InfoCtx, *const c_char) -> c_int;
        info_text = c"RedisModule_InfoAddFieldCString": fn(*mut InfoCtx, *const c_char, *const c_char) -> c_int;
        info_number = c"RedisModule_InfoAddFieldULongLong": fn(*mut InfoCtx, *const c_char, c_ulonglong) -> c_int;

        create_string = c"RedisModule_CreateString": fn(*mut Ctx, *const c_char, usize) -> *mut RawString;
        free_string = c"RedisModule_FreeString": fn(*mut Ctx, *mut RawString);
        string_bytes = c"RedisModule_StringPtrLen": fn(*const RawString, *mut usize) -> *const c_char;

        open_key = c"RedisModule_OpenKey": fn(*mut Ctx, *mut RawString, c_int) -> *mut RawKey;
        close_key = c"RedisModule_CloseKey": fn(*mut RawKey);
        key_type = c"RedisModule_KeyType": fn(*mut RawKey) -> c_int;
        value_type = c"RedisModule_ModuleTypeGetType": fn(*mut RawKey) -> *mut RawType;
        value = c"RedisModule_ModuleTypeGetValue": fn(*mut RawKey) -> *mut c_void;
        set_value = c"RedisModule_ModuleTypeSetValue": fn(*mut RawKey, *mut RawType, *mut c_void) -> c_int;
        signal_modified = c"RedisModule_SignalModifiedKey": fn(*mut Ctx, *mut RawString) -> c_int;
        notify = c"RedisModule_NotifyKeyspaceEvent": fn(*mut Ctx, c_int, *const c_char, *mut RawString) -> c_int;
        replicate_verbatim = c"RedisModule_ReplicateVerbatim": fn(*mut Ctx) -> c_int;
        replicate = c"RedisModule_Replicate": fn(*mut Ctx, *const c_char, *const c_char; ...) -> c_int;
        context_flags = c"RedisModule_GetContextFlags": fn(*mut Ctx) -> c_int;
        milliseconds = c"RedisModule_Milliseconds": fn() -> c_longlong;

        call = c"RedisModule_Call": fn(*mut Ctx, *const c_char, *const c_char; ...) -> *mut CallReply;
        free_call_reply = c"RedisModule_FreeCallReply": fn(*mut CallReply);
        current_user_name = c"RedisModule_GetCurrentUserName": fn(*mut Ctx) -> *mut RawString;
        user_of_name = c"RedisModule_GetModuleUserFromUserName": fn(*mut RawString) -> *mut User;
        free_user = c"RedisModule_FreeModuleUser": fn(*mut User) -> c_int;
        check_permissions = c"RedisModule_ACLCheckCommandPermissions": fn(*mut User, *const *mut RawString, c_int) -> c_int;
        log_denied = c"RedisModule_ACLAddLogEntry": fn(*mut Ctx, *mut User, *mut RawString, c_uint) -> c_int;

        server_info = c"RedisModule_GetServerInfo": fn(*mut Ctx, *const c_char) -> *mut ServerInfo;
        server_info_field = c"RedisModule_ServerInfoGetFieldC": fn(*mut ServerInfo, *const c_char) -> *const c_char;
        free_server_info = c"RedisModule_FreeServerInfo": fn(*mut Ctx, *mut ServerInfo);

        reply_integer = c"RedisModule_ReplyWithLongLong": fn(*mut Ctx, c_longlong) -> c_int;
        reply_boolean = c"RedisModule_ReplyWithBool": fn(*mut Ctx, c_int) -> c_int;
        reply_double = c"RedisModule_ReplyWithDouble": fn(*mut Ctx, f64) -> c_int;
        reply_array = c"RedisModule_ReplyWithArray": fn(*mut Ctx, c_long) -> c_int;
        reply_map = c"RedisModule_ReplyWithMap": fn(*mut Ctx, c_long) -> c_int;
        reply_null = c"RedisModule_ReplyWithNull": fn(*mut Ctx) -> c_int;
        reply_bulk = c"RedisModule_ReplyWithStringBuffer": fn(*mut Ctx, *const c_char, usize) -> c_int;
        reply_simple = c"RedisModule_ReplyWithSimpleString": fn(*mut Ctx, *const c_char) -> c_int;
        reply_error = c"RedisModule_ReplyWithError": fn(*mut Ctx, *const c_char) -> c_int;

        save_unsigned = c"RedisModule_SaveUnsigned": fn(*mut Io, u64);
        save_double = c"RedisModule_SaveDouble": fn(*mut Io, f64);
        save_string = c"RedisModule_SaveStringBuffer": fn(*mut Io, *const c_char, usize);
        load_unsigned = c"RedisModule_LoadUnsigned": fn(*mut Io) -> u64;
        load_double = c"RedisModule_LoadDouble": fn(*mut Io) -> f64;
        load_string = c"RedisModule_LoadStringBuffer": fn(*mut Io, *mut usize) -> *mut c_char;
        has_io_failed = c"RedisModule_IsIOError": fn(*mut Io) -> c_int;
        context_of_io = c"RedisModule_GetContextFromIO": fn(*mut Io) -> *mut Ctx;
        emit_aof = c"RedisModule_EmitAOF": fn(*mut Io, *const c_char, *const c_char; ...);
        digest_bytes = c"RedisModule_DigestAddStringBuffer": fn(*mut Digest, *const c_char, usize);
        digest_end = c"RedisModule_DigestEndSequence": fn(*mut Digest);
        defrag = c"RedisModule_DefragAlloc": fn(*mut DefragCtx, *mut c_void) -> *mut c_void;
    }
    some {
        cached_microseconds = c"RedisModule_CachedMicroseconds": fn() -> c_longlong;
        add_category = c"RedisModule_AddACLCategory": fn(*mut Ctx, *const c_char) -> c_int;
        set_categories = c"RedisModule_SetCommandACLCategories": fn(*mut RawCommand, *const c_char) -> c_int;
        server_version = c"RedisModule_GetServerVersion": fn() -> c_int;
        /// Only Valkey has its functions under this name too.
        valkey_version = c"ValkeyModule_GetServerVersion": fn() -> c_int;
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) version: u64,
}

#[repr(C)]
pub(super) struct CommandInfo {
    pub(super) version: *const InfoVersion,
    pub(super) summary: *const c_char,
    pub(super) complexity: *const c_char,
    pub(super) since: *const c_char,
    pub(super) history: *const c_void,
    pub(super) tips: *const c_char,
    pub(super) arity: c_int,
    pub(super) key_specs: *const KeySpec,
    pub(super) arguments: *const CommandArgument,
}

#[repr(C)]
pub(super) struct CommandArgument {
    pub(super) name: *const c_char,
    pub(super) kind: c_uint,
    pub(super) key_spec_index: c_int,
    pub(super) token: *const c_char,
    pub(super) summary: *const c_char,
    pub(super) since: *const c_char,
    pub(super) flags: c_int,
    pub(super) deprecated_since: *const c_char,
    pub(super) subarguments: *const CommandArgument,
    /// Engines newer than 7.0 read this field whatever the announced size.
    pub(super) display_text: *const c_char,
}

impl CommandArgument {
    /// Marks the end of a list.
    pub(super) const END: Self = Self {
        name: null(),
        kind: 0,
        key_spec_index: -1,
        token: null(),
        summary: null(),
        since: null(),
        flags: 0,
        deprecated_since: null(),
        subarguments: null(),
        display_text: null(),
    };
}

#[repr(C)]
pub(super) struct InfoVersion {
    pub(super) version: c_int,
    pub(super) history_size: usize,
    pub(super) key_spec_size: usize,
    pub(super) argument_size: usize,
}

/// Keys at fixed positions. In place of `first`, the header has a union with room for a pointer and a number.
#[repr(C)]
pub(super) struct KeySpec {
    pub(super) notes: *const c_char,
    pub(super) flags: u64,
    pub(super) begin: c_uint,
    pub(super) first: KeySpecStart,
    pub(super) find: c_uint,
    pub(super) last: c_int,
    pub(super) step: c_int,
    pub(super) limit: c_int,
}

#[repr(C, align(8))]
pub(super) struct KeySpecStart {
    pub(super) first: c_int,
    pub(super) _keyword: [c_int; 3],
}

#[repr(C)]
pub(super) struct TypeMethods {
    pub(super) version: u64,
    pub(super) load: unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void,
    pub(super) save: unsafe extern "C" fn(*mut Io, *mut c_void),
    pub(super) rewrite: unsafe extern "C" fn(*mut Io, *mut RawString, *mut c_void),
    pub(super) memory: unsafe extern "C" fn(*const c_void) -> usize,
    pub(super) digest: unsafe extern "C" fn(*mut Digest, *mut c_void),
    pub(super) free: unsafe extern "C" fn(*mut c_void),
    pub(super) load_aux: *const c_void,
    pub(super) save_aux: *const c_void,
    pub(super) when_aux: c_int,
    pub(super) effort: unsafe extern "C" fn(*mut RawString, *const c_void) -> usize,
    pub(super) unlink: *const c_void,
    pub(super) copy:
        unsafe extern "C" fn(*mut RawString, *mut RawString, *const c_void) -> *mut c_void,
    pub(super) defrag:
        unsafe extern "C" fn(*mut DefragCtx, *mut RawString, *mut *mut c_void) -> c_int,
    // Later versions, with the number of the database.
    pub(super) newer: [*const c_void; 5],
}

// Constants of redismodule.h.
pub(super) const OK: c_int = 0;
pub(super) const ERR: c_int = 1;
pub(super) const API_VERSION: c_int = 1;
pub(super) const TYPE_METHODS_VERSION: u64 = 3;
pub(super) const READ: c_int = 1;
pub(super) const WRITE: c_int = 2;
pub(super) const KEY_TYPE_MODULE: c_int = 6;
pub(super) const FLAG_REPLICA: c_int = 1 << 3;
pub(super) const FLAG_READ_ONLY: c_int = 1 << 4;
pub(super) const FLAG_REPLICATED: c_int = 1 << 12;
pub(super) const FLAG_LOADING: c_int = 1 << 13;
pub(super) const FLAG_CHILD: c_int = 1 << 20;
pub(super) const FLAG_RESP3: c_int = 1 << 22;
pub(super) const DENIED_COMMAND: c_uint = 1;
/// `errno` (`ENOTSUP`) if a context has no user, on Linux for x86 and Arm.
pub(super) const NOT_SUPPORTED: c_int = 95;
pub(super) const HANDLES_IO_ERRORS: c_int = 1 << 0;
pub(super) const SIGNALS_CHANGES_ITSELF: c_int = 1 << 1;
pub(super) const HANDLES_ASYNC_LOADING: c_int = 1 << 2;
pub(super) const NOTIFY_MODULE: c_int = 1 << 13;
pub(super) const EVENT_SETTINGS: Event = Event { id: 16, version: 1 };
/// Since Redis 8, version 0x80000: the name of a setting has no prefix, and `name|alias` declares two names.
pub(super) const SETTING_WITHOUT_PREFIX: c_uint = 1 << 9;
pub(super) const VERSION_OF_SETTINGS_WITHOUT_PREFIX: c_int = 0x0008_0000;
pub(super) const ARGUMENT_IS_OPTIONAL: c_int = 1 << 0;
pub(super) const ARGUMENT_IS_MULTIPLE: c_int = 1 << 1;
pub(super) const KEYS_FROM_INDEX: c_uint = 2;
pub(super) const KEYS_IN_RANGE: c_uint = 2;
pub(super) const KEY_READ: u64 = 1 << 0 | 1 << 4;
pub(super) const KEY_WRITE: u64 = 1 << 1 | 1 << 4 | 1 << 5;
