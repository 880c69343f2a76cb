/** A first visit explains itself: three short hints, and examples to begin with. */
import type { JSX } from "preact";
import { EXAMPLES, startExample } from "./examples";
import { hintsSeen } from "./state";

const HINTS = [
  ["Write", "A query is SPARQL with windows over streams. What is wrong is underlined as you type; Ctrl+Space completes."],
  ["Run", "It stays at the server and answers as elements arrive. Rows that appear are green, those that leave turn red and go."],
  ["Look inside", "Below the text is how the query runs; Streams and Datasets show what comes in, and let you push by hand."],
] as const;

export function Hints(): JSX.Element | null {
  if (hintsSeen.value) return null;
  return (
    <section class="hints" aria-labelledby="hints-title">
      <header>
        <h2 id="hints-title">How this works</h2>
        <button class="plain" onClick={() => (hintsSeen.value = "yes")}>Got it</button>
      </header>
      <ol>
        {HINTS.map(([title, text]) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Examples(): JSX.Element {
  return (
    <section class="examples" aria-labelledby="examples-title">
      <h2 id="examples-title">Begin with an example</h2>
      <p class="quiet">One click registers the query, loads a small graph and pushes a made-up stream from this page until you stop it.</p>
      <ul>
        {EXAMPLES.map((example) => (
          <li key={example.name}>
            <button class="card" onClick={() => void startExample(example)}>
              <strong>{example.title}</strong>
              <span>{example.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
