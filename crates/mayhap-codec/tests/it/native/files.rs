//! Files on disk.

use super::filled;
use mayhap_codec::native;
use mayhap_core::{AnyFilter, Bloom, GrowingBloom};

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("mayhap-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_saved_file_is_opened_and_replaced_as_a_whole() {
    let folder = folder("save");
    let path = folder.join("keys.mayhap");
    let small = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    let large = filled(GrowingBloom::new(100, 0.01).unwrap().into(), 5000);
    for filter in [&small, &large, &small] {
        native::save(&path, filter).unwrap();
        let opened: AnyFilter = native::load(&path).unwrap();
        assert!(opened == *filter);
        assert_eq!(
            std::fs::read(&path).unwrap(),
            native::encode(filter).unwrap()
        );
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_cannot_be_saved_leaves_the_old_file_and_nothing_else() {
    let folder = folder("refused");
    let path = folder.join("keys.mayhap");
    let old = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    native::save(&path, &old).unwrap();
    // A folder in the place of the file cannot be replaced by one.
    let taken = folder.join("taken");
    std::fs::create_dir_all(taken.join("inside")).unwrap();
    assert!(native::save(&taken, &old).is_err());
    assert!(native::save(folder.join("no/such"), &old).is_err());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    assert!(native::load::<AnyFilter>(&path).unwrap() == old);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn permissions_of_a_replaced_file_and_links_to_it_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("kept");
    let (path, link) = (folder.join("keys.mayhap"), folder.join("link"));
    let filter = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    native::save(&path, &filter).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("keys.mayhap", &link).unwrap();
    native::save(&link, &filter).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_to_and_not_replaced_by_a_file() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder("pipe");
    let pipe = folder.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let filter = filled(Bloom::new(100, 0.01).unwrap().into(), 100);
    let read = std::thread::scope(|scope| {
        let reader = scope.spawn(|| std::fs::read(&pipe).unwrap());
        native::save(&pipe, &filter).unwrap();
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
        reader.join().unwrap()
    });
    assert_eq!(read, native::encode(&filter).unwrap());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}
