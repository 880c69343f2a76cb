//! An adapter for DBSP: patterns joined two at a time, a step of the circuit for each batch. A step has no moments within, so
//! answers are those by which its end differs from the end of the step before, and `batch` says so.

use dbsp::typed_batch::IndexedZSetReader;
use dbsp::utils::{Tup2, Tup4};
use dbsp::{OrdZSet, RootCircuit, Runtime, Stream};
use protocol::{cpu_ns, read, tell_batches, Row};

/// Milliseconds of a batch, unless the first argument says how many.
const BATCH_MS: i64 = 10_000;

/// A row as the engine's own tuples have it: two numbers a word.
type Packed = Tup4<u64, u64, u64, u64>;

fn pack(row: &Row) -> Packed {
    let word = |at: usize| (row[at] as u64) << 32 | row[at + 1] as u64;
    Tup4(word(0), word(2), word(4), word(6))
}

fn unpack(row: &Packed) -> Row {
    let mut found: Row = Default::default();
    for (at, word) in [row.0, row.1, row.2, row.3].into_iter().enumerate() {
        found[2 * at] = (word >> 32) as u32;
        found[2 * at + 1] = word as u32;
    }
    found
}

fn key(row: &Row, shared: &[usize]) -> u64 {
    shared.iter().fold(0, |key, x| key << 32 | row[*x] as u64)
}

fn main() {
    let batch_ms = std::env::args().nth(1).map_or(BATCH_MS, |text| text.parse().expect("milliseconds"));
    let input = read();
    let (patterns, groups) = (input.query.patterns.clone(), input.query.groups.clone());
    let began = cpu_ns();
    let (mut circuit, (sessions, answers)) = Runtime::init_circuit(1, move |circuit: &mut RootCircuit| {
        let mut sessions = Vec::new();
        let mut joined: Option<Stream<RootCircuit, OrdZSet<Packed>>> = None;
        let mut known: Vec<usize> = Vec::new();
        for pattern in &patterns {
            let (pairs, session) = circuit.add_input_zset::<Tup2<u32, u32>>();
            sessions.push(session);
            let places = pattern.variables();
            let shared: Vec<usize> = places.iter().map(|v| v.0).filter(|x| known.contains(x)).collect();
            let fresh = places.iter().map(|v| v.0).find(|x| !known.contains(x));
            known.extend(places.iter().map(|v| v.0).filter(|x| !shared.contains(x)));
            let row_of = move |pair: &Tup2<u32, u32>| {
                let mut row: Row = Default::default();
                for (x, place) in &places {
                    row[*x] = if *place == 0 { pair.0 } else { pair.1 };
                }
                row
            };
            joined = Some(match joined {
                None => pairs.map(move |pair| pack(&row_of(pair))),
                Some(before) => {
                    let left = shared.clone();
                    let before = before.map_index(move |row| (key(&unpack(row), &left), *row));
                    let pairs = pairs.map_index(move |pair| {
                        let row = row_of(pair);
                        (key(&row, &shared), fresh.map_or(0, |x| row[x]))
                    });
                    before.join(&pairs, move |_, row, value| {
                        let mut row = unpack(row);
                        if let Some(x) = fresh {
                            row[x] = *value;
                        }
                        pack(&row)
                    })
                }
            });
        }
        let rows = joined.expect("a pattern");
        let answers = match groups.clone() {
            None => rows.map(|row| Tup2(*row, 0i64)),
            Some(groups) => rows
                .map(move |row| {
                    let (row, mut group) = (unpack(row), Row::default());
                    groups.iter().for_each(|x| group[*x] = row[*x]);
                    pack(&group)
                })
                .weighted_count()
                .map(|(group, count)| Tup2(*group, *count)),
        };
        Ok((sessions, answers.output()))
    })
    .expect("a circuit");
    let batch_of = |moment: usize| input.moments[moment].div_euclid(batch_ms);
    let mut found = Vec::new();
    let mut updates = input.updates.as_slice();
    while let Some(first) = updates.first() {
        let batch = batch_of(first.moment);
        let (these, rest) = updates.split_at(updates.partition_point(|update| batch_of(update.moment) == batch));
        for (pattern, session) in input.query.patterns.iter().zip(&sessions) {
            let admitted = these.iter().filter(|update| pattern.admits(&update.triple));
            let mut pairs = admitted.map(|u| Tup2(Tup2(u.triple[0], u.triple[2]), u.weight)).collect();
            session.append(&mut pairs);
        }
        circuit.transaction().expect("a step");
        let last = these[these.len() - 1].moment;
        for (Tup2(row, count), (), weight) in answers.consolidate().iter() {
            found.push(((unpack(&row), count), last, weight));
        }
        updates = rest;
    }
    let took = cpu_ns() - began;
    tell_batches(&input, found, took, Some(batch_ms));
    circuit.kill().expect("the circuit ends");
}
