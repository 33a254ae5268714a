//! Loads the module: registers types, commands and settings.

#![allow(unsafe_code, reason = "the engine's API is C")]

use super::api::{
    API_VERSION, Api, CommandArgument, CommandInfo, Ctx, ERR, EVENT_SETTINGS,
    HANDLES_ASYNC_LOADING, HANDLES_IO_ERRORS, InfoVersion, Io, KEY_READ, KEY_WRITE,
    KEYS_FROM_INDEX, KEYS_IN_RANGE, KeySpec, KeySpecStart, OK, RawString, SETTING_WITHOUT_PREFIX,
    SIGNALS_CHANGES_ITSELF, TYPE_METHODS_VERSION, TypeMethods, VERSION_OF_SETTINGS_WITHOUT_PREFIX,
};
use super::docs::Arguments;
use super::settings::{on_get, on_info, on_set, on_settings, read_limits};
use super::{API, HOST, KINDS, api, bytes_of, c_string, catch_panic, on_command, values};
use crate::host::{self, Host};
use mayhap_command::{COMMANDS, CommandSpec, FilterCommand, Flags, KeyPositions, TYPES};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::atomic::Ordering;

pub(super) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// Version 0.1.0.
const VERSION_NUMBER: c_int = 100;

const LOADERS: [unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void; TYPES.len()] = [
    values::on_load_value::<0>,
    values::on_load_value::<1>,
    values::on_load_value::<2>,
    values::on_load_value::<3>,
    values::on_load_value::<4>,
];

/// The engine calls this by its name when it loads the module.
///
/// # Safety
/// `ctx` and `args` must be the engine's.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the engine finds it by name")]
pub unsafe extern "C" fn RedisModule_OnLoad(
    ctx: *mut Ctx,
    args: *mut *mut RawString,
    count: c_int,
) -> c_int {
    // Nothing is allocated before the engine's allocator is known.
    // SAFETY: the engine's.
    let found = match unsafe { Api::find(ctx) } {
        Ok(found) => found,
        Err(name) => {
            // The engine's log is not available yet.
            eprintln!("mayhap: this engine has no {name:?}: use Redis 7.0 or newer, or Valkey");
            return ERR;
        }
    };
    if API.set(found).is_err() {
        return ERR;
    }
    catch_panic(ERR, || {
        // Without arguments the engine passes a null pointer, which no slice may have.
        let args = if args.is_null() {
            &[]
        } else {
            // SAFETY: the engine's arguments live until we return.
            unsafe { slice::from_raw_parts(args.cast_const(), count as usize) }
        };
        // SAFETY: as above.
        let args: Vec<&[u8]> = args
            .iter()
            .map(|argument| unsafe { bytes_of(*argument) })
            .collect();
        match start(ctx, &args) {
            Ok(()) => OK,
            Err(text) => {
                log(ctx, c"warning", &text);
                ERR
            }
        }
    })
}

fn log(ctx: *mut Ctx, level: &CStr, text: &str) {
    let text = c_string(text.as_bytes());
    // SAFETY: the context is the engine's; all texts end with a zero byte.
    unsafe { (api().log)(ctx, level.as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
}

fn start(ctx: *mut Ctx, args: &[&[u8]]) -> Result<(), String> {
    let api = api();
    // The engine needs the name before anything else. Only then do messages reach its log, including those about the name.
    let name = host::module_name(args);
    let name_text = c_string(name.as_deref().unwrap_or(host::MODULE_NAMES[0]).as_bytes());
    // SAFETY: the context is the engine's, here and below; the name ends with a zero byte and is copied.
    unsafe {
        if (api.is_name_busy)(name_text.as_ptr()) != 0 {
            return Err(format!(
                "a module named {} is loaded already",
                name_text.to_string_lossy()
            ));
        }
        (api.set_attributes)(ctx, name_text.as_ptr(), VERSION_NUMBER, API_VERSION);
    }
    name?;
    // Panics are written to the engine's log, to which the error replies refer.
    std::panic::set_hook(Box::new(|panic| {
        log(null_mut(), c"warning", &panic.to_string());
    }));
    let (host, warning) = Host::new(args)?;
    if let Some(warning) = warning {
        log(ctx, c"warning", &warning);
    }
    let host = HOST.get_or_init(|| host);
    // SAFETY: as above.
    unsafe {
        (api.set_options)(
            ctx,
            HANDLES_IO_ERRORS | SIGNALS_CHANGES_ITSELF | HANDLES_ASYNC_LOADING,
        );
    }
    register_types(ctx)?;
    register_commands(ctx)?;
    register_settings(ctx, host)?;
    host.reset();
    // SAFETY: as above.
    unsafe {
        check(
            (api.load_settings)(ctx),
            "the settings of the configuration",
        )?;
        check((api.subscribe)(ctx, EVENT_SETTINGS, on_settings), "events")?;
        check((api.register_info)(ctx, on_info), "INFO")?;
    }
    read_limits(ctx);
    Ok(())
}

fn check(result: c_int, what: &str) -> Result<(), String> {
    (result == OK)
        .then_some(())
        .ok_or_else(|| format!("the engine rejects {what}"))
}

/// Redis 8 has RedisBloom's settings without a prefix: there `bf-error-rate` has the alias `mayhap.bf-error-rate`, and our own settings have
/// the prefix `mayhap.` whatever the name of the module. Other engines prefix all settings with the name of the module.
fn register_settings(ctx: *mut Ctx, host: &Host) -> Result<(), String> {
    let has_no_prefix = api().valkey_version.is_none()
        && api().server_version.is_some_and(|version| {
            // SAFETY: it has no arguments.
            unsafe { version() >= VERSION_OF_SETTINGS_WITHOUT_PREFIX }
        });
    host.set_no_prefix(has_no_prefix);
    for (number, name) in host::names().enumerate() {
        let default = c_string(host.get(name).unwrap_or_default().as_bytes());
        let registered = match (has_no_prefix, host::is_of_redisbloom(name)) {
            (false, _) => name.to_owned(),
            (true, true) => format!("{name}|mayhap.{name}"),
            (true, false) => format!("mayhap.{name}"),
        };
        let registered = c_string(registered.as_bytes());
        let flags = if has_no_prefix {
            SETTING_WITHOUT_PREFIX
        } else {
            0
        };
        // SAFETY: the context is the engine's; texts end with a zero byte and are copied.
        let result = unsafe {
            (api().register_setting)(
                ctx,
                registered.as_ptr(),
                default.as_ptr(),
                flags,
                on_get,
                on_set,
                null_mut(),
                std::ptr::without_provenance_mut(number),
            )
        };
        check(result, "settings")?;
    }
    Ok(())
}

fn register_types(ctx: *mut Ctx) -> Result<(), String> {
    for (number, (name, version)) in TYPES.iter().enumerate() {
        let mut methods = TypeMethods {
            version: TYPE_METHODS_VERSION,
            load: LOADERS[number],
            save: values::on_save,
            rewrite: values::on_rewrite,
            memory: values::on_memory,
            digest: values::on_digest,
            free: values::on_free,
            load_aux: null(),
            save_aux: null(),
            when_aux: 0,
            effort: values::on_effort,
            unlink: null(),
            copy: values::on_copy,
            defrag: values::on_defrag,
            newer: [null(); 5],
        };
        let text = c_string(*name);
        // SAFETY: the context is the engine's; the methods are copied.
        let kind =
            unsafe { (api().create_type)(ctx, text.as_ptr(), (*version).into(), &raw mut methods) };
        if kind.is_null() {
            return Err(format!(
                "the engine rejects the type {}: is RedisBloom loaded too?",
                text.to_string_lossy()
            ));
        }
        KINDS[number].store(kind, Ordering::Relaxed);
    }
    Ok(())
}

fn register_commands(ctx: *mut Ctx) -> Result<(), String> {
    // Only newer engines let modules define categories.
    let has_categories = api().add_category.is_some_and(|add| {
        // SAFETY: the context is the engine's, and the texts end with a zero byte.
        [c"bloom", c"cuckoo"]
            .iter()
            .all(|name| unsafe { add(ctx, name.as_ptr()) } == OK)
    });
    for command in &COMMANDS {
        register_command(ctx, command, has_categories)?;
    }
    Ok(())
}

/// The flags of a command as the engine spells them for modules.
fn flags(spec: &CommandSpec) -> String {
    let flags = spec.flags.names().filter(|flag| *flag != "module");
    let mut flags: Vec<&str> = flags
        .map(|flag| if flag == "denyoom" { "deny-oom" } else { flag })
        .collect();
    // The engine aborts if a command replicates while writes are paused, so it must know which commands to hold back.
    if spec.writes() && !spec.flags.contains(Flags::WRITE) {
        flags.push("may-replicate");
    }
    flags.join(" ")
}

fn register_command(
    ctx: *mut Ctx,
    command: &FilterCommand,
    has_categories: bool,
) -> Result<(), String> {
    let spec = &command.spec;
    let name = spec.name;
    let rejected = |_| format!("the engine rejects {name}: is RedisBloom loaded too?");
    let c_name = c_string(name.as_bytes());
    let flags = c_string(flags(spec).as_bytes());
    let KeyPositions { first, last, step } = spec.keys;
    // SAFETY: the context is the engine's; texts end with a zero byte and are copied.
    let raw = unsafe {
        let created = (api().create_command)(
            ctx,
            c_name.as_ptr(),
            on_command,
            flags.as_ptr(),
            first,
            last,
            step,
        );
        check(created, name).map_err(rejected)?;
        (api().get_command)(ctx, c_name.as_ptr())
    };
    let version = InfoVersion {
        version: 1,
        history_size: 2 * size_of::<usize>(),
        key_spec_size: size_of::<KeySpec>(),
        argument_size: size_of::<CommandArgument>(),
    };
    let key_spec = |first: c_int, range: c_int, flags: u64| KeySpec {
        notes: null(),
        flags,
        begin: KEYS_FROM_INDEX,
        first: KeySpecStart {
            first,
            _keyword: [0; 3],
        },
        find: KEYS_IN_RANGE,
        last: range,
        step: 1,
        limit: 0,
    };
    let end = || KeySpec {
        begin: 0,
        find: 0,
        ..key_spec(0, 0, 0)
    };
    let flags = if spec.writes() { KEY_WRITE } else { KEY_READ };
    // Of several keys, the first is written and the others are read.
    let key_specs = if last < 0 {
        [
            key_spec(first, 0, flags),
            key_spec(first + 1, last, KEY_READ),
            end(),
        ]
    } else {
        [key_spec(first, last - first, flags), end(), end()]
    };
    let text = |text: &str| c_string(text.as_bytes());
    let (summary, complexity, since) =
        (text(spec.summary), text(spec.complexity), text(spec.since));
    let arguments = Arguments::new(spec.arguments);
    let info = CommandInfo {
        version: &raw const version,
        summary: summary.as_ptr(),
        complexity: complexity.as_ptr(),
        since: since.as_ptr(),
        history: null(),
        tips: null(),
        arity: spec.arity.reported(),
        key_specs: key_specs.as_ptr(),
        arguments: arguments.as_ptr(),
    };
    // SAFETY: the command was just created; everything is copied.
    let described = unsafe { (api().set_command_info)(raw, &raw const info) };
    check(described, name).map_err(rejected)?;
    if let (true, Some(set)) = (has_categories, api().set_categories) {
        let categories: Vec<&str> = spec.categories.names().collect();
        let categories = c_string(categories.join(" ").as_bytes());
        // SAFETY: as above.
        check(unsafe { set(raw, categories.as_ptr()) }, name).map_err(rejected)?;
    }
    Ok(())
}
