//! The files of the web page. The server serves them as they are; `mayhap page` makes one file of them.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageFile {
    /// Its name, which is also its path on the server.
    pub name: &'static str,
    /// What it contains.
    pub text: &'static str,
}

impl PageFile {
    /// The value of `Content-Type`.
    pub fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            _ => "text/javascript; charset=utf-8",
        }
    }
}

/// All files in the folder `page`, sorted by name; `index.html` is also `/`. `build.rs` writes the table.
pub const FILES: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));
