import { pino } from 'pino';
import type { Log } from '../../mail/log.ts';
import { prettyLine } from './log-pretty.ts';

export interface LogOptions {
  level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  format: 'json' | 'pretty';
  /** Receives whole lines; default standard output. */
  write?: Write;
  /** Receives each line as JSON too. */
  copy?: (line: string) => void;
  /** Colors for terminals; pretty format only. */
  colors?: boolean;
}

type Write = (line: string) => void;

/** Names whose values are redacted at any depth. */
const SECRET = /^(?:pass|password|passphrase|secret|token|authorization|cookie|sealed|private_?key|api_?key|proof)$/i;
const ENDS_SECRET = /(?:Password|Secret|Token|Key)$/;
/** Names with a secret suffix that are not secret. */
const PUBLIC = new Set(['addressKey', 'publicKey']);
const MAX_TEXT = 1_000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 4;

/** Opens the process log: one line per event, JSON or pretty. */
export function openLog(options: LogOptions): Log {
  const write = options.write ?? standardOutput();
  const form = options.format === 'pretty' ? (line: string) => prettyLine(line, options.colors ?? false) : plainLine;
  return pino(
    {
      level: options.level,
      base: null,
      serializers: { err: (err: unknown) => err }, // already cleaned
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => clean(fields, 0) as Record<string, unknown>,
      },
    },
    {
      write(line: string) {
        write(form(line));
        options.copy?.(line);
      },
    },
  );
}

/** Batches the lines of one event loop turn: a write per line is a tenth of the cost of a small message. */
function standardOutput(): Write {
  const out = pino.destination({ fd: 1, sync: true });
  // A reader that went away (`mailstead serve | head`) must not end the server.
  out.on('error', () => {});
  let buffer = '';
  const flush = () => {
    if (buffer !== '') out.write(buffer);
    buffer = '';
  };
  process.on('exit', flush); // also after an uncaught exception
  return (line) => {
    if (buffer === '') setImmediate(flush);
    buffer += line;
  };
}

/**
 * Escapes C1 controls, which terminals interpret, and U+2028/2029, which some viewers treat as line ends. JSON does not.
 */
function plainLine(line: string): string {
  return line.replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Copies a value without secrets, bounded in length and depth. */
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
  const cleaned: Record<string, unknown> = {};
  for (const name of Object.keys(fields).slice(0, MAX_ITEMS)) {
    cleaned[name] = isSecret(name) ? '<secret>' : clean(fields[name], depth + 1);
  }
  return cleaned;
}

function isSecret(name: string): boolean {
  return SECRET.test(name) || (ENDS_SECRET.test(name) && !PUBLIC.has(name));
}

/** Standard properties only: others may contain secrets, such as the invalid value. */
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

/** Stack frames without the message, which is logged separately. */
function frames(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').filter((line) => /^\s+at \S/.test(line));
  return lines.slice(0, 10).map((line) => line.trim());
}
