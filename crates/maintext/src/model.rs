//! Sums of small decision trees. `train/train.py` makes them; the files `*.model` hold them as text.
//!
//! Each tree asks the same few questions of every row, so the answers are the bits of the place of its leaf.

/// Questions of a tree, at most.
const DEPTH_MAX: usize = 4;
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
        let missing = (1usize << DEPTH_MAX).checked_sub(leaves.len())?;
        self.leaves.extend_from_slice(leaves);
        self.leaves.extend(std::iter::repeat_n([0; OUTPUTS], missing));
        self.trees.push(tree);
        Some(())
    }

    /// The outputs for a row.
    pub(crate) fn of<const FEATURES: usize>(&self, row: &[u8; FEATURES]) -> [f32; OUTPUTS] {
        let mut sums = [0; OUTPUTS];
        for tree in &self.trees {
            let mut leaf = tree.first_leaf as usize;
            for (bit, (number, limit)) in tree.questions.iter().enumerate() {
                leaf += usize::from(row[usize::from(*number) % FEATURES] > *limit) << bit;
            }
            for (sum, value) in sums.iter_mut().zip(self.leaves[leaf]) {
                *sum += i32::from(value);
            }
        }
        std::array::from_fn(|output| self.bias[output] + sums[output] as f32 * UNIT)
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
        for (row, expect) in [([0, 0], 0.5), ([4, 0], 1.5), ([3, 8], 0.0), ([9, 9], 3.0)] {
            assert_eq!(model.of(&row), [expect], "{row:?}");
        }
    }
}
