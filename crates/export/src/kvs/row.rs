//! A row as bytes.

use super::key::key_of_text;

/// What ends a row.
pub(super) const END: &[u8] = b"\n";

/// Appends the columns of a row.
pub(super) struct RowWriter<'b>(pub(super) &'b mut Vec<u8>);

impl<'b> RowWriter<'b> {
    /// Begins the row of a URL: its key, and the column `url`.
    pub(super) fn begin(bytes: &'b mut Vec<u8>, url: &str) -> Self {
        bytes.extend_from_slice(key_of_text(url).as_bytes());
        bytes.push(b' ');
        let mut row = RowWriter(bytes);
        row.column("url", url.as_bytes());
        row
    }

    /// Adds a column, whose name must have no space.
    pub(super) fn column(&mut self, name: &str, value: &[u8]) {
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(format!(" {} ", value.len()).as_bytes());
        self.0.extend_from_slice(value);
        self.0.push(b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_its_key_and_its_columns() {
        let mut bytes = Vec::new();
        let mut row = RowWriter::begin(&mut bytes, "http://a.test:80/");
        row.column("page", b"two\nlines");
        row.column("empty", b"");
        let expect = "ba71ee494ec6317312e17055b32159e6fa17ac6a url 17 http://a.test:80/ page 9 two\nlines empty 0  ";
        assert_eq!(String::from_utf8(bytes).unwrap(), expect);
    }
}
