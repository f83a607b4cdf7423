/** One line an event. `fields` never carry secrets or message text; values from peers are data, not part of `text`. */
export interface Log {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** Label values must come from small fixed sets, never from peers. */
export type Labels = Record<string, string>;

/** What the engine counts. The appliance satisfies it with Prometheus, tests with nothing. */
export interface Meter {
  /** Adds to a counter that only grows. */
  count(name: string, labels?: Labels, by?: number): void;
  /** Sets a gauge to a value. */
  gauge(name: string, value: number, labels?: Labels): void;
  /** Records one observation, in seconds or bytes as the name says. */
  observe(name: string, value: number, labels?: Labels): void;
}

/** Says and counts nothing. */
export const quiet: Log & Meter = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  count() {},
  gauge() {},
  observe() {},
};
