//! The tables of checksums: large and fast, or small in WebAssembly, where the tables would be a fifth of the page.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) type CrcTable = crc::Table<16>;
#[cfg(target_arch = "wasm32")]
pub(crate) type CrcTable = crc::Table<1>;
