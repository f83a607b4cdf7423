/** Structured log, one line an event. `fields` never contain secrets or message text; values from peers go into fields, not `text`. */
export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** Label values must come from small fixed sets, never from peers. */
export type Labels = Record<string, string>;

/** Metrics of the engine: Prometheus in the appliance, nothing in tests. */
export interface Meter {
  /** Adds to a counter that only grows. */
  count(name: string, labels?: Labels, by?: number): void;
  /** Sets a gauge to a value. */
  gauge(name: string, value: number, labels?: Labels): void;
  /** Records one observation, in seconds or bytes as the name says. */
  observe(name: string, value: number, labels?: Labels): void;
}

/** Discards all logs and metrics. */
export const quiet: Log & Meter = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  count() {},
  gauge() {},
  observe() {},
};
