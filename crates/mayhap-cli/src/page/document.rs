//! The self-contained page: style and script inline, the module as text at the end, and a policy that allows these and nothing else.

use super::modules;
use data_encoding::BASE64;
use mayhap_server::page::{FILES, PageFile};
use sha2::{Digest, Sha256};

const MAIN: &str = "main_file.js";

/// The page around a packed module.
pub(super) fn page(packed: &[u8]) -> Result<String, String> {
    let shell = text("index.html")?;
    let script = modules::join(FILES, MAIN)?;
    let (shell, styles) = without_links(shell)?;
    if script.contains("</script") || styles.contains("</style") {
        return Err("the script or the style would end its own element".to_owned());
    }
    let policy = format!(
        "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; style-src '{}'; img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&styles),
    );
    let head = format!(
        "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">"
    );
    let end =
        format!("<style>{styles}</style>\n<script type=\"module\">{script}</script>\n</head>");
    // The browser shows the page before it has read the module.
    let module = format!(
        "<script type=\"application/octet-stream\" id=\"wasm\">{}</script>\n</body>",
        BASE64.encode(packed)
    );
    let shell = replaced(&shell, "<meta charset=\"utf-8\">", &head)?;
    let shell = replaced(&shell, "</head>", &end)?;
    replaced(&shell, "</body>", &module)
}

fn text(name: &str) -> Result<&'static str, String> {
    let file = FILES.iter().find(|file: &&PageFile| file.name == name);
    file.map(|file| file.text)
        .ok_or_else(|| format!("the page has no file {name}"))
}

fn replaced(page: &str, place: &str, by: &str) -> Result<String, String> {
    match page.split_once(place) {
        Some((before, after)) => Ok(format!("{before}{by}{after}")),
        None => Err(format!("index.html has no {place}")),
    }
}

/// The lines without the links to styles and to the script, and the styles. The Server tab has nothing to show.
fn without_links(shell: &str) -> Result<(String, String), String> {
    let (mut rest, mut styles) = (String::new(), String::new());
    for line in shell.lines() {
        if let Some(link) = line.strip_prefix("<link rel=\"stylesheet\" href=\"") {
            let name = link.split('"').next().unwrap_or_default();
            if name != "server.css" {
                styles += text(name)?;
            }
        } else if !line.starts_with("<script type=\"module\" src=") {
            rest += line;
            rest += "\n";
        }
    }
    Ok((rest, styles))
}

/// What a policy calls an inline script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_no_other_file_or_host() {
        let page = page(b"module").unwrap();
        // An import would start its line; the Python sample has one inside a string.
        for reference in ["src=\"", "href=\"style", "\nimport ", "https://"] {
            assert!(!page.contains(reference), "{reference}");
        }
        for address in page.split("http://").skip(1) {
            // The namespace of SVG is a name, and the address of a server is shown as text.
            let is_text = ["www.w3.org/2000/svg", "127.0.0.1:8080/"];
            assert!(
                is_text.iter().any(|text| address.starts_with(text)),
                "{address:.80}"
            );
        }
        assert!(page.contains(&BASE64.encode(b"module")));
        assert!(page.contains("connect-src 'none'"));
    }
}
