//! The tests of the codec, by behaviour. The golden files have a runner of their own: `tests/golden`.

mod cassandra;
mod docs;
mod hostile;
mod index;
mod many_probes;
mod mapped;
mod mutations;
mod native;
mod open;
mod redis;
mod ribbon_block;
mod sniff;
mod table;

#[global_allocator]
static ALLOCATOR: mayhap_testkit::peak_memory::Counting = mayhap_testkit::peak_memory::Counting;
