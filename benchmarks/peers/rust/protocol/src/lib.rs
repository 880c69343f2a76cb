//! What adapters for engines in Rust share: the messages of docs/benchmarks/adapters.md, terms as numbers, and a query as
//! patterns over these. An engine is handed updates: which triple comes or goes at which moment. Windows are worked out
//! here, outside of its time, as is the reading and writing.

mod query;
mod reading;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

pub use query::{Pattern, Place, Query};
pub use reading::{read, Input, Update};

/// As many variables as a row of bindings has room for.
pub const WIDTH: usize = 8;

/// The numbers of the terms that are bound to variables, 0 for none.
pub type Row = [u32; WIDTH];

/// Nanoseconds of CPU that this process has used.
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Says that the engine has no such query, and ends.
pub fn refuse(why: &str) -> ! {
    println!("refuse {why}");
    std::process::exit(0)
}

/// Tells what an engine found: rows, the count of a group or 0, the moment, and by how many there are more or fewer.
pub fn tell(input: &Input, found: Vec<((Row, i64), usize, i64)>, took_ns: u64) {
    tell_batches(input, found, took_ns, None)
}

/// The same of an engine that answers for batches of so many milliseconds.
pub fn tell_batches(input: &Input, found: Vec<((Row, i64), usize, i64)>, took_ns: u64, batch_ms: Option<i64>) {
    let mut changes: BTreeMap<(usize, Row, i64), i64> = BTreeMap::new();
    for ((row, count), moment, weight) in found {
        *changes.entry((moment, row, count)).or_default() += weight;
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let names: Vec<String> = input.query.shown.iter().map(|name| format!("?{name}")).collect();
    writeln!(out, "ready {}", names.join(" ")).unwrap();
    if let Some(batch_ms) = batch_ms {
        writeln!(out, "batch {batch_ms}").unwrap();
    }
    for ((moment, row, count), weight) in changes {
        if weight == 0 {
            continue;
        }
        let terms: Vec<String> = input.query.places.iter().map(|place| match place {
            Place::Variable(x) => input.terms[row[*x] as usize].clone(),
            Place::Count => format!("\"{count}\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
        }).collect();
        writeln!(out, "answer {} {weight:+} {}", input.moments[moment], terms.join("\t")).unwrap();
    }
    writeln!(out, "took {took_ns}").unwrap();
    out.flush().unwrap();
}
