//! Numbers of many rows, a column for each feature. What asks the same of all rows, or fills in the same for all, looks at one column.

/// Values of a column that are looked at together, in a few instructions.
pub(crate) const LANES: usize = 32;

/// A table that is filled column by column.
pub(crate) struct Columns<const FEATURES: usize> {
    rows: usize,
    /// One column behind the other, each with zeros up to a multiple of [`LANES`].
    values: Vec<[u8; LANES]>,
    /// How many columns there are.
    filled: usize,
}

impl<const FEATURES: usize> Columns<FEATURES> {
    /// Without columns, for so many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, values: vec![[0; LANES]; rows.div_ceil(LANES) * FEATURES], filled: 0 }
    }

    /// A single row.
    pub(crate) fn of_row(row: &[u8; FEATURES]) -> Self {
        let mut columns = Self::new(1);
        row.iter().for_each(|value| columns.push_same(*value));
        columns
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether all columns are filled.
    pub(crate) fn is_complete(&self) -> bool {
        self.filled == FEATURES
    }

    /// The values of a feature, so many at a time. The last ones may have zeros behind them.
    pub(crate) fn lanes(&self, feature: usize) -> &[[u8; LANES]] {
        let chunks = self.rows.div_ceil(LANES);
        &self.values[feature * chunks..][..chunks]
    }

    /// The values of a feature.
    pub(crate) fn column(&self, feature: usize) -> &[u8] {
        &self.lanes(feature).as_flattened()[..self.rows]
    }

    /// The values of a row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = u8> {
        (0..self.filled).map(move |feature| self.column(feature)[row])
    }

    /// The next columns, to be filled in; each has `.1` places.
    fn next(&mut self, columns: usize) -> (&mut [u8], usize) {
        let chunks = self.rows.div_ceil(LANES);
        let begin = self.filled * chunks;
        self.filled += columns;
        (self.values[begin..][..columns * chunks].as_flattened_mut(), chunks * LANES)
    }

    /// The next column.
    pub(crate) fn push(&mut self, column: impl Iterator<Item = u8>) {
        let rows = self.rows;
        self.next(1).0[..rows].iter_mut().zip(column).for_each(|(place, value)| *place = value);
    }

    /// The next column, which is the same for all rows.
    pub(crate) fn push_same(&mut self, value: u8) {
        let rows = self.rows;
        self.next(1).0[..rows].fill(value);
    }

    /// The next columns, by rows.
    pub(crate) fn push_rows<const COLUMNS: usize>(&mut self, rows: impl Iterator<Item = [u8; COLUMNS]>) {
        let count = self.rows;
        let (columns, length) = self.next(COLUMNS);
        for (at, row) in rows.take(count).enumerate() {
            columns[at..].iter_mut().step_by(length).zip(row).for_each(|(place, value)| *place = value);
        }
    }

    /// The next column: what another one has so many rows behind; `outside` where there is no such row.
    pub(crate) fn push_shifted(&mut self, feature: usize, rows: isize, outside: u8) {
        let distance = rows.unsigned_abs().min(self.rows);
        let chunks = self.rows.div_ceil(LANES);
        let (filled, next) = self.values.split_at_mut(self.filled * chunks);
        let column = &filled.as_flattened()[feature * chunks * LANES..][..self.rows];
        let next = &mut next.as_flattened_mut()[..self.rows];
        let kept = self.rows - distance;
        if rows < 0 {
            next[..distance].fill(outside);
            next[distance..].copy_from_slice(&column[..kept]);
        } else {
            next[..kept].copy_from_slice(&column[distance..]);
            next[kept..].fill(outside);
        }
        self.filled += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_filled_in_turn() {
        let mut columns = Columns::<6>::new(3);
        columns.push([1, 2, 3].into_iter());
        columns.push_same(9);
        columns.push_rows([[4, 7], [5, 8], [6, 9]].into_iter());
        columns.push_shifted(0, -1, 255);
        assert!(!columns.is_complete());
        columns.push_shifted(0, 2, 255);
        assert!(columns.is_complete());
        assert_eq!(columns.row(0).collect::<Vec<_>>(), [1, 9, 4, 7, 255, 3]);
        assert_eq!(columns.row(2).collect::<Vec<_>>(), [3, 9, 6, 9, 2, 255]);
        assert_eq!(columns.column(3), [7, 8, 9]);
    }

    #[test]
    fn a_shift_beyond_all_rows_leaves_nothing() {
        for (rows, shift) in [(0, 1), (1, -3), (2, 2), (2, 3)] {
            let mut columns = Columns::<2>::new(rows);
            columns.push_same(1);
            columns.push_shifted(0, shift, 255);
            assert!(columns.is_complete());
            assert_eq!(columns.column(1), vec![255; rows]);
        }
    }
}
