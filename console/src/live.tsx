/** The answers of a query in a notebook: a widget of anywidget, in a shadow root so that its styles stay its own. */
import { render } from "preact";
import chart from "uplot/dist/uPlot.min.css";
import { Answers } from "./answers";
import { AnswersView } from "./answers-view";
import style from "./style.css";
import type { Notification } from "./subscription";
import { dark } from "./theme";

interface Model {
  get(name: "notification"): string;
  get(name: "prefixes"): Record<string, string>;
  get(name: "ended"): boolean;
  on(event: string, told: () => void): void;
  off(event: string, told: () => void): void;
}

function show({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const root = el.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(chart + style);
  root.adoptedStyleSheets = [sheet];
  const light = document.body.dataset["jpThemeLight"];
  dark.value = light === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : light === "false";
  el.dataset["theme"] = dark.value ? "dark" : "light";

  // Each notification is a whole answer set, as those of RSTREAM are.
  const answers = new Answers("rstream", model.get("prefixes"));
  let first = true;
  const notified = (): void => {
    const found = JSON.parse(model.get("notification")) as Notification;
    answers.notified(first ? { ...found, snapshot: true } : found);
    first = false;
  };
  const ended = (): void => {
    if (model.get("ended")) answers.connection("closed", "The query is closed.");
  };
  answers.connection("live");
  notified();
  ended();
  model.on("change:notification", notified);
  model.on("change:ended", ended);
  render(<AnswersView answers={answers} />, root);
  return () => {
    model.off("change:notification", notified);
    model.off("change:ended", ended);
    render(null, root);
  };
}

export default { render: show };
