//! How much work a decision may be.

/// The most steps of one decision. A step is a small piece of work of a few nanoseconds: a look into a table, a rule that is considered, some
/// octets that are compared.
///
/// Only rules with `*` between octets can need many: those that have a piece in common with the URL are tried one by one. A file in use needs
/// some hundreds of steps, one that was made to be slow is refused ([`Reason::TooManySteps`](crate::Reason::TooManySteps)).
pub const DECISION_STEPS_MAX: usize = 16_000;

/// The steps that are left.
#[derive(Debug)]
pub(crate) struct Steps {
    left: usize,
}

/// There are no more steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepsExceeded;

impl Steps {
    pub(crate) fn new() -> Self {
        Self { left: DECISION_STEPS_MAX }
    }

    /// Takes so many of them.
    #[inline]
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), StepsExceeded> {
        let (left, is_exceeded) = self.left.overflowing_sub(steps);
        if is_exceeded {
            return Err(StepsExceeded);
        }
        self.left = left;
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn without_limit() -> Self {
        Self { left: usize::MAX }
    }

    /// How many were taken.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> usize {
        DECISION_STEPS_MAX - self.left
    }
}
