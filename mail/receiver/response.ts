import type { SecureContext } from 'node:tls';
import type { LineFlaw } from '../smtp/line-reader.ts';
import { reply, type Reply } from '../smtp/reply.ts';

/** Reads octets that are no commands: the message after DATA, or one BDAT chunk. */
export interface OctetInput {
  /** Octets of the message received so far. */
  readonly octets: number;
  /** True when the last octet was fed. */
  readonly ended: boolean;
  /** Owns the octets from then on; `rest` returns those behind the end. A promise must be awaited before the next call. */
  feed(octets: Buffer): Promise<void> | undefined;
  readonly rest: Buffer | undefined;
  /** Called once, after the end. */
  finish(): SmtpResponse | Promise<SmtpResponse>;
}

/** The input that a session reads after a response. */
export type NextInput =
  | { kind: 'close' }
  | { kind: 'start-tls'; context: SecureContext }
  /** The next line belongs to an exchange such as AUTH. */
  | { kind: 'line'; take(line: string): SmtpResponse | Promise<SmtpResponse> }
  | { kind: 'octets'; input: OctetInput };

/** The result of a command. Code 0 writes nothing. */
export interface SmtpResponse extends Reply {
  readonly next?: NextInput;
  /** Delays the response, which slows address harvesting. */
  readonly delayMs?: number;
}

/** Responds and closes the connection. */
export function closing(code: number, enhanced: string, text: string): SmtpResponse {
  return { ...reply(code, enhanced, text), next: { kind: 'close' } };
}

/** Reads octets without a response. */
export function reading(input: OctetInput): SmtpResponse {
  return { ...reply(0, ''), next: { kind: 'octets', input } };
}

/** Continues at once with a value, or later with a promised one: most responses need no turn of the event loop. */
export function after<A, B>(value: A | Promise<A>, go: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(go) : go(value);
}

export const internalError = reply(451, '4.3.0', 'Internal error, try again later');

/** Refuses a line that is no command. */
export function refuseLine(flaw: LineFlaw): SmtpResponse {
  switch (flaw) {
    case 'too-long':
      return reply(500, '5.5.2', 'The line is too long');
    case 'endless':
      return closing(500, '5.5.2', 'The line does not end');
    case 'bare-lf':
      return reply(500, '5.5.2', 'Lines must end in CRLF');
    case 'control':
      return reply(500, '5.5.2', 'The line contains a control character');
    case 'not-utf8':
      return reply(500, '5.5.2', 'The line is not valid UTF-8');
  }
}
