/** Whether colours are dark; whoever shows the page decides. */
import { signal } from "@preact/signals";

export const dark = signal(false);
