//! Computing in rounds, by workers that exchange messages: the one module that knows the dataflow library.
//!
//! In each round every worker sends each worker one message, and takes those that were sent to it in the round before. That is a
//! loop with one operator in timely dataflow: the timestamp is the number of the round. No barrier is needed, since a worker
//! goes on as soon as it has heard from all.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{ConnectLoop, Feedback};
use timely::worker::Worker;
use timely::{CommunicationConfig, ExchangeData, WorkerConfig};

use crate::GraphError;

/// Who computes: threads of this process, and perhaps of others.
pub struct Crew {
    threads: usize,
    sockets: Vec<Option<TcpStream>>,
}

impl Crew {
    /// Threads of this process; at least one.
    #[must_use]
    pub fn threads(threads: usize) -> Self {
        Crew { threads: threads.max(1), sockets: Vec::new() }
    }

    /// As many threads as there are cores.
    #[must_use]
    pub fn all_cores() -> Self {
        Crew::threads(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
    }

    /// Threads of several processes, which hold a part of the pages each. A process has as many threads as every other, a
    /// connection to each of the others in the order of the processes, and `None` in its own place.
    #[must_use]
    pub fn among(sockets: Vec<Option<TcpStream>>, threads: usize) -> Self {
        Crew { threads: threads.max(1), sockets }
    }

    /// How many threads each process has.
    pub(crate) fn of_each_process(&self) -> usize {
        self.threads
    }

    /// How many processes there are.
    pub(crate) fn processes(&self) -> usize {
        self.sockets.len().max(1)
    }

    fn build(self) -> Result<(Vec<AllocatorBuilder>, Box<dyn std::any::Any + Send>), String> {
        let Some(process) = self.sockets.iter().position(Option::is_none) else {
            return CommunicationConfig::Process(self.threads).try_build();
        };
        let hooks = Hooks::default();
        let local = ProcessBuilder::new_typed_vector(self.threads, hooks.refill.clone(), None);
        let (workers, guard) = initialize_networking_from_sockets(local, self.sockets, process, self.threads, hooks)
            .map_err(|error| error.to_string())?;
        Ok((workers.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard)))
    }
}

/// A worker's part of a computation.
pub(crate) trait Rounds: 'static {
    /// What workers tell each other.
    type Message: ExchangeData + Clone;
    /// What a worker has in the end.
    type Answer: Send + 'static;

    /// One round. `inbox` has the message of each worker, by its number; in the first round there is none. All workers must
    /// end in the same round.
    fn round(&mut self, inbox: Vec<Self::Message>) -> Step<Self::Message, Self::Answer>;
}

/// What a worker does at the end of a round.
pub(crate) enum Step<M, A> {
    /// Sends each worker a message, by its number.
    Send(Vec<M>),
    /// Ends.
    End(A),
}

/// Runs a computation. `make` makes a worker's part, of its number and the number of workers. Gives the answers of the workers
/// of this process, in order.
///
/// # Errors
/// A worker panicked; in a process with others, also because one of those was lost.
pub(crate) fn run<R: Rounds>(
    crew: Crew,
    make: impl Fn(usize, usize) -> R + Send + Sync + 'static,
) -> Result<Vec<R::Answer>, GraphError> {
    let (workers, guard) = crew.build().map_err(GraphError::Worker)?;
    let running = timely::execute::execute_from(workers, guard, WorkerConfig::default(), move |worker| {
        work(worker, make(worker.index(), worker.peers()))
    });
    let answers = running.map_err(GraphError::Worker)?.join();
    let answer = |answer: Result<Option<R::Answer>, String>| {
        answer.map_err(GraphError::Worker)?.ok_or_else(|| GraphError::Worker("no answer".to_owned()))
    };
    answers.into_iter().map(answer).collect()
}

/// A message on its way.
#[derive(Clone, Serialize, Deserialize)]
struct Letter<M> {
    to: u64,
    from: u64,
    /// The round that it is for.
    round: u64,
    message: M,
}

fn work<R: Rounds>(worker: &mut Worker, mut rounds: R) -> Option<R::Answer> {
    let answer = Rc::new(RefCell::new(None));
    let (from, peers, ended) = (worker.index() as u64, worker.peers(), answer.clone());
    worker.dataflow::<u64, _, _>(|scope| {
        let (handle, cycle) = scope.feedback::<Vec<Letter<R::Message>>>(1);
        let to = Exchange::new(|letter: &Letter<R::Message>| letter.to);
        cycle
            .unary_frontier::<CapacityContainerBuilder<Vec<_>>, _, _, _>(to, "rounds", |capability, _| {
                let mut capability = Some(capability);
                let mut inboxes: BTreeMap<u64, Vec<Letter<R::Message>>> = BTreeMap::new();
                let mut round = 0;
                move |(input, _), output| {
                    input.for_each_stamp(|_, batches| {
                        for letter in batches.flat_map(|batch| batch.drain(..)) {
                            inboxes.entry(letter.round).or_default().push(letter);
                        }
                    });
                    while let Some(held) = &mut capability {
                        let heard = inboxes.get(&round).map_or(0, Vec::len);
                        if round > 0 && heard < peers {
                            break;
                        }
                        let mut inbox = inboxes.remove(&round).unwrap_or_default();
                        inbox.sort_unstable_by_key(|letter| letter.from);
                        match rounds.round(inbox.into_iter().map(|letter| letter.message).collect()) {
                            Step::Send(messages) => {
                                round += 1;
                                let letter = |(to, message)| Letter { to, from, round, message };
                                output.session(held).give_iterator((0..).zip(messages).map(letter));
                                held.downgrade(&round);
                            }
                            Step::End(answer) => {
                                *ended.borrow_mut() = Some(answer);
                                capability = None;
                            }
                        }
                    }
                }
            })
            .connect_loop(handle);
    });
    while answer.borrow().is_none() && worker.has_dataflows() {
        worker.step_or_park(None);
    }
    answer.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up the numbers of the workers, some times over.
    struct Sum {
        own: u64,
        peers: usize,
        rounds: u32,
    }

    impl Rounds for Sum {
        type Message = u64;
        type Answer = u64;

        fn round(&mut self, inbox: Vec<u64>) -> Step<u64, u64> {
            if self.rounds == 0 {
                return Step::End(inbox.iter().sum());
            }
            self.rounds -= 1;
            let said = if inbox.is_empty() { self.own } else { inbox[self.own as usize] };
            Step::Send(vec![said; self.peers])
        }
    }

    #[test]
    fn everyone_hears_everyone_in_every_round() {
        for threads in [1, 2, 4] {
            for rounds in [1, 2, 50] {
                let make = move |own: usize, peers| Sum { own: own as u64, peers, rounds };
                let answers = run(Crew::threads(threads), make).unwrap();
                assert_eq!(answers, vec![(0..threads as u64).sum::<u64>(); threads], "{rounds}");
            }
        }
    }

    /// Panics in its second round, if it is the one.
    struct Fragile(bool, usize);

    impl Rounds for Fragile {
        type Message = ();
        type Answer = ();

        fn round(&mut self, inbox: Vec<()>) -> Step<(), ()> {
            assert!(!self.0 || inbox.is_empty(), "as it should");
            if inbox.is_empty() { Step::Send(vec![(); self.1]) } else { Step::End(()) }
        }
    }

    #[test]
    fn a_worker_that_panics_is_an_error() {
        let error = run(Crew::threads(1), |_, peers| Fragile(true, peers)).unwrap_err();
        assert!(error.to_string().starts_with("a worker failed"), "{error}");
    }
}
