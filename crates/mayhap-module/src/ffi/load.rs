//! The engine loads the module: types, commands, settings.

#![allow(unsafe_code, reason = "the engine speaks C")]

use super::api::{
    API_VERSION, Api, CommandArgument, CommandInfo, Ctx, ERR, EVENT_SETTINGS,
    HANDLES_ASYNC_LOADING, HANDLES_IO_ERRORS, InfoVersion, Io, KEY_READ, KEY_WRITE,
    KEYS_FROM_INDEX, KEYS_IN_RANGE, KeySpec, KeySpecStart, OK, RawString, SETTING_WITHOUT_PREFIX,
    SIGNALS_CHANGES_ITSELF, TYPE_METHODS_VERSION, TypeMethods, VERSION_OF_SETTINGS_WITHOUT_PREFIX,
};
use super::docs::Arguments;
use super::settings::{on_get, on_info, on_set, on_settings, read_limits};
use super::{API, HOST, KINDS, api, bytes_of, c_string, caught, on_command, values};
use crate::host::{self, Host};
use mayhap_command::{COMMANDS, Specification, TYPES};
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::atomic::Ordering;

pub(super) const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// 0.1.0 is 100.
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
/// `ctx` and `words` must be the engine's.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the engine reaches it")]
pub unsafe extern "C" fn RedisModule_OnLoad(
    ctx: *mut Ctx,
    words: *mut *mut RawString,
    count: c_int,
) -> c_int {
    // Nothing is allocated before the engine's memory is known.
    // SAFETY: the engine's.
    let found = match unsafe { Api::find(ctx) } {
        Ok(found) => found,
        Err(name) => {
            // There is nothing else to say it with.
            eprintln!("mayhap: this engine has no {name:?}: take Redis 7.0 or newer, or Valkey");
            return ERR;
        }
    };
    if API.set(found).is_err() {
        return ERR;
    }
    caught(ERR, || {
        // SAFETY: the engine's words live until we return.
        let words = unsafe {
            slice::from_raw_parts(
                words.cast_const(),
                if words.is_null() { 0 } else { count as usize },
            )
        };
        // SAFETY: as above.
        let words: Vec<&[u8]> = words
            .iter()
            .map(|word| unsafe { bytes_of(*word) })
            .collect();
        match start(ctx, &words) {
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
    // SAFETY: the context is what the engine calls us with; all texts end with a zero byte.
    unsafe { (api().log)(ctx, level.as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
}

fn start(ctx: *mut Ctx, words: &[&[u8]]) -> Result<(), String> {
    let api = api();
    // The engine wants the name before anything else. Only then do messages go to its log, those about the name included.
    let name = host::module_name(words);
    let name_text = c_string(
        name.as_deref()
            .unwrap_or(host::NAMES_OF_MODULE[0])
            .as_bytes(),
    );
    // SAFETY: the context is what the engine loads us with, here and below; the name ends with a zero byte and is copied.
    unsafe {
        if (api.is_name_busy)(name_text.as_ptr()) != 0 {
            return Err(format!(
                "a module of the name {} is loaded already",
                name_text.to_string_lossy()
            ));
        }
        (api.set_attributes)(ctx, name_text.as_ptr(), VERSION_NUMBER, API_VERSION);
    }
    name?;
    // Caught panics are in the engine's log, where their replies send people.
    std::panic::set_hook(Box::new(|panic| {
        log(null_mut(), c"warning", &panic.to_string());
    }));
    let (host, remark) = Host::new(words)?;
    if let Some(remark) = remark {
        log(ctx, c"warning", &remark);
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
    host.begin_anew();
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

fn check(done: c_int, what: &str) -> Result<(), String> {
    (done == OK)
        .then_some(())
        .ok_or_else(|| format!("the engine refuses {what}"))
}

/// Redis 8 has RedisBloom's settings without a prefix: there `bf-error-rate` has the second name `mayhap.bf-error-rate`, and our own
/// settings have the prefix `mayhap.` whatever the name of the module is. Other engines put the name of the module before all of them.
fn register_settings(ctx: *mut Ctx, host: &Host) -> Result<(), String> {
    let has_free_names = api().valkey_version.is_none()
        && api().server_version.is_some_and(|version| {
            // SAFETY: it takes nothing.
            unsafe { version() >= VERSION_OF_SETTINGS_WITHOUT_PREFIX }
        });
    host.set_free_names(has_free_names);
    for (number, name) in host::names().enumerate() {
        let default = c_string(host.get(name).unwrap_or_default().as_bytes());
        let registered = match (has_free_names, host::is_of_redisbloom(name)) {
            (false, _) => name.to_owned(),
            (true, true) => format!("{name}|mayhap.{name}"),
            (true, false) => format!("mayhap.{name}"),
        };
        let registered = c_string(registered.as_bytes());
        let flags = if has_free_names {
            SETTING_WITHOUT_PREFIX
        } else {
            0
        };
        // SAFETY: the context is what the engine loads us with; texts end with a zero byte and are copied.
        let done = unsafe {
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
        check(done, "settings")?;
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
        // SAFETY: the context is what the engine loads us with; the methods are copied.
        let kind =
            unsafe { (api().create_type)(ctx, text.as_ptr(), (*version).into(), &raw mut methods) };
        if kind.is_null() {
            return Err(format!(
                "the engine refuses the type {}: is RedisBloom loaded too?",
                text.to_string_lossy()
            ));
        }
        KINDS[number].store(kind, Ordering::Relaxed);
    }
    Ok(())
}

fn register_commands(ctx: *mut Ctx) -> Result<(), String> {
    // Only newer engines let modules name categories.
    let names_categories = api().add_category.is_some_and(|add| {
        // SAFETY: the context is what the engine loads us with, and the texts end with a zero byte.
        [c"bloom", c"cuckoo"]
            .iter()
            .all(|name| unsafe { add(ctx, name.as_ptr()) } == OK)
    });
    for command in &COMMANDS {
        register_command(ctx, command, names_categories)?;
    }
    Ok(())
}

fn register_command(
    ctx: *mut Ctx,
    command: &Specification,
    names_categories: bool,
) -> Result<(), String> {
    let refused = |_| {
        format!(
            "the engine refuses {}: is RedisBloom loaded too?",
            command.name
        )
    };
    let name = c_string(command.name.as_bytes());
    let flags = command.flags.iter().filter(|flag| **flag != "module");
    let mut flags: Vec<&str> = flags
        .map(|flag| if *flag == "denyoom" { "deny-oom" } else { flag })
        .collect();
    // While writing is paused the engine ends itself when something is replicated: so it has to know whom to hold back.
    if command.writes && !flags.contains(&"write") {
        flags.push("may-replicate");
    }
    let flags = c_string(flags.join(" ").as_bytes());
    let (first, last) = (command.first_key as c_int, command.last_key as c_int);
    // SAFETY: the context is what the engine loads us with; texts end with a zero byte and are copied.
    let raw = unsafe {
        let made = (api().create_command)(
            ctx,
            name.as_ptr(),
            on_command,
            flags.as_ptr(),
            first,
            last,
            1,
        );
        check(made, command.name).map_err(refused)?;
        (api().get_command)(ctx, name.as_ptr())
    };
    let version = InfoVersion {
        version: 1,
        history_size: 2 * size_of::<usize>(),
        key_spec_size: size_of::<KeySpec>(),
        argument_size: size_of::<CommandArgument>(),
    };
    let spec = |first: c_int, range: c_int, flags: u64| KeySpec {
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
        ..spec(0, 0, 0)
    };
    let flags = if command.writes { KEY_WRITE } else { KEY_READ };
    // Of several keys the first is changed and the others are read.
    let key_specs = if last < 0 {
        [
            spec(first, 0, flags),
            spec(first + 1, last, KEY_READ),
            end(),
        ]
    } else {
        [spec(first, last - first, flags), end(), end()]
    };
    let text = |text: &str| c_string(text.as_bytes());
    let (summary, complexity, since) = (
        text(command.summary),
        text(command.complexity),
        text(command.since),
    );
    let arguments = Arguments::new(command.arguments);
    let info = CommandInfo {
        version: &raw const version,
        summary: summary.as_ptr(),
        complexity: complexity.as_ptr(),
        since: since.as_ptr(),
        history: null(),
        tips: null(),
        arity: command.arity as c_int,
        key_specs: key_specs.as_ptr(),
        arguments: arguments.as_ptr(),
    };
    // SAFETY: the command is one that was just made; everything is copied.
    let told = unsafe { (api().set_command_info)(raw, &raw const info) };
    check(told, command.name).map_err(refused)?;
    if let (true, Some(set)) = (names_categories, api().set_categories) {
        let categories = c_string(command.categories.join(" ").as_bytes());
        // SAFETY: as above.
        check(unsafe { set(raw, categories.as_ptr()) }, command.name).map_err(refused)?;
    }
    Ok(())
}
