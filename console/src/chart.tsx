/** Numbers over time as lines: a variable of the answers, or how many answers there are. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import uPlot from "uplot";
import type { Answers, Lines } from "./answers";
import { dark } from "./theme";
import { clock } from "./terms";

const COLOURS = ["#3987e5", "#d95926", "#199e70", "#c98500", "#9085e9", "#d55181", "#008300", "#4aa3b5", "#b0703c", "#7a7f87", "#c2557f", "#5b8c2a"];

export function Chart({ answers }: { answers: Answers }): JSX.Element {
  const version = answers.watch();
  const measured = answers.measuredVariable;
  const [chosen, choose] = useState<"values" | "size" | null>(null);
  const what = chosen ?? (measured >= 0 ? "values" : "size");
  const lines = what === "values" ? answers.lines : answers.sizes;
  const parent = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);

  useEffect(() => {
    const element = parent.current!;
    const size = (): { width: number; height: number } => {
      const legend = element.querySelector<HTMLElement>(".u-legend");
      return { width: element.clientWidth, height: Math.max(160, element.clientHeight - (legend?.offsetHeight ?? 0)) };
    };
    const made = new uPlot(options(lines, size(), getComputedStyle(element)), data(lines), element);
    plot.current = made;
    made.setSize(size());
    const observer = new ResizeObserver(() => made.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
    // Lines that are added later need a new plot.
  }, [answers, what, lines.names.length, dark.value]);
  useEffect(() => plot.current?.setData(data(lines)), [version, lines]);

  return (
    <div class="chart">
      <div class="choices" role="group" aria-label="What is drawn">
        {measured >= 0 && <button aria-pressed={what === "values"} onClick={() => choose("values")}>{answers.variables[measured]}</button>}
        <button aria-pressed={what === "size"} onClick={() => choose("size")}>number of answers</button>
      </div>
      <div class="plot" ref={parent} role="img" aria-label={`${what === "values" ? answers.variables[measured]! : "number of answers"} over time`} />
    </div>
  );
}

const data = (lines: Lines): uPlot.AlignedData => [lines.times, ...lines.values];

function options(lines: Lines, size: { width: number; height: number }, style: CSSStyleDeclaration): uPlot.Options {
  const [ink, rule] = [style.getPropertyValue("--quiet"), style.getPropertyValue("--line")];
  const axis = { stroke: ink, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: "12px Inter Variable, sans-serif" };
  const series = lines.names.map((name, place) => ({ label: name || "value", stroke: COLOURS[place % COLOURS.length]!, width: 2, points: { size: 5 } }));
  const times = (_: uPlot, splits: number[]): string[] => splits.map((at) => clock(1000 * at).replace(/\.000( s)?$/, "$1"));
  return {
    ...size,
    series: [{ label: "time", value: (_, at) => (at as number | null) === null ? "" : clock(1000 * at) }, ...series],
    axes: [{ ...axis, values: times }, { ...axis, size: 56 }],
    scales: { x: { time: false } },
    cursor: { points: { size: 7 } },
    legend: { live: false, markers: { fill: (_, place) => COLOURS[(place - 1) % COLOURS.length]!, width: 0 } },
  };
}
