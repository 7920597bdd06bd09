//! Sums of small decision trees. `train/train.py` makes them; the files `*.model` hold them as text.
//!
//! Each tree asks the same few questions of every row, so the answers are the bits of the place of its leaf.

/// Questions of a tree, at most.
const DEPTH_MAX: usize = 4;
/// Leaves of a tree.
const LEAVES: usize = 1 << DEPTH_MAX;
/// Rows that are looked at together: a question is asked of all of them in a few instructions.
const LANES: usize = 32;
/// What a leaf is a multiple of.
const UNIT: f32 = 1.0 / 4096.0;

/// A model with so many outputs.
pub(crate) struct Model<const OUTPUTS: usize> {
    bias: [f32; OUTPUTS],
    trees: Vec<DecisionTree>,
    /// The leaves of all trees, each with its outputs.
    leaves: Vec<[i16; OUTPUTS]>,
}

struct DecisionTree {
    /// Which number is asked about, and what it must exceed. What is not used exceeds nothing.
    questions: [(u16, u8); DEPTH_MAX],
    first_leaf: u32,
}

impl<const OUTPUTS: usize> Model<OUTPUTS> {
    /// Reads a model: a line with the bias, then one for each tree: its questions as `number>limit`, a bar, its leaves. Lines that begin
    /// with `#` are comments. A line that cannot be read is left out; the tests show that there is none.
    pub(crate) fn parse(text: &str) -> Self {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut bias = [0.0; OUTPUTS];
        let first = lines.next().unwrap_or_default();
        for (output, value) in bias.iter_mut().zip(first.split_ascii_whitespace()) {
            *output = value.parse().unwrap_or_default();
        }
        let mut model = Model { bias, trees: Vec::new(), leaves: Vec::new() };
        for line in lines {
            model.add(line);
        }
        model
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let (questions, leaves) = line.split_once('|')?;
        let mut tree = DecisionTree { questions: [(0, u8::MAX); DEPTH_MAX], first_leaf: self.leaves.len() as u32 };
        for (place, question) in questions.split_ascii_whitespace().enumerate() {
            let (number, limit) = question.split_once('>')?;
            *tree.questions.get_mut(place)? = (number.parse().ok()?, limit.parse().ok()?);
        }
        let values: Vec<i16> = leaves.split_ascii_whitespace().filter_map(|leaf| leaf.parse().ok()).collect();
        let (leaves, _) = values.as_chunks::<OUTPUTS>();
        let missing = LEAVES.checked_sub(leaves.len())?;
        self.leaves.extend_from_slice(leaves);
        self.leaves.extend(std::iter::repeat_n([0; OUTPUTS], missing));
        self.trees.push(tree);
        Some(())
    }

    /// The outputs for each row.
    pub(crate) fn of<const FEATURES: usize>(&self, rows: &[[u8; FEATURES]]) -> Vec<[f32; OUTPUTS]> {
        let mut outputs = Vec::with_capacity(rows.len());
        let mut columns = [[0; LANES]; FEATURES];
        for rows in rows.chunks(LANES) {
            for (lane, row) in rows.iter().enumerate() {
                columns.iter_mut().zip(row).for_each(|(column, number)| column[lane] = *number);
            }
            let mut sums = [[0; OUTPUTS]; LANES];
            self.trees.iter().for_each(|tree| self.add_leaves(tree, &columns, &mut sums[..rows.len()]));
            let of_row =
                |sums: &[i32; OUTPUTS]| std::array::from_fn(|output| self.bias[output] + sums[output] as f32 * UNIT);
            outputs.extend(sums[..rows.len()].iter().map(of_row));
        }
        outputs
    }

    /// Adds the leaf of each row.
    #[inline]
    fn add_leaves<const FEATURES: usize>(
        &self,
        tree: &DecisionTree,
        columns: &[[u8; LANES]; FEATURES],
        sums: &mut [[i32; OUTPUTS]],
    ) {
        let mut places = [0; LANES];
        for (bit, (number, limit)) in tree.questions.iter().enumerate() {
            for (place, value) in places.iter_mut().zip(&columns[usize::from(*number) % FEATURES]) {
                *place |= u8::from(value > limit) << bit;
            }
        }
        let Some((leaves, _)) = self.leaves[tree.first_leaf as usize..].split_first_chunk::<LEAVES>() else { return };
        for (sums, place) in sums.iter_mut().zip(places) {
            for (sum, value) in sums.iter_mut().zip(leaves[usize::from(place) % LEAVES]) {
                *sum += i32::from(value);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn trees(&self) -> usize {
        self.trees.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_found_by_the_answers() {
        let model = Model::<1>::parse("# comment\n0.5\n0>3 1>7|0 4096 -4096 8192\n1>0|0 2048\nnonsense\n");
        assert_eq!(model.trees(), 2);
        let rows = [[0, 0], [4, 0], [3, 8], [9, 9]];
        let outputs = [[0.5], [1.5], [0.0], [3.0]];
        assert_eq!(model.of(&rows), outputs);
        let many = rows.repeat(LANES);
        assert_eq!(model.of(&many), outputs.repeat(LANES));
    }
}
