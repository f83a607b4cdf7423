export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line of the log. Its fields may have text of peers, and no secrets: they were redacted before. */
export interface ServerLogLine {
  /** ISO 8601, UTC. */
  at: string;
  level: LogLevel;
  text: string;
  /** JSON of the other fields; '' without any. */
  fields: string;
}

export interface LogFilter {
  /** The least level. */
  level: LogLevel;
  /** Part of the line, in any case; '': all lines. */
  text: string;
}

const MAX_LINES = 1_000;
const MAX_CHARS = 512 * 1024;
/** A longer line keeps only its time, level and text. */
const MAX_LINE_CHARS = 8 * 1024;

/** The newest lines of the log, in memory: at most 1,000 and 512 Ki characters. */
export class RecentLog {
  readonly #lines: string[] = [];
  #chars = 0;
  /** Lines that were added since the start. */
  #count = 0;

  /** Adds a line as pino writes it. */
  add(line: string): void {
    const kept = line.length > MAX_LINE_CHARS ? shortened(line) : line;
    this.#lines.push(kept);
    this.#chars += kept.length;
    this.#count++;
    while (this.#lines.length > MAX_LINES || this.#chars > MAX_CHARS) {
      this.#chars -= this.#lines.shift()?.length ?? 0;
    }
  }

  /** Number of the last line. */
  get last(): number {
    return this.#count;
  }

  /** The newest lines after a number that match, oldest first, and how many others after it were lost or left out. */
  after(number: number, filter: LogFilter, limit: number): { lines: ServerLogLine[]; skipped: number } {
    const fresh = this.#count - number;
    const kept = this.#lines.slice(Math.max(0, this.#lines.length - fresh));
    const lost = fresh - kept.length;
    const found = kept.filter((line) => matches(line, filter)).map(parsed);
    return { lines: found.slice(-limit), skipped: lost + Math.max(0, found.length - limit) };
  }
}

interface PinoLine {
  level: LogLevel;
  time: string;
  msg: string;
}

function shortened(line: string): string {
  const { level, time, msg } = JSON.parse(line) as PinoLine;
  return JSON.stringify({ level, time, msg, shortened: true });
}

/** Linear in the line. The level is the first field of each. */
function matches(line: string, { level, text }: LogFilter): boolean {
  const own = LOG_LEVELS.findIndex((one) => line.startsWith(`{"level":"${one}"`));
  return own >= LOG_LEVELS.indexOf(level) && (text === '' || line.toLowerCase().includes(text.toLowerCase()));
}

function parsed(line: string): ServerLogLine {
  const { level, time, msg, ...fields } = JSON.parse(line) as PinoLine & Record<string, unknown>;
  return { at: time, level, text: msg, fields: Object.keys(fields).length === 0 ? '' : JSON.stringify(fields) };
}
