/** Exit codes; the help describes them. */
export const DONE = 0;
export const FAILED = 1;
export const USAGE_ERROR = 2;

export function printLine(text: string): number {
  process.stdout.write(`${text}\n`);
  return DONE;
}

export function printError(sentence: string, code: number): number {
  process.stderr.write(`mailstead: ${sentence}\n`);
  return code;
}

/** Prints the usage of a command. */
export function printUsage({ words, usage }: { words: string; usage: string }): number {
  return printError(`usage: mailstead ${words} ${usage}`.trimEnd(), USAGE_ERROR);
}

/** Formats aligned columns. Replaces control characters, so that remote text cannot move the cursor. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
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

function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

export function bytes(count: number): string {
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
