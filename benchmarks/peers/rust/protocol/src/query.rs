//! The queries that engines are asked: triple patterns over a window or a graph, and the size of groups of their solutions.

use crate::{refuse, WIDTH};
use std::collections::HashMap;

/// A pattern with a constant predicate; an end is a variable, or the number of a term.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub subject: Result<usize, u32>,
    pub predicate: u32,
    pub object: Result<usize, u32>,
}

impl Pattern {
    /// Whether a triple matches.
    pub fn admits(&self, triple: &[u32; 3]) -> bool {
        triple[1] == self.predicate
            && self.subject.map_or_else(|id| id == triple[0], |_| true)
            && self.object.map_or_else(|id| id == triple[2], |_| true)
            && (self.subject.is_err() || self.subject != self.object || triple[0] == triple[2])
    }

    /// Its variables with the place of each in a triple, once.
    pub fn variables(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = self.subject.ok().map(|x| (x, 0)).into_iter().collect();
        if let Ok(y) = self.object {
            if self.subject != Ok(y) {
                found.push((y, 2));
            }
        }
        found
    }
}

/// What stands in a column of answers.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Variable(usize),
    Count,
}

pub struct Query {
    /// In an order in which each shares a variable with those before.
    pub patterns: Vec<Pattern>,
    pub shown: Vec<String>,
    pub places: Vec<Place>,
    /// The variables by which solutions are grouped and counted.
    pub groups: Option<Vec<usize>>,
    /// For how many milliseconds a triple is seen; for ever in a graph.
    pub range_ms: Option<i64>,
}

struct Words<'a> {
    text: &'a str,
}

impl<'a> Words<'a> {
    /// The next token: a term, a word, or a sign.
    fn next(&mut self) -> &'a str {
        self.text = self.text.trim_start();
        let text = self.text;
        let first = text.chars().next().unwrap_or_else(|| refuse("the query ends too early"));
        let length = match first {
            '<' => text.find('>').unwrap_or_else(|| refuse("an IRI without an end")) + 1,
            '"' => {
                let close = text[1..].find('"').unwrap_or_else(|| refuse("a literal without an end")) + 2;
                close + text[close..].find(|c: char| c.is_whitespace() || c == '}').unwrap_or(text.len() - close)
            }
            c if c.is_alphanumeric() || c == '?' => {
                text[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(text.len(), |at| at + 1)
            }
            c => c.len_utf8(),
        };
        self.text = &text[length..];
        &text[..length]
    }

    fn peek(&self) -> &'a str {
        Words { text: self.text }.next()
    }

    fn expect(&mut self, word: &str) {
        let found = self.next();
        if !found.eq_ignore_ascii_case(word) {
            refuse(&format!("expected {word}, found {found}"))
        }
    }
}

impl Query {
    /// Numbers its terms in `ids`; everything that is not of the kind above is refused.
    pub fn parse(text: &str, ids: &mut HashMap<String, u32>) -> Query {
        let mut words = Words { text };
        let mut heads: Vec<(String, bool)> = Vec::new();
        words.expect("SELECT");
        loop {
            let word = words.next();
            if let Some(name) = word.strip_prefix('?') {
                heads.push((name.to_string(), false));
            } else if word == "(" {
                for expected in ["COUNT", "(", "*", ")", "AS"] {
                    words.expect(expected);
                }
                heads.push((words.next().trim_start_matches('?').to_string(), true));
                words.expect(")");
            } else if word.eq_ignore_ascii_case("WHERE") {
                break;
            } else {
                refuse(&format!("no {word} in SELECT"));
            }
        }
        words.expect("{");
        let streamed = words.peek().eq_ignore_ascii_case("STREAM");
        let mut range_ms = None;
        if streamed {
            words.next();
            words.next();
            words.expect("[");
            words.expect("RANGE");
            let range = words.next();
            let number = range.strip_suffix("ms").and_then(|n| n.parse().ok());
            range_ms = Some(number.unwrap_or_else(|| refuse(&format!("no window of {range}"))));
            words.expect("]");
            words.expect("{");
        }
        let mut names: Vec<String> = Vec::new();
        let mut patterns: Vec<Pattern> = Vec::new();
        while words.peek() != "}" {
            let ends: Vec<&str> = (0..3).map(|_| words.next()).collect();
            if words.peek() == "." {
                words.next();
            }
            let mut end = |term: &str| -> Result<usize, u32> {
                match term.strip_prefix('?') {
                    Some(name) => Ok(names.iter().position(|known| known == name).unwrap_or_else(|| {
                        names.push(name.to_string());
                        names.len() - 1
                    })),
                    None if term.starts_with(['<', '"']) => Err(number_of(term, ids)),
                    None => refuse(&format!("no {term} in a pattern")),
                }
            };
            let (subject, object) = (end(ends[0]), end(ends[2]));
            let predicate = end(ends[1]).err().unwrap_or_else(|| refuse("a variable as predicate"));
            patterns.push(Pattern { subject, predicate, object });
        }
        words.expect("}");
        if streamed {
            words.expect("}");
        }
        let place = |name: &str| names.iter().position(|known| known == name).unwrap_or_else(|| refuse("an unknown variable"));
        let mut groups = None;
        if !words.text.trim().is_empty() {
            words.expect("GROUP");
            words.expect("BY");
            groups = Some(words.text.split_whitespace().map(|word| place(word.trim_start_matches('?'))).collect());
        }
        let places = heads.iter().map(|(name, counts)| if *counts { Place::Count } else { Place::Variable(place(name)) }).collect();
        if heads.iter().any(|head| head.1) != groups.is_some() || names.len() > WIDTH {
            refuse("a count without groups, groups without a count, or too many variables");
        }
        let shown = heads.into_iter().map(|head| head.0).collect();
        Query { patterns: connected(patterns), shown, places, groups, range_ms }
    }
}

/// The number of a term, a new one if it has none; 0 is none.
pub fn number_of(term: &str, ids: &mut HashMap<String, u32>) -> u32 {
    if let Some(id) = ids.get(term) {
        return *id;
    }
    let id = ids.len() as u32 + 1;
    ids.insert(term.to_string(), id);
    id
}

fn connected(mut left: Vec<Pattern>) -> Vec<Pattern> {
    let mut found: Vec<Pattern> = Vec::new();
    let mut known: Vec<usize> = Vec::new();
    while !left.is_empty() {
        let shares = |p: &Pattern| found.is_empty() || p.variables().iter().any(|(x, _)| known.contains(x));
        // Those that bind nothing new come first: they only take away.
        let closes = |p: &Pattern| shares(p) && p.variables().iter().all(|(x, _)| known.contains(x));
        let at = left.iter().position(closes).or_else(|| left.iter().position(shares));
        let pattern = left.remove(at.unwrap_or_else(|| refuse("patterns that share no variable")));
        known.extend(pattern.variables().iter().map(|(x, _)| *x));
        found.push(pattern);
    }
    if found.iter().any(|pattern| pattern.variables().is_empty()) {
        refuse("a pattern without variables");
    }
    found
}
