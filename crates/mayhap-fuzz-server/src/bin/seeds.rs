//! Prints the golden files of a fuzz target, as libFuzzer's `-seed_inputs` takes them.

use mayhap_fuzz::golden;
use mayhap_fuzz_server::all_targets;

#[expect(clippy::print_stdout, reason = "a script reads it")]
fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    for target in all_targets().iter().filter(|target| target.name == name) {
        let files = golden(target);
        let files: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
        println!("{}", files.join(","));
    }
}
