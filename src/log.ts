import { pino } from 'pino';
import type { Log } from '../mail/log.ts';
import { prettyLine } from './log-pretty.ts';

export interface LogOptions {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  format: 'json' | 'pretty';
  /** Where whole lines go; standard output when left out. */
  write?: Write;
  /** Colors for a terminal, in the pretty form only. */
  colors?: boolean;
}

type Write = (line: string) => void;

/** Values under these names never reach a log, however deep in the fields they are. */
const SECRET = /^(?:pass|password|passphrase|secret|token|authorization|cookie|sealed|private_?key|api_?key|proof)$/i;
const ENDS_SECRET = /(?:Password|Secret|Token|Key)$/;
/** Names that end like a secret and are none. */
const PUBLIC = new Set(['addressKey', 'publicKey']);
const MAX_TEXT = 1_000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;

/** The log of the process: one line an event, as JSON or for people. Opens nothing but standard output. */
export function openLog(options: LogOptions): Log {
  const write = options.write ?? standardOutput();
  const form = options.format === 'pretty' ? (line: string) => prettyLine(line, options.colors ?? false) : plainLine;
  return pino(
    {
      level: options.level,
      base: null,
      serializers: { err: (err: unknown) => err }, // cleaned already
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => clean(fields, 0) as Record<string, unknown>,
      },
    },
    { write: (line: string) => write(form(line)) },
  );
}

/** Writes the lines of one turn of the event loop at once: a write a line is a tenth of what a small message costs. */
function standardOutput(): Write {
  const out = pino.destination({ fd: 1, sync: true });
  // A reader that went away (`mailstead serve | head`) must not end the server.
  out.on('error', () => {});
  let waiting = '';
  const flush = () => {
    if (waiting !== '') out.write(waiting);
    waiting = '';
  };
  process.on('exit', flush); // also after an uncaught exception, whose lines are the ones that matter
  return (line) => {
    if (waiting === '') setImmediate(flush);
    waiting += line;
  };
}

/**
 * JSON escapes what could end a line, but leaves C1 controls, which terminals obey, and separators that some viewers
 * take for line ends.
 */
function plainLine(line: string): string {
  return line.replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A copy that is fit to be kept: no secrets, bounded in length and depth. */
function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return cleanError(value, depth);
  if (ArrayBuffer.isView(value)) return `<${value.byteLength} octets>`;
  if (value instanceof Date) return value;
  if (depth >= MAX_DEPTH) return '<deeper>';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => clean(item, depth + 1));
  return cleanFields(value as Record<string, unknown>, depth);
}

function cleanFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields).slice(0, MAX_ITEMS)) {
    kept[name] = isSecret(name) ? '<secret>' : clean(fields[name], depth + 1);
  }
  return kept;
}

function isSecret(name: string): boolean {
  return SECRET.test(name) || (ENDS_SECRET.test(name) && !PUBLIC.has(name));
}

/** Only what every error has: other properties of an error can hold anything, the secret that was wrong included. */
function cleanError(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as NodeJS.ErrnoException;
  const cause = error.cause instanceof Error && depth < MAX_DEPTH ? { cause: cleanError(error.cause, depth + 1) } : {};
  return {
    type: error.name,
    message: clean(error.message, depth),
    ...(code === undefined ? {} : { code }),
    stack: frames(error),
    ...cause,
  };
}

/** The frames alone; the message in front of them is already told. */
function frames(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at \S/.test(line));
  return lines.slice(0, 10).map((line) => line.trim());
}
