const COLORS: Record<string, string> = { trace: '90', debug: '90', info: '36', warn: '33', error: '31' };

interface LogEntry extends Record<string, unknown> {
  time: string;
  level: string;
  msg: string;
}

/** Formats a JSON log line for people: time, level, text, then fields as `name=value`. */
export function prettyLine(line: string, colors: boolean): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as LogEntry;
  const paint = (code: string, text: string) => (colors ? `\x1b[${code}m${text}\x1b[0m` : text);
  const head = [paint('90', time.slice(11, 19)), paint(COLORS[level] ?? '0', level.padEnd(5)), printable(msg)];
  const tail = Object.entries(fields).map(([name, value]) => `${paint('90', `${printable(name)}=`)}${shown(value)}`);
  const error = isError(err) ? [`${paint('31', printable(err.message))}${stack(err)}`] : [];
  return `${[...head, ...tail, ...error].join(' ')}\n`;
}

interface ShownError {
  message: string;
  stack?: string[];
}

function isError(value: unknown): value is ShownError {
  return typeof value === 'object' && value !== null && typeof (value as ShownError).message === 'string';
}

function stack(error: ShownError): string {
  return (error.stack ?? []).map((frame) => `\n      ${printable(frame)}`).join('');
}

/** Plain if unambiguous, else JSON, so that remote text `name=a b=c` cannot forge fields. */
function shown(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"={}[\],]+$/.test(value)) return printable(value);
  return printable(JSON.stringify(value) ?? '');
}

/** Escapes control characters, line separators and bidirectional overrides. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
