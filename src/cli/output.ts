/** Exit codes; the help describes them. */
export const DONE = 0;
export const FAILED = 1;
export const USAGE_ERROR = 2;

/** Prints text for people. Controls other than line breaks become spaces: see {@link printable}. */
export function printLine(text: string): number {
  process.stdout.write(`${safeLines(text)}\n`);
  return DONE;
}

/** Prints an error as one sentence to standard error; `code` is the exit code. */
export function printError(sentence: string, code: number): number {
  process.stderr.write(`mailstead: ${safeLines(sentence)}\n`);
  return code;
}

/** Prints a result as JSON. */
export function printJson(value: unknown): number {
  process.stdout.write(`${jsonText(value, 2)}\n`);
  return DONE;
}

/** Prints an error as one line of JSON to standard error. Returns the exit code. */
export function printJsonError(error: string, message: string): number {
  process.stderr.write(`${jsonText({ error, message })}\n`);
  return FAILED;
}

/** Prints the usage of a command. */
export function printUsage({ words, usage }: { words: string; usage: string }): number {
  return printError(`usage: mailstead ${words} ${usage}`.trimEnd(), USAGE_ERROR);
}

/** Formats aligned columns of {@link printable} text. */
export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Replaces control characters: text of others must not move the cursor or set the title of the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function safeLines(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, ' ');
}

/** Formats JSON for a terminal. `JSON.stringify` leaves U+007F to U+009F as they are, and a terminal obeys them. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function formatBytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}

export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
