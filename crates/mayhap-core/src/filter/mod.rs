//! The filters, one kind per file.

pub(crate) mod bloom;
pub(crate) mod classic;
pub(crate) mod classic_cuckoo;
pub(crate) mod counting;
pub(crate) mod counting_cuckoo;
pub(crate) mod cuckoo;
mod cuckoo_chain;
mod cuckoo_table;
pub(crate) mod excepting;
pub(crate) mod fuse;
pub(crate) mod growing;
pub(crate) mod growing_cuckoo;
pub mod memory_probe;
pub(crate) mod retouched;
pub(crate) mod retrieval;
pub(crate) mod ribbon;
pub(crate) mod ribbon_block;
#[cfg(target_has_atomic = "64")]
pub(crate) mod shared;
mod slice_entry;
pub(crate) mod slice_table;
pub(crate) mod static_filter;
pub(crate) mod window;
pub(crate) mod window_cuckoo;
