//! Save a filter, load it, map it, and send it through a stream.

#![expect(clippy::print_stdout, reason = "it is a program")]

use mayhap::{AnyFilter, Bloom, KeyType, Ribbon, SipKey, native};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("mayhap-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("ids.mayhap");

    // The key type lets `mayhap check ids.mayhap` and Python read the keys as numbers.
    let mut ids = Bloom::new(10_000, 0.001)?.with_key_type(KeyType::U64);
    ids.extend(0..10_000_u64);
    mayhap::save(&path, &ids)?;

    let ids: Bloom = mayhap::load(&path)?;
    assert!(ids.contains(42_u64));

    // The kind is not known: a file that a user chose.
    let any: AnyFilter = mayhap::load(&path)?;
    println!("{}: {}", path.display(), any.stats());

    // Another kind is an error that names both, and the path.
    let error = mayhap::load::<Ribbon>(&path).unwrap_err();
    println!("{error}");

    // A large file is used in place: nothing is read until a lookup needs it.
    let mapped = native::map(&path, native::Verify::Lazy, None)?;
    assert!(mapped.contains(42_u64));

    // Through a socket, a pipe or a compressor.
    let mut stream = Vec::new();
    mayhap::write_to(&mut stream, &ids)?;
    let received: Bloom = mayhap::read_from(stream.as_slice())?;
    assert_eq!(received, ids);

    // The secret key of a keyed filter can stay out of the file.
    let key = SipKey::random();
    let mut names = Bloom::keyed(100, 0.01, key)?;
    names.insert("a name that a stranger chose");
    mayhap::save_with(&path, &names, native::HashKey::Outside)?;
    let options = mayhap::LoadOptions {
        key: Some(key),
        ..Default::default()
    };
    let names: Bloom = mayhap::load_with(&path, &options)?;
    assert!(names.contains("a name that a stranger chose"));

    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
