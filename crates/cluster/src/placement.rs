//! Who should own which group: pure functions.
//!
//! By [`Placement::Latency`] the nearest worker owns a group. Load decides only among workers that are equally near.

use std::time::Duration;

use coordination::{Bids, GroupName, Member, WorkerId};

/// The largest number of bids before a group is given away: each measurement is a cost for the server.
pub const BIDDERS_MAX: usize = 4;

/// How long a group waits for further bids once there is one.
pub const BIDS_WAIT: Duration = Duration::from_millis(500);

/// How long a group waits for a first bid before it is given away without one: it may be unreachable.
pub const FIRST_BID_WAIT: Duration = Duration::from_secs(5);

/// Two distances that differ by no more than this are equal: the least of five connection times varies that much on a busy machine.
const DISTANCE_NOISE: Duration = Duration::from_millis(2);

/// Groups that one worker may have more than another that is as near, before it gives one away.
const MORE_GROUPS_MAX: u64 = 1;

/// The rule that assigns groups to workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The time it takes to reach the group.
    Latency,
    /// A hash of the group's name and the worker's identity (rendezvous hashing, Thaler and Ravishankar 1998): only the groups
    /// of a worker that joins or leaves move.
    Hash,
}

impl Placement {
    /// The next owners of groups without one. Groups that still wait for bids are left out.
    #[must_use]
    pub fn assign(self, groups: &[Bids], members: &[Member]) -> Vec<(GroupName, WorkerId)> {
        let mut staying = staying(members);
        let mut assigned = Vec::new();
        for free in groups {
            let winner = match self {
                Placement::Hash => highest(&free.group, staying.iter().map(|(id, _)| *id)),
                Placement::Latency => nearest(free, &staying),
            };
            if let Some(winner) = winner {
                staying.iter_mut().filter(|(id, _)| *id == winner).for_each(|(_, groups)| *groups += 1);
                assigned.push((free.group.clone(), winner));
            }
        }
        assigned
    }

    /// Which of its groups a worker should hand over, and to whom, the most urgent first.
    #[must_use]
    pub fn hand_over(self, me: WorkerId, groups: &[Bids], members: &[Member]) -> Vec<(GroupName, WorkerId)> {
        let others = || members.iter().filter(|member| member.id != me && !member.is_leaving);
        let leaves = members.iter().find(|member| member.id == me).is_none_or(|member| member.is_leaving);
        if leaves {
            let mut others: Vec<(WorkerId, u64)> = others().map(|member| (member.id, member.groups)).collect();
            return groups
                .iter()
                .filter_map(|group| Some((group.group.clone(), self.heir(group, &mut others)?)))
                .collect();
        }
        match self {
            Placement::Hash => {
                let all = || members.iter().filter(|member| !member.is_leaving).map(|member| member.id);
                let moved =
                    |group: &Bids| Some((group.group.clone(), highest(&group.group, all()).filter(|id| *id != me)?));
                groups.iter().filter_map(moved).collect()
            }
            Placement::Latency => {
                let mut staying = staying(members);
                let mut moves = to_nearer(me, groups, &mut staying);
                if moves.is_empty() {
                    moves.extend(to_idler(me, groups, &staying));
                }
                moves
            }
        }
    }

    /// The next owner of a group of a leaving worker.
    fn heir(self, group: &Bids, others: &mut [(WorkerId, u64)]) -> Option<WorkerId> {
        let bidder = group.bids.iter().map(|bid| bid.worker).find(|id| others.iter().any(|(other, _)| other == id));
        let heir = match self {
            Placement::Hash => highest(&group.group, others.iter().map(|(id, _)| *id)),
            Placement::Latency => bidder.or_else(|| idlest(others)),
        }?;
        others.iter_mut().filter(|(id, _)| *id == heir).for_each(|(_, groups)| *groups += 1);
        Some(heir)
    }
}

/// The workers that stay, with the number of their groups.
fn staying(members: &[Member]) -> Vec<(WorkerId, u64)> {
    members.iter().filter(|member| !member.is_leaving).map(|member| (member.id, member.groups)).collect()
}

/// Rendezvous hashing: the worker with the highest hash for the group.
fn highest(group: &GroupName, workers: impl Iterator<Item = WorkerId>) -> Option<WorkerId> {
    workers.max_by_key(|id| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&id.0.to_be_bytes()).update(group.as_str().as_bytes());
        *hasher.finalize().as_bytes()
    })
}

/// The owner of a free group, if enough workers have bid for it: the nearest, or the least loaded of several equally near ones.
fn nearest(free: &Bids, staying: &[(WorkerId, u64)]) -> Option<WorkerId> {
    let bidders = free.bids.iter().filter(|bid| staying.iter().any(|(id, _)| *id == bid.worker)).count();
    if bidders == 0 {
        return if free.ownerless >= FIRST_BID_WAIT { idlest(staying) } else { None };
    }
    if bidders < BIDDERS_MAX.min(staying.len()) && free.ownerless < BIDS_WAIT {
        return None;
    }
    idlest(&equally_near(free, staying))
}

/// The workers that are nearest to a group, with the groups they have: the one with the lowest bid, and those whose bid equals it.
/// All are compared with the lowest bid. If they were compared with each other a group could wander in a circle, since of three
/// distances the first may equal the second, and the second the third, but not the first the third.
fn equally_near(group: &Bids, staying: &[(WorkerId, u64)]) -> Vec<(WorkerId, u64)> {
    let of = |id: WorkerId| staying.iter().copied().find(|(other, _)| *other == id);
    let mut bids = group.bids.iter().filter_map(|bid| Some((of(bid.worker)?, bid.round_trip))).peekable();
    let Some((_, lowest)) = bids.peek().copied() else { return Vec::new() };
    bids.take_while(|(_, round_trip)| *round_trip <= lowest + DISTANCE_NOISE).map(|(worker, _)| worker).collect()
}

fn idlest(workers: &[(WorkerId, u64)]) -> Option<WorkerId> {
    workers.iter().min_by_key(|(id, groups)| (*groups, *id)).map(|(id, _)| *id)
}

/// The groups of a worker to which others are nearer, and their next owners.
fn to_nearer(me: WorkerId, groups: &[Bids], staying: &mut [(WorkerId, u64)]) -> Vec<(GroupName, WorkerId)> {
    let mut moves = Vec::new();
    // A group that its owner could not measure stays: nobody knows whether another is nearer.
    for group in groups.iter().filter(|group| group.bids.iter().any(|bid| bid.worker == me)) {
        let near = equally_near(group, staying);
        if let Some(nearest) = idlest(&near).filter(|_| near.iter().all(|(id, _)| *id != me)) {
            staying.iter_mut().filter(|(id, _)| *id == nearest).for_each(|(_, groups)| *groups += 1);
            moves.push((group.group.clone(), nearest));
        }
    }
    moves
}

/// A group for a worker that has fewer, and is as near to it as its owner.
fn to_idler(me: WorkerId, groups: &[Bids], staying: &[(WorkerId, u64)]) -> Option<(GroupName, WorkerId)> {
    let mine = groups.len() as u64;
    let mut idle: Vec<(WorkerId, u64)> =
        staying.iter().copied().filter(|(id, groups)| *id != me && groups + MORE_GROUPS_MAX < mine).collect();
    idle.sort_by_key(|(id, groups)| (*groups, *id));
    for (idle, _) in idle {
        for group in groups {
            let near = equally_near(group, staying);
            let is_near = |worker| near.iter().any(|(id, _)| *id == worker);
            if is_near(me) && is_near(idle) {
                return Some((group.group.clone(), idle));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use coordination::Bid;

    use super::*;

    fn member(id: i64, groups: u64) -> Member {
        Member { id: WorkerId(id), name: format!("w{id}"), is_leaving: false, groups }
    }

    fn group(name: &str, ownerless_ms: u64, bids: &[(i64, u64)]) -> Bids {
        let mut bids: Vec<Bid> =
            bids.iter().map(|(id, ms)| Bid { worker: WorkerId(*id), round_trip: Duration::from_millis(*ms) }).collect();
        bids.sort_by_key(|bid| bid.round_trip);
        let site = weburl::Site::from_text(&format!("http://{name}")).expect("a site");
        Bids { group: GroupName::of_site(&site), ownerless: Duration::from_millis(ownerless_ms), bids }
    }

    fn ids(moves: &[(GroupName, WorkerId)]) -> Vec<i64> {
        moves.iter().map(|(_, id)| id.0).collect()
    }

    #[test]
    fn the_nearest_gets_it_when_enough_have_bid() {
        let members = [member(1, 0), member(2, 0), member(3, 0)];
        let check = |what: &str, ownerless, bids: &[(i64, u64)], expect: &[i64]| {
            let free = [group("a.test", ownerless, bids)];
            assert_eq!(ids(&Placement::Latency.assign(&free, &members)), expect, "{what}");
        };
        check("all have bid", 1, &[(1, 80), (2, 20), (3, 50)], &[2]);
        check("one may still bid", 1, &[(1, 80), (3, 50)], &[]);
        check("nobody waits for ever", 501, &[(1, 80), (3, 50)], &[3]);
        check("nobody has bid", 1_000, &[], &[]);
        check("nobody can", 5_000, &[], &[1]);
        check("who is gone has bid", 501, &[(9, 1), (3, 50)], &[3]);
    }

    /// In tenths of a millisecond.
    fn precise(name: &str, bids: &[(i64, u64)]) -> Bids {
        let mut group = group(name, 1, bids);
        group.bids.iter_mut().for_each(|bid| bid.round_trip /= 10);
        group
    }

    #[test]
    fn the_nearest_gets_it_however_idle_another_is() {
        let members = [member(1, 1_000), member(2, 0)];
        let check = |bids: &[(i64, u64)], expect: i64| {
            let free = [precise("a.test", bids)];
            assert_eq!(ids(&Placement::Latency.assign(&free, &members)), [expect], "{bids:?}");
        };
        check(&[(1, 495), (2, 600)], 1);
        check(&[(1, 495), (2, 516)], 1);
        check(&[(1, 2_000), (2, 2_021)], 1);
        check(&[(1, 495), (2, 515)], 2);
        check(&[(1, 2), (2, 22)], 2);
        // And moves to the nearest, be it as busy as it likes.
        let mine = [precise("a.test", &[(1, 495), (2, 600)])];
        assert_eq!(ids(&Placement::Latency.hand_over(WorkerId(2), &mine, &members)), [1]);
        assert_eq!(Placement::Latency.hand_over(WorkerId(1), &mine, &members), []);
    }

    #[test]
    fn groups_come_to_rest() {
        // Neighbours are equally near, the first and the last are not.
        let bids = [(1, 100), (2, 115), (3, 130)];
        let all: Vec<Bids> = (0..12).map(|n| precise(&format!("s{n}.test"), &bids)).collect();
        let mut owners: Vec<i64> = vec![3; all.len()];
        for round in 0.. {
            assert!(round < 100, "groups wander: {owners:?}");
            let count = |id: i64| owners.iter().filter(|owner| **owner == id).count() as u64;
            let members = [1, 2, 3].map(|id| member(id, count(id)));
            let mut moves = Vec::new();
            for id in 1..=3 {
                let owned = all.iter().zip(&owners).filter(|(_, owner)| **owner == id);
                let mine: Vec<Bids> = owned.map(|(group, _)| group.clone()).collect();
                moves.extend(Placement::Latency.hand_over(WorkerId(id), &mine, &members));
            }
            if moves.is_empty() {
                break;
            }
            for (group, to) in moves {
                let place = all.iter().position(|bids| bids.group == group).expect("one of them");
                owners[place] = to.0;
            }
        }
        let count = |id: i64| owners.iter().filter(|owner| **owner == id).count();
        assert_eq!((count(1), count(2), count(3)), (6, 6, 0), "the nearest share them");
    }

    #[test]
    fn workers_that_are_equally_near_share() {
        let members = [member(1, 5), member(2, 0)];
        let free: Vec<Bids> = ["a", "b", "c"].map(|name| group(&format!("{name}.test"), 1, &[(1, 10), (2, 11)])).into();
        assert_eq!(ids(&Placement::Latency.assign(&free, &members)), [2, 2, 2]);
        let members = [member(1, 0), member(2, 0)];
        assert_eq!(ids(&Placement::Latency.assign(&free, &members)), [1, 2, 1]);
    }

    #[test]
    fn groups_move_to_who_is_nearer_and_else_to_who_is_idler() {
        let members = [member(1, 2), member(2, 0)];
        let mine = [group("a.test", 0, &[(1, 80), (2, 20)]), group("b.test", 0, &[(1, 20), (2, 80)])];
        let moves = Placement::Latency.hand_over(WorkerId(1), &mine, &members);
        assert_eq!(moves, [(mine[0].group.clone(), WorkerId(2))]);
        let near = [group("a.test", 0, &[(1, 20), (2, 21)]), group("b.test", 0, &[(1, 20), (2, 21)])];
        assert_eq!(ids(&Placement::Latency.hand_over(WorkerId(1), &near, &members)), [2], "one at a time");
        let even = [member(1, 2), member(2, 1)];
        assert_eq!(Placement::Latency.hand_over(WorkerId(1), &near, &even), [], "a group more is no reason");
        let far = [group("a.test", 0, &[(1, 20), (2, 80)]), group("b.test", 0, &[(1, 20), (2, 80)])];
        assert_eq!(Placement::Latency.hand_over(WorkerId(1), &far, &members), [], "idle but far");
    }

    #[test]
    fn who_leaves_hands_over_everything_to_those_who_stay() {
        let mut members = [member(1, 3), member(2, 0), member(3, 0)];
        members[0].is_leaving = true;
        members[2].is_leaving = true;
        let mine = ["a.test", "b.test"].map(|name| group(name, 0, &[(1, 1), (3, 2)]));
        for placement in [Placement::Latency, Placement::Hash] {
            assert_eq!(ids(&placement.hand_over(WorkerId(1), &mine, &members)), [2, 2], "{placement:?}");
        }
        assert_eq!(Placement::Latency.hand_over(WorkerId(1), &mine, &members[..1]), [], "there is nobody");
    }

    #[test]
    fn by_hash_only_groups_of_who_came_or_went_move() {
        let members: Vec<Member> = (1..=4).map(|id| member(id, 0)).collect();
        let all: Vec<Bids> = (0..200).map(|n| group(&format!("s{n}.test"), 0, &[])).collect();
        let before = Placement::Hash.assign(&all, &members);
        for id in 1..=4 {
            let count = before.iter().filter(|(_, owner)| owner.0 == id).count();
            assert!((25..=80).contains(&count), "worker {id} has {count} of 200");
        }
        let after = Placement::Hash.assign(&all, &members[..3]);
        let moved = |(before, after): &(&(GroupName, WorkerId), &(GroupName, WorkerId))| before != after;
        assert!(before.iter().zip(&after).filter(moved).all(|(before, _)| before.1 == WorkerId(4)));
        let mine: Vec<Bids> = all
            .iter()
            .filter(|group| after.iter().any(|(name, id)| *name == group.group && id.0 == 1))
            .cloned()
            .collect();
        let moves = Placement::Hash.hand_over(WorkerId(1), &mine, &members);
        assert!(!moves.is_empty() && moves.iter().all(|(_, to)| to.0 == 4), "only the one that came gets something");
    }
}
