/** Long lists of which only the visible part is in the document. Rows are of one height. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

export interface Visible {
  scroller: RefObject<HTMLDivElement | null>;
  first: number;
  last: number;
  height: number;
}

const BEYOND = 6;

export function useVisible(total: number, rowHeight: number): Visible {
  const scroller = useRef<HTMLDivElement>(null);
  const [{ top, height }, look] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = (): void => look({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight), total - Math.ceil(height / rowHeight)) - BEYOND);
  return { scroller, first, last: Math.min(total, first + Math.ceil(height / rowHeight) + 2 * BEYOND), height: total * rowHeight };
}
