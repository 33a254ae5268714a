//! Joins the modules of the page into one script: each becomes a function that returns what it exports.
//!
//! Only the forms that the page uses are known: `import { a, b as c } from "./x.js";` and `export` before a declaration. Anything else is
//! an error, so that a new form is noticed when the page is built.

use mayhap_server::page::PageFile;

/// One script with all modules that `main` needs, each after those that it imports.
pub(super) fn join(files: &[PageFile], main: &str) -> Result<String, String> {
    let mut joined = Joined {
        files,
        started: Vec::new(),
        script: String::new(),
    };
    joined.add(main)?;
    Ok(joined.script)
}

struct Joined<'f> {
    files: &'f [PageFile],
    started: Vec<String>,
    script: String,
}

impl Joined<'_> {
    fn add(&mut self, name: &str) -> Result<(), String> {
        if self.started.iter().any(|started| started == name) {
            return Ok(());
        }
        self.started.push(name.to_owned());
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| format!("the page has no file {name}"))?;
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut lines = file.text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("import ") {
                let mut statement = line.to_owned();
                while !statement.ends_with(';') {
                    statement += lines.next().ok_or("an import without an end")?;
                }
                let (names, from) = import(&statement)
                    .ok_or_else(|| format!("{name}: cannot join {statement:?}"))?;
                self.add(from)?;
                body.extend(["const {", &names, "} = ", &variable(from), ";\n"]);
            } else if let Some(declaration) = line.strip_prefix("export ") {
                let declared = declared_name(declaration)
                    .ok_or_else(|| format!("{name}: cannot join {line:?}"))?;
                exports.push(declared);
                body += declaration;
                body += "\n";
            } else if !line.trim_start().starts_with("//") && !line.trim().is_empty() {
                body += line;
                body += "\n";
            }
        }
        let (variable, exports) = (variable(name), exports.join(", "));
        let function = format!(
            "const {variable} = (() => {{\n\"use strict\";\n{body}return {{ {exports} }};\n}})();\n"
        );
        self.script += &function;
        Ok(())
    }
}

/// `dom.js` is `$dom`.
fn variable(file: &str) -> String {
    format!("${}", file.trim_end_matches(".js"))
}

/// The names of a pattern, and the file.
fn import(statement: &str) -> Option<(String, &str)> {
    let (names, from) = statement
        .strip_prefix("import {")?
        .strip_suffix("\";")?
        .split_once("} from \"./")?;
    Some((names.replace(" as ", ": "), from))
}

fn declared_name(declaration: &str) -> Option<&str> {
    let rest = ["async function ", "function ", "const ", "class "]
        .iter()
        .find_map(|start| declaration.strip_prefix(start))?;
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))?;
    Some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn file(name: &'static str, text: &'static str) -> PageFile {
        PageFile { name, text }
    }

    #[test]
    fn a_module_follows_those_that_it_imports() {
        let files = [
            file("a.js", "import { b as c } from \"./b.js\";\nc();\n"),
            file("b.js", "// why\nexport function b() {}\n"),
        ];
        let script = join(&files, "a.js").unwrap();
        let (b, a) = (script.find("const $b").unwrap(), script.find("const $a"));
        assert!(b < a.unwrap());
        assert!(script.contains("const { b: c } = $b;"), "{script}");
        assert!(script.contains("return { b };"), "{script}");
    }

    #[test]
    fn forms_that_are_not_known_are_errors() {
        for text in [
            "import x from \"./b.js\";",
            "import \"./b.js\";",
            "export default 7;",
            "export { a };",
            "import { a } from \"./missing.js\";",
        ] {
            assert!(join(&[file("a.js", text)], "a.js").is_err(), "{text}");
        }
    }
}
