//! An adapter for differential dataflow: patterns joined two at a time, every moment a time of its own, so that answers are told
//! for each element although the workers run once for many of them.

use differential_dataflow::input::{Input as _, InputSession};
use differential_dataflow::VecCollection;
use protocol::{cpu_ns, read, tell, Row};
use std::cell::RefCell;
use std::rc::Rc;
use timely::worker::Worker;

/// Moments after which the dataflow runs.
const STEP: usize = 10_000;

fn key(row: &Row, shared: &[usize]) -> u64 {
    shared.iter().fold(0, |key, x| key << 32 | row[*x] as u64)
}

fn main() {
    let input = read();
    timely::execute_directly(move |worker| {
        let query = &input.query;
        let found = Rc::new(RefCell::new(Vec::new()));
        let into = found.clone();
        let began = cpu_ns();
        let (mut sessions, probe) = worker.dataflow::<u64, _, _>(|scope| {
            let mut sessions = Vec::new();
            let mut joined = None;
            let mut known: Vec<usize> = Vec::new();
            for pattern in &query.patterns {
                let (session, pairs) = scope.new_collection::<(u32, u32), isize>();
                sessions.push(session);
                let variables = pattern.variables();
                let places = variables.clone();
                let rows = pairs.map(move |(s, o)| {
                    let mut row: Row = Default::default();
                    for (x, place) in &places {
                        row[*x] = if *place == 0 { s } else { o };
                    }
                    row
                });
                let shared: Vec<usize> = variables.iter().map(|v| v.0).filter(|x| known.contains(x)).collect();
                let fresh = variables.iter().map(|v| v.0).find(|x| !known.contains(x));
                known.extend(variables.iter().map(|v| v.0).filter(|x| !shared.contains(x)));
                joined = Some(match joined {
                    None => rows,
                    Some(before) => {
                        let (left, right) = (shared.clone(), shared);
                        let before: VecCollection<_, Row, isize> = before;
                        before.map(move |row| (key(&row, &left), row)).join_map(
                            rows.map(move |row| (key(&row, &right), fresh.map_or(0, |x| row[x]))),
                            move |_, row, value| {
                                let mut row = *row;
                                if let Some(x) = fresh {
                                    row[x] = *value;
                                }
                                row
                            },
                        )
                    }
                });
            }
            let rows = joined.expect("a pattern");
            let answers = match query.groups.clone() {
                None => rows.map(|row| (row, 0)),
                Some(groups) => rows
                    .map(move |row| {
                        let mut group: Row = Default::default();
                        groups.iter().for_each(|x| group[*x] = row[*x]);
                        group
                    })
                    .count()
                    .map(|(group, count)| (group, count as i64)),
            };
            let (probe, _) = answers
                .inspect(move |(answer, time, weight)| into.borrow_mut().push((*answer, *time as usize, *weight as i64)))
                .probe();
            (sessions, probe)
        });
        let mut due = STEP;
        let run = |sessions: &mut Vec<InputSession<u64, (u32, u32), isize>>, worker: &mut Worker, until: u64| {
            for session in sessions.iter_mut() {
                session.advance_to(until);
                session.flush();
            }
            worker.step_while(|| probe.less_than(&until));
        };
        for update in &input.updates {
            if update.moment >= due {
                run(&mut sessions, worker, due as u64);
                due += STEP * ((update.moment - due) / STEP + 1);
            }
            for (pattern, session) in query.patterns.iter().zip(&mut sessions) {
                if pattern.admits(&update.triple) {
                    let pair = (update.triple[0], update.triple[2]);
                    session.update_at(pair, update.moment as u64, update.weight as isize);
                }
            }
        }
        run(&mut sessions, worker, input.moments.len() as u64);
        let took = cpu_ns() - began;
        tell(&input, found.take(), took);
    });
}
