/** The console: a bar with places to go, and the place where one is. */
import "@fontsource-variable/inter/wght.css";
import "@fontsource-variable/jetbrains-mono/wght.css";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render, type JSX } from "preact";
import { queries, refused, takeTokenFromAddress, token, useToken } from "./api";
import { feeding, stopFeeding } from "./examples";
import { Datasets, Queries, Streams } from "./inside";
import { attempt, go, hintsSeen, place, theme, trouble } from "./state";
import { counted } from "./terms";
import { dark } from "./theme";
import { Workbench } from "./workbench";

const VIEWS = [["query", "#/", "Query"], ["queries", "#/queries", "Queries"], ["streams", "#/streams", "Streams"], ["datasets", "#/datasets", "Datasets"]] as const;

function Mark(): JSX.Element {
  return <svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M6 11c4-4 6-4 10 0s6 4 10 0M6 17c4-4 6-4 10 0s6 4 10 0M6 23c4-4 6-4 10 0s6 4 10 0" /></svg>;
}

function Bar(): JSX.Element {
  const feed = feeding.value;
  return (
    <header class="bar">
      <a class="home" href="#/"><Mark /><span>millstream</span></a>
      <nav aria-label="Views">
        {VIEWS.map(([view, href, label]) => <a key={view} href={href} aria-current={place.value.view === view ? "page" : undefined}>{label}</a>)}
      </nav>
      <span class="spring" />
      {feed && (
        <span class="feed"><span class="dot live" aria-hidden="true" />pushing {feed.title}, {counted(feed.elements)}<button class="small" onClick={stopFeeding} aria-label="Stop pushing">Stop</button></span>
      )}
      <button class="plain icon" aria-label="Show the hints" title="Hints" onClick={() => { hintsSeen.value = ""; go("#/"); }}>?</button>
      <button class="plain icon" aria-label={dark.value ? "Use light colours" : "Use dark colours"} title="Colours" onClick={() => (theme.value = dark.value ? "light" : "dark")}>{dark.value ? "☀" : "☾"}</button>
    </header>
  );
}

function TokenForm(): JSX.Element {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    useToken((new FormData(event.currentTarget as HTMLFormElement).get("token") as string).trim());
    void attempt(queries);
  };
  return (
    <main class="door">
      <form onSubmit={submit} class="sheet">
        <h1>{token.value ? "This token is not known here" : "A token, please"}</h1>
        <p class="quiet">The server prints a link with one when it starts, or has it from its token file. It is kept in this tab alone.</p>
        <label>Token<input name="token" type="password" autocomplete="off" required /></label>
        <button class="primary">Enter</button>
      </form>
    </main>
  );
}

function Here(): JSX.Element {
  const now = place.value;
  if (now.view === "queries") return <Queries />;
  if (now.view === "streams") return <Streams />;
  if (now.view === "datasets") return <Datasets />;
  return <Workbench key={now.name} name={now.name} />;
}

function Console(): JSX.Element {
  return (
    <>
      <Bar />
      {trouble.value && <div class="banner error" role="alert"><span>{trouble.value}</span><button class="plain" onClick={() => (trouble.value = null)}>Dismiss</button></div>}
      {refused.value ? <TokenForm /> : <main><Here /></main>}
    </>
  );
}

takeTokenFromAddress();
render(<Console />, document.getElementById("app")!);
