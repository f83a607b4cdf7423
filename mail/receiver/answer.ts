import type { SecureContext } from 'node:tls';
import type { LineFlaw } from '../smtp/line-reader.ts';
import { reply, type Reply } from '../smtp/reply.ts';

/** Octets that are no commands: the message after DATA, or those of one BDAT. */
export interface Body {
  /** Octets of the message taken so far, for the slowest pace that is put up with. */
  readonly octets: number;
  /** True when the last octet has been fed. */
  readonly ended: boolean;
  /**
   * Takes octets and owns them; `rest` gives back what came behind the end. A promise means: no more before it resolves.
   */
  feed(octets: Buffer): Promise<void> | undefined;
  rest(): Buffer | undefined;
  /** Called once, after the end. */
  finish(): Answer | Promise<Answer>;
}

/** Why a domain's own people cannot send from it for now. */
export function pausedText(domain: string): string {
  return `Sending from ${domain} is paused: its DNS records have been wrong for three days; mend them and verify the domain`;
}

/** What the loop does after an answer. */
export type Next =
  | { kind: 'close' }
  | { kind: 'start-tls'; context: SecureContext }
  /** The next line belongs to this exchange, not to a command. */
  | { kind: 'line'; take(line: string): Answer | Promise<Answer> }
  | { kind: 'octets'; body: Body };

/** What a command decided. Code 0 says nothing. */
export interface Answer extends Reply {
  readonly next?: Next;
  /** Wait before it is said, which slows those who guess addresses. */
  readonly delayMs?: number;
}

/** Says `code` and closes the connection. */
export function closing(code: number, enhanced: string, text: string): Answer {
  return { ...reply(code, enhanced, text), next: { kind: 'close' } };
}

/** Says nothing and reads a body. */
export function reading(body: Body): Answer {
  return { ...reply(0, ''), next: { kind: 'octets', body } };
}

/** Goes on with a value now when it is there, and later when it is promised: most answers need no turn of the loop. */
export function after<A, B>(value: A | Promise<A>, go: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(go) : go(value);
}

export const later = reply(451, '4.3.0', 'Something went wrong here, try again later');

/** What is said to a line that is no command. */
export function flawedLine(flaw: LineFlaw): Answer {
  switch (flaw) {
    case 'too-long':
      return reply(500, '5.5.2', 'The line is too long');
    case 'endless':
      return closing(500, '5.5.2', 'The line does not end');
    case 'bare-lf':
      return reply(500, '5.5.2', 'Lines end in CRLF');
    case 'control':
      return reply(500, '5.5.2', 'The line has a control character');
    case 'not-utf8':
      return reply(500, '5.5.2', 'The line is not UTF-8');
  }
}
