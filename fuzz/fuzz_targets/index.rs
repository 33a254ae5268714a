#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mayhap_fuzz_server::run("index", bytes));
