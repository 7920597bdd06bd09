//! Sums of small decision trees. `train/train.py` makes them; the files `*.model` hold them as text.
//!
//! Each tree asks the same few questions of every row, so the answers are the bits of the place of its leaf. On one page most questions
//! have the same answer for all rows: no element is called a menu, say. What is left of several trees then asks so little that it is one
//! tree, whose leaves are their sums. Sums are of whole numbers, so the order in which they are taken changes nothing.

use crate::columns::{Columns, LANES};

/// Questions of a tree, at most.
const DEPTH_MAX: usize = 4;
/// Leaves of a tree.
const LEAVES: usize = 1 << DEPTH_MAX;
/// Questions of the tree that several are joined to, at most: one more doubles its leaves.
const JOINED_DEPTH_MAX: usize = 5;
/// Leaves of such a tree.
const JOINED_LEAVES: usize = 1 << JOINED_DEPTH_MAX;
/// What a leaf is a multiple of.
const UNIT: f32 = 1.0 / 4096.0;

/// A model with so many outputs.
pub(crate) struct Model<const OUTPUTS: usize> {
    bias: [f32; OUTPUTS],
    trees: Vec<DecisionTree<OUTPUTS>>,
    /// The features that any tree asks about.
    features: Vec<u16>,
}

struct DecisionTree<const OUTPUTS: usize> {
    questions: [Question; DEPTH_MAX],
    leaves: [[i16; OUTPUTS]; LEAVES],
}

/// Whether a feature exceeds a limit. A question that is not used asks whether the first exceeds all.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Question {
    feature: u16,
    limit: u8,
}

/// Which leaves of a joined tree say yes to a question, each as the bit of the question in the tree that asks it: by the place of the question
/// in that tree, then in the joined one.
const YES: [[[u8; JOINED_LEAVES]; JOINED_DEPTH_MAX]; DEPTH_MAX] = {
    let mut yes = [[[0; JOINED_LEAVES]; JOINED_DEPTH_MAX]; DEPTH_MAX];
    let mut at = 0;
    while at < DEPTH_MAX * JOINED_DEPTH_MAX * JOINED_LEAVES {
        let (leaf, asked, bit) =
            (at % JOINED_LEAVES, at / JOINED_LEAVES % JOINED_DEPTH_MAX, at / JOINED_LEAVES / JOINED_DEPTH_MAX);
        yes[bit][asked][leaf] = ((leaf >> asked & 1) << bit) as u8;
        at += 1;
    }
    yes
};

/// Trees in one.
struct Joined<const OUTPUTS: usize> {
    questions: [Question; JOINED_DEPTH_MAX],
    depth: usize,
    leaves: [[i32; OUTPUTS]; JOINED_LEAVES],
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
        let trees: Vec<DecisionTree<OUTPUTS>> = lines.filter_map(DecisionTree::parse).collect();
        let questions = trees.iter().flat_map(|tree| tree.questions).filter(|question| question.limit < u8::MAX);
        let mut features: Vec<u16> = questions.map(|question| question.feature).collect();
        features.sort_unstable();
        features.dedup();
        Model { bias, trees, features }
    }

    /// The outputs for each row.
    pub(crate) fn of<const FEATURES: usize>(&self, columns: &Columns<FEATURES>) -> Vec<[f32; OUTPUTS]> {
        let mut ranges = [(u8::MAX, u8::MIN); FEATURES];
        for feature in &self.features {
            ranges[usize::from(*feature)] = range(columns.column(usize::from(*feature)));
        }
        let mut of_all = [0; OUTPUTS];
        let mut sums = vec![[[0; OUTPUTS]; LANES]; columns.rows().div_ceil(LANES)];
        let mut joined = Joined::default();
        for tree in &self.trees {
            let (certain, open) = tree.settled(&ranges);
            if open == 0 {
                add(&mut of_all, &tree.leaves[certain]);
            } else if !joined.join(tree, certain, open) {
                joined.add_leaves(columns, &mut sums);
                joined = Joined::default();
                joined.join(tree, certain, open);
            }
        }
        joined.add_leaves(columns, &mut sums);
        let of_row = |sums: &[i32; OUTPUTS]| {
            std::array::from_fn(|output| self.bias[output] + (of_all[output] + sums[output]) as f32 * UNIT)
        };
        sums.as_flattened().iter().take(columns.rows()).map(of_row).collect()
    }

    #[cfg(test)]
    pub(crate) fn trees(&self) -> usize {
        self.trees.len()
    }
}

/// Adds each number to a sum.
#[inline(always)]
fn add<const COUNT: usize, T: Copy + Into<i32>>(sums: &mut [i32; COUNT], numbers: &[T; COUNT]) {
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += (*number).into());
}

/// The least and the greatest value of a column.
fn range(column: &[u8]) -> (u8, u8) {
    column.iter().fold((u8::MAX, u8::MIN), |(least, most), value| (least.min(*value), most.max(*value)))
}

impl<const OUTPUTS: usize> DecisionTree<OUTPUTS> {
    fn parse(line: &str) -> Option<Self> {
        let (questions, leaves) = line.split_once('|')?;
        let unused = Question { feature: 0, limit: u8::MAX };
        let mut tree = DecisionTree { questions: [unused; DEPTH_MAX], leaves: [[0; OUTPUTS]; LEAVES] };
        for (place, question) in questions.split_ascii_whitespace().enumerate() {
            let (feature, limit) = question.split_once('>')?;
            *tree.questions.get_mut(place)? = Question { feature: feature.parse().ok()?, limit: limit.parse().ok()? };
        }
        let values: Vec<i16> = leaves.split_ascii_whitespace().filter_map(|leaf| leaf.parse().ok()).collect();
        let (leaves, _) = values.as_chunks::<OUTPUTS>();
        tree.leaves.get_mut(..leaves.len())?.copy_from_slice(leaves);
        Some(tree)
    }

    /// The answers that all rows give to each question, and which questions rows answer differently, as bits: by the range of each feature.
    fn settled(&self, ranges: &[(u8, u8)]) -> (usize, usize) {
        let (mut certain, mut open) = (0, 0);
        for (bit, Question { feature, limit }) in self.questions.into_iter().enumerate() {
            let (least, most) = ranges[usize::from(feature)];
            certain |= usize::from(least > limit) << bit;
            open |= usize::from(least <= limit && most > limit) << bit;
        }
        (certain, open)
    }
}

impl<const OUTPUTS: usize> Default for Joined<OUTPUTS> {
    fn default() -> Self {
        Self { questions: [Question::default(); JOINED_DEPTH_MAX], depth: 0, leaves: [[0; OUTPUTS]; JOINED_LEAVES] }
    }
}

impl<const OUTPUTS: usize> Joined<OUTPUTS> {
    /// Adds a tree, of which some questions are open. The answer is whether there was room for them.
    fn join(&mut self, tree: &DecisionTree<OUTPUTS>, certain: usize, open: usize) -> bool {
        let mut questions = self.questions;
        let mut depth = self.depth;
        // For each leaf the place of that of the tree.
        let mut places = [certain as u8; JOINED_LEAVES];
        for (bit, question) in tree.questions.iter().enumerate().filter(|(bit, _)| open >> bit & 1 == 1) {
            let known = questions[..depth].iter().position(|known| known == question);
            let asked = known.unwrap_or(depth);
            if asked == JOINED_DEPTH_MAX {
                return false;
            }
            questions[asked] = *question;
            depth = depth.max(asked + 1);
            places.iter_mut().zip(&YES[bit][asked]).for_each(|(place, yes)| *place |= yes);
        }
        // The leaves were told apart by fewer questions: they are the same whatever the answers to the others.
        for doubled in self.depth..depth {
            let (leaves, others) = self.leaves.split_at_mut(1 << doubled);
            others[..1 << doubled].copy_from_slice(leaves);
        }
        (self.questions, self.depth) = (questions, depth);
        for (sums, place) in self.leaves[..1 << depth].iter_mut().zip(&places) {
            add(sums, &tree.leaves[usize::from(*place) % LEAVES]);
        }
        true
    }

    /// Adds the leaf of each row.
    fn add_leaves<const FEATURES: usize>(&self, columns: &Columns<FEATURES>, sums: &mut [[[i32; OUTPUTS]; LANES]]) {
        for (chunk, sums) in sums.iter_mut().enumerate() {
            let mut places = [0; LANES];
            for (bit, Question { feature, limit }) in self.questions[..self.depth].iter().enumerate() {
                let values = &columns.lanes(usize::from(*feature))[chunk];
                for (place, value) in places.iter_mut().zip(values) {
                    *place |= u8::from(value > limit) << bit;
                }
            }
            for (sums, place) in sums.iter_mut().zip(&places) {
                add(sums, &self.leaves[usize::from(*place) % JOINED_LEAVES]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outputs for rows of numbers.
    fn outputs<const FEATURES: usize>(model: &Model<1>, rows: &[[u8; FEATURES]]) -> Vec<[f32; 1]> {
        let mut columns = Columns::<FEATURES>::new(rows.len());
        columns.push_rows(rows.iter().copied());
        model.of(&columns)
    }

    #[test]
    fn leaves_are_found_by_the_answers() {
        let model = Model::<1>::parse("# comment\n0.5\n0>3 1>7|0 4096 -4096 8192\n1>0|0 2048\nnonsense\n");
        assert_eq!(model.trees(), 2);
        let rows = [[0, 0], [4, 0], [3, 8], [9, 9]];
        let expect = [[0.5], [1.5], [0.0], [3.0]];
        assert_eq!(outputs(&model, &rows), expect);
        let many = rows.repeat(LANES);
        assert_eq!(outputs(&model, &many), expect.repeat(LANES));
        for (row, expect) in rows.iter().zip(expect) {
            assert_eq!(outputs(&model, &[*row]), [expect], "all questions have one answer");
        }
    }

    #[test]
    fn trees_that_are_joined_give_their_sum() {
        const FEATURES: usize = 9;
        let trees: Vec<String> = (0..FEATURES)
            .map(|first| {
                let questions: String =
                    (0..DEPTH_MAX).map(|place| format!("{}>{} ", (first + place * 2) % FEATURES, place * 3)).collect();
                let leaves: String = (0..LEAVES).map(|leaf| format!(" {}", (leaf * leaf + first) * 64)).collect();
                format!("{questions}|{leaves}\n")
            })
            .collect();
        let alone: Vec<Model<1>> = trees.iter().map(|tree| Model::parse(&format!("0\n{tree}"))).collect();
        let together = Model::<1>::parse(&format!("0\n{}", trees.concat()));
        let rows: Vec<[u8; FEATURES]> =
            (0..100).map(|row| std::array::from_fn(|feature| ((row * 7 + feature * 5) % 11) as u8)).collect();
        for rows in [&rows[..], &rows[..3], &rows[..1], &[]] {
            let sums = outputs(&together, rows);
            for (at, row) in rows.iter().enumerate() {
                let sum: f32 = alone.iter().map(|model| outputs(model, &[*row])[0][0]).sum();
                assert_eq!(sums[at], [sum], "{row:?}");
            }
        }
    }
}
