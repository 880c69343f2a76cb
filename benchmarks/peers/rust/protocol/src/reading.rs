//! Messages become updates: a triple comes, or goes, at a moment. Moments are what happens together: an element, an edit, or
//! what leaves the window in one millisecond. What is there already does not come again, it stays longer.

use crate::query::{number_of, Query};
use std::collections::{HashMap, VecDeque};
use std::io::Read;

#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub moment: usize,
    pub triple: [u32; 3],
    pub weight: i64,
}

pub struct Input {
    pub query: Query,
    /// Spelled, by number.
    pub terms: Vec<String>,
    /// The time of each, in milliseconds.
    pub moments: Vec<i64>,
    /// In order of moments.
    pub updates: Vec<Update>,
}

/// Everything that is written to an adapter.
pub fn read() -> Input {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("messages are UTF-8");
    let mut ids: HashMap<String, u32> = HashMap::new();
    let (header, rest) = text.split_once('\n').expect("a query");
    let length: usize = header.strip_prefix("query ").and_then(|n| n.parse().ok()).expect("query N");
    let query = Query::parse(&rest[..length], &mut ids);
    let mut contents = Contents { ends: HashMap::new(), waiting: VecDeque::new(), moments: Vec::new(), updates: Vec::new() };
    let mut lines = rest[length + 1..].lines();
    loop {
        let message = lines.next().expect("end");
        if message == "end" {
            break;
        }
        let mut words = message.split(' ');
        let kind = words.next().unwrap();
        let at_ms: i64 = words.next().and_then(|n| n.parse().ok()).expect("a time");
        let count: usize = words.next().and_then(|n| n.parse().ok()).expect("a number of triples");
        contents.expire(at_ms);
        let moment = contents.moment(at_ms);
        for _ in 0..count {
            let triple = triple_of(lines.next().expect("a triple"), kind == "element", &mut ids);
            match (kind, query.range_ms) {
                ("element", Some(range)) => contents.come(moment, triple, at_ms + range),
                ("insert", None) => contents.come(moment, triple, i64::MAX),
                ("delete", None) => contents.go(moment, triple),
                _ => panic!("no {kind} in this query"),
            }
        }
    }
    let mut terms = vec![String::new(); ids.len() + 1];
    for (term, id) in ids {
        terms[id as usize] = term;
    }
    Input { query, terms, moments: contents.moments, updates: contents.updates }
}

fn triple_of(line: &str, named: bool, ids: &mut HashMap<String, u32>) -> [u32; 3] {
    let body = line.trim_end().strip_suffix(" .").expect("a statement");
    let body = if named { body.rsplit_once(' ').expect("a graph name").0 } else { body };
    let (subject, rest) = body.split_once(' ').expect("a subject");
    let (predicate, object) = rest.split_once(' ').expect("a predicate");
    [subject, predicate, object].map(|term| number_of(term, ids))
}

struct Contents {
    /// Until when a triple is there.
    ends: HashMap<[u32; 3], i64>,
    /// Ends in order, some of which were put off.
    waiting: VecDeque<(i64, [u32; 3])>,
    moments: Vec<i64>,
    updates: Vec<Update>,
}

impl Contents {
    fn moment(&mut self, at_ms: i64) -> usize {
        self.moments.push(at_ms);
        self.moments.len() - 1
    }

    fn come(&mut self, moment: usize, triple: [u32; 3], end: i64) {
        if self.ends.insert(triple, end).is_none() {
            self.updates.push(Update { moment, triple, weight: 1 });
        }
        if end < i64::MAX {
            self.waiting.push_back((end, triple));
        }
    }

    fn go(&mut self, moment: usize, triple: [u32; 3]) {
        if self.ends.remove(&triple).is_some() {
            self.updates.push(Update { moment, triple, weight: -1 });
        }
    }

    /// What has left the window by a time, before anything comes then.
    fn expire(&mut self, at_ms: i64) {
        let mut last = None;
        while self.waiting.front().is_some_and(|(end, _)| *end <= at_ms) {
            let (end, triple) = self.waiting.pop_front().unwrap();
            if self.ends.get(&triple) != Some(&end) {
                continue;
            }
            self.ends.remove(&triple);
            let moment = match last {
                Some((then, moment)) if then == end => moment,
                _ => self.moment(end),
            };
            last = Some((end, moment));
            self.updates.push(Update { moment, triple, weight: -1 });
        }
    }
}
