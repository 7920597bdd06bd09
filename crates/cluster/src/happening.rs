//! What a worker tells of its life.

use std::fmt;

use coordination::WorkerId;
use printable::counted;

/// What happens in a life, for its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The leases of other workers ran out: their groups are free.
    Died(Vec<WorkerId>),
    /// This worker owns so many more groups.
    TookOver(usize),
    /// Another worker owns so many of its groups now; or nobody, if nobody takes them.
    HandedOver(usize, Option<WorkerId>),
    /// It was asked to leave.
    Leaves,
    /// It goes by the change with this number.
    GoesBy(i64),
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = |count: &usize| counted(*count as u64, "group");
        match self {
            Happening::Died(workers) => {
                let workers: Vec<String> = workers.iter().map(ToString::to_string).collect();
                write!(f, "dead since their leases ran out: worker {}", workers.join(", worker "))
            }
            Happening::TookOver(count) => write!(f, "{} taken over", groups(count)),
            Happening::HandedOver(count, Some(to)) => write!(f, "{} handed over to worker {to}", groups(count)),
            Happening::HandedOver(count, None) => write!(f, "{} given up", groups(count)),
            Happening::Leaves => f.write_str("leaving: handing over all groups"),
            Happening::GoesBy(change) => write!(f, "change {change} is in force"),
        }
    }
}

/// Is told what happens in a life.
pub type Tell = Box<dyn Fn(Happening) + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_in_a_line() {
        let (one, other) = (WorkerId(1), WorkerId(-1));
        for (happening, expect) in [
            (
                Happening::Died(vec![one, other]),
                "dead since their leases ran out: worker 0000000000000001, worker ffffffffffffffff",
            ),
            (Happening::TookOver(1), "1 group taken over"),
            (Happening::HandedOver(2, Some(one)), "2 groups handed over to worker 0000000000000001"),
            (Happening::HandedOver(2, None), "2 groups given up"),
            (Happening::Leaves, "leaving: handing over all groups"),
            (Happening::GoesBy(3), "change 3 is in force"),
        ] {
            assert_eq!(happening.to_string(), expect);
        }
    }
}
