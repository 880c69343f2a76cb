"""From query text to typed algebra: SPARQL 1.1 with the stream clauses of CQELS-QL, RSP-QL and C-SPARQL."""
