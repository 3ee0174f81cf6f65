//! Values in case files: JSON with `=` for `:` and without quotes around words.

use serde_json::{Map, Value};

/// Parses a whole value.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader { rest: text.trim() };
    if reader.rest.is_empty() {
        return Err("a value is missing".to_owned());
    }
    let value = reader.value()?;
    match reader.rest.trim() {
        "" => Ok(value),
        rest => Err(format!("`{rest}` follows the value")),
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Value, String> {
        self.rest = self.rest.trim_start();
        if self.skip('[') {
            return self.list();
        }
        if self.skip('{') {
            return self.object();
        }
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let word = self.word()?;
        Ok(match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => word.parse::<i64>().map_or_else(|_| Value::from(word), Value::from),
        })
    }

    fn list(&mut self) -> Result<Value, String> {
        let mut items = Vec::new();
        while !self.skip(']') {
            items.push(self.value()?);
            self.separator(']')?;
        }
        Ok(Value::Array(items))
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut entries = Map::new();
        while !self.skip('}') {
            let key = self.word()?.to_owned();
            if !self.skip('=') {
                return Err(format!("`=` is missing after `{key}`"));
            }
            entries.insert(key, self.value()?);
            self.separator('}')?;
        }
        Ok(Value::Object(entries))
    }

    fn quoted(&mut self) -> Result<Value, String> {
        let mut stream = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        let text = stream.next().unwrap_or_else(|| Ok(String::new())).map_err(|error| error.to_string())?;
        self.rest = &self.rest[stream.byte_offset()..];
        Ok(Value::String(text))
    }

    fn word(&mut self) -> Result<&'a str, String> {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if word.is_empty() {
            return Err(format!("a word is missing before `{rest}`"));
        }
        self.rest = rest;
        Ok(word)
    }

    /// Skips a comma, unless the list or object ends here.
    fn separator(&mut self, end: char) -> Result<(), String> {
        if self.skip(',') || self.rest.trim_start().starts_with(end) {
            return Ok(());
        }
        Err(format!("`{end}` is missing"))
    }

    fn skip(&mut self, wanted: char) -> bool {
        match self.rest.trim_start().strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}
