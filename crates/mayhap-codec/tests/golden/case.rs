//! A case: the fields of its JSON, each of which must be asked for, and the keys that they describe.

use serde_json::{Map, Value};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a case does not hold.
pub(crate) struct CaseError(String);

impl CaseError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for CaseError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Fields that are taken out one by one; what is left at the end was not understood.
pub(crate) struct Fields {
    name: &'static str,
    left: Map<String, Value>,
}

impl Fields {
    pub(crate) fn new(name: &'static str, value: Value) -> Result<Self, CaseError> {
        match value {
            Value::Object(left) => Ok(Self { name, left }),
            other => Err(CaseError(format!("{name} is {other}, not an object"))),
        }
    }

    pub(crate) fn maybe(&mut self, field: &str) -> Option<Value> {
        self.left.remove(field).filter(|value| !value.is_null())
    }

    /// Checks a number, if it is there.
    pub(crate) fn same_if_there(&mut self, field: &str, ours: u64) -> Result<(), CaseError> {
        match self.maybe(field) {
            None => Ok(()),
            Some(theirs) => same(field, &Some(ours), &theirs.as_u64()),
        }
    }

    pub(crate) fn take(&mut self, field: &str) -> Result<Value, CaseError> {
        self.left
            .remove(field)
            .ok_or_else(|| CaseError(format!("no {field} in {}", self.name)))
    }

    fn typed<T>(
        &mut self,
        field: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<T, CaseError> {
        let value = self.take(field)?;
        read(&value).ok_or_else(|| CaseError(format!("{field} is {value}")))
    }

    pub(crate) fn text(&mut self, field: &str) -> Result<String, CaseError> {
        self.typed(field, |value| value.as_str().map(str::to_owned))
    }

    pub(crate) fn u64(&mut self, field: &str) -> Result<u64, CaseError> {
        self.typed(field, Value::as_u64)
    }

    pub(crate) fn i64(&mut self, field: &str) -> Result<i64, CaseError> {
        self.typed(field, Value::as_i64)
    }

    pub(crate) fn f64(&mut self, field: &str) -> Result<f64, CaseError> {
        self.typed(field, Value::as_f64)
    }

    pub(crate) fn list(&mut self, field: &str) -> Result<Vec<Value>, CaseError> {
        self.typed(field, |value| value.as_array().cloned())
    }

    pub(crate) fn fields(&mut self, field: &'static str) -> Result<Fields, CaseError> {
        Fields::new(field, self.take(field)?)
    }

    /// Puts a field back, for another look.
    pub(crate) fn put(&mut self, field: &str, value: Value) {
        self.left.insert(field.to_owned(), value);
    }

    pub(crate) fn ignore(&mut self, fields: &[&str]) {
        for field in fields {
            self.left.remove(*field);
        }
    }

    /// Nothing may be left.
    pub(crate) fn finish(&self) -> Result<(), CaseError> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(field) => Err(CaseError(format!(
                "field {field} in {} is not understood",
                self.name
            ))),
        }
    }
}

/// A case and where its files are.
pub(crate) struct Case {
    pub(crate) fields: Fields,
    /// Who wrote it.
    pub(crate) producer: String,
    folder: PathBuf,
}

impl std::ops::Deref for Case {
    type Target = Fields;
    fn deref(&self) -> &Fields {
        &self.fields
    }
}

impl std::ops::DerefMut for Case {
    fn deref_mut(&mut self) -> &mut Fields {
        &mut self.fields
    }
}

impl Case {
    pub(crate) fn read(path: &Path) -> Result<Self, CaseError> {
        let value = serde_json::from_slice(&std::fs::read(path)?)?;
        let mut fields = Fields::new("the case", value)?;
        let producer = fields.maybe("producer");
        Ok(Self {
            fields,
            producer: producer
                .as_ref()
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned(),
            folder: path.parent().unwrap_or(Path::new(".")).to_owned(),
        })
    }

    /// The bytes of the file that a field names.
    pub(crate) fn file(&mut self, field: &str) -> Result<Vec<u8>, CaseError> {
        let name = self.text(field)?;
        Ok(std::fs::read(self.folder.join(name))?)
    }

    /// The same for a field of other fields.
    pub(crate) fn file_of(&self, fields: &mut Fields, field: &str) -> Result<Vec<u8>, CaseError> {
        Ok(std::fs::read(self.folder.join(fields.text(field)?))?)
    }

    /// The same, if the field is there and names one.
    pub(crate) fn maybe_file(&mut self, field: &str) -> Result<Option<Vec<u8>>, CaseError> {
        let Some(name) = self.maybe(field) else {
            return Ok(None);
        };
        let name = name.as_str().unwrap_or("?");
        Ok(Some(std::fs::read(self.folder.join(name))?))
    }

    /// What all cases of this folder say, for fields that are told once for several.
    pub(crate) fn siblings(&self) -> Result<Vec<Value>, CaseError> {
        let mut cases = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|name| name == "json") {
                cases.push(serde_json::from_slice(&std::fs::read(path)?)?);
            }
        }
        Ok(cases)
    }

    /// The keys of `keys`, then those of `key_rule`.
    pub(crate) fn keys(&mut self) -> Result<Vec<Key>, CaseError> {
        let mut keys = Vec::new();
        for key in self
            .maybe("keys")
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            keys.push(Key::read(key)?);
        }
        if let Some(rule) = self.maybe("key_rule") {
            keys.extend(rule_keys(rule)?);
        }
        Ok(keys)
    }

    /// Every probe and every absent key is answered as the system answered.
    pub(crate) fn check_answers(
        &mut self,
        contains: impl Fn(&Key) -> bool,
    ) -> Result<(), CaseError> {
        for probe in self
            .maybe("probes")
            .as_ref()
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let mut probe = Fields::new("a probe", probe.clone())?;
            let key = Key::read(&probe.take("key")?)?;
            let expected = probe.typed("expected", Value::as_bool)?;
            probe.finish()?;
            if contains(&key) != expected {
                return Err(CaseError(format!("{key:?} should be {expected}")));
            }
        }
        if let Some(absent) = self.maybe("absent") {
            check_absent(absent, contains)?;
        }
        Ok(())
    }
}

/// The false positives are exactly those that are listed.
pub(crate) fn check_absent(
    absent: Value,
    contains: impl Fn(&Key) -> bool,
) -> Result<(), CaseError> {
    let mut absent = Fields::new("absent", absent)?;
    let keys = rule_keys(absent.take("rule")?)?;
    let listed = indices(&absent.take("false_positives")?)?;
    absent.finish()?;
    let found: Vec<u64> = (0..)
        .zip(&keys)
        .filter(|(_, key)| contains(key))
        .map(|(at, _)| at)
        .collect();
    same("false positives", &found, &listed)
}

pub(crate) fn indices(value: &Value) -> Result<Vec<u64>, CaseError> {
    let list = value
        .as_array()
        .and_then(|list| list.iter().map(Value::as_u64).collect());
    list.ok_or_else(|| CaseError(format!("{value} is not a list of indices")))
}

/// Two things that must be equal.
pub(crate) fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    ours: &T,
    theirs: &T,
) -> Result<(), CaseError> {
    if ours == theirs {
        return Ok(());
    }
    let short = |value: &T| -> String { format!("{value:?}").chars().take(200).collect() };
    Err(CaseError(format!(
        "{what}: {} here and {} there",
        short(ours),
        short(theirs)
    )))
}

/// A key, as the cases have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    Text(String),
    Bytes(Vec<u8>),
    I32(i32),
    I64(i64),
    U64(u64),
    /// A cell of HBase or Accumulo.
    Cell {
        row: Vec<u8>,
        family: Option<Vec<u8>>,
        qualifier: Vec<u8>,
    },
}

impl Key {
    pub(crate) fn read(value: &Value) -> Result<Self, CaseError> {
        if let Some(text) = value.as_str() {
            return Ok(Self::Text(text.to_owned()));
        }
        let mut fields = Fields::new("a key", value.clone())?;
        let key = if let Some(row) = fields.maybe("row") {
            let part = |value: &Value| Self::read(value).map(|key| key.bytes());
            Self::Cell {
                row: part(&row)?,
                family: fields.maybe("family").as_ref().map(part).transpose()?,
                qualifier: part(&fields.take("qualifier")?)?,
            }
        } else if let Some(hex) = fields.maybe("hex") {
            Self::Bytes(from_hex(hex.as_str().unwrap_or("?"))?)
        } else if let Some(number) = fields.maybe("i64") {
            Self::I64(decimal(&number)?)
        } else if let Some(number) = fields.maybe("u64") {
            Self::U64(decimal(&number)?)
        } else {
            Self::I32(i32::try_from(fields.i64("i32")?)?)
        };
        fields.finish()?;
        Ok(key)
    }

    /// The bytes of text and raw keys, and of integers in their own width, little-endian; of a cell those of its row.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
            Self::I32(number) => number.to_le_bytes().to_vec(),
            Self::I64(number) => number.to_le_bytes().to_vec(),
            Self::U64(number) => number.to_le_bytes().to_vec(),
            Self::Cell { row, .. } => row.clone(),
        }
    }
}

impl Key {
    /// The same with integers big-endian, as Java writes them.
    pub(crate) fn big_endian_bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(_) | Self::Bytes(_) | Self::Cell { .. } => self.bytes(),
            Self::I32(number) => number.to_be_bytes().to_vec(),
            Self::I64(number) => number.to_be_bytes().to_vec(),
            Self::U64(number) => number.to_be_bytes().to_vec(),
        }
    }
}

pub(crate) fn from_hex(text: &str) -> Result<Vec<u8>, CaseError> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| CaseError(format!("{text} is not hex")))?;
    Ok(digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect())
}

fn decimal<T: std::str::FromStr>(value: &Value) -> Result<T, CaseError> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    text.parse()
        .map_err(|_| CaseError(format!("{value} is not such a number")))
}

/// The keys that a rule describes.
pub(crate) fn rule_keys(rule: Value) -> Result<Vec<Key>, CaseError> {
    let mut rule = Fields::new("a rule", rule)?;
    let kind = rule.text("kind")?;
    let count = rule.u64("count")?;
    let start = decimal::<i64>(&rule.take("start")?)?;
    let keys = match kind.as_str() {
        "utf8" => {
            let prefix = rule.text("prefix")?;
            (0..count)
                .map(|i| Key::Text(format!("{prefix}{}", start.cast_unsigned() + i)))
                .collect()
        }
        "i64" | "i32" => {
            let step = decimal::<i64>(&rule.take("step")?)?;
            let number = |i: u64| start.wrapping_add(step.wrapping_mul(i.cast_signed()));
            (0..count)
                .map(|i| {
                    if kind == "i64" {
                        Key::I64(number(i))
                    } else {
                        Key::I32(number(i) as i32)
                    }
                })
                .collect()
        }
        "bin" => {
            let modulus = rule.u64("mod")?;
            (0..count)
                .map(|i| {
                    // Remainders are never negative.
                    let n = start + i.cast_signed();
                    let length = n.rem_euclid(modulus.cast_signed());
                    let mut bytes = (n as i32).to_le_bytes().to_vec();
                    bytes.extend((0..length).map(|j| (n * 131 + j * 89 + 7).rem_euclid(256) as u8));
                    Key::Bytes(bytes)
                })
                .collect()
        }
        "rowcol" => {
            let (row, qualifier) = (rule.text("row_prefix")?, rule.text("qualifier_prefix")?);
            let per_row = rule.u64("per_row")?;
            (0..count)
                .map(|i| Key::Cell {
                    row: format!("{row}{}", start.cast_unsigned() + i / per_row).into_bytes(),
                    family: None,
                    qualifier: format!("{qualifier}{}", i % per_row).into_bytes(),
                })
                .collect()
        }
        other => return Err(CaseError(format!("rule {other} is not known"))),
    };
    rule.finish()?;
    Ok(keys)
}
