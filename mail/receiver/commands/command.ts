import { fault, type SyntaxFault } from '../../smtp/syntax.ts';
import type { SmtpResponse } from '../response.ts';
import type { SmtpSessionState } from '../session-state.ts';

/** One SMTP command: its syntax, its states and its action. */
export interface SmtpCommand<Words> {
  readonly name: string;
  /** `greeted`: after HELO or EHLO. `mail`: after MAIL and before the first BDAT. */
  readonly states: 'any' | 'greeted' | 'mail';
  /** Allows octets over 127, as RFC 6531 3.1 does in addresses. */
  readonly utf8?: boolean;
  /** Counts as idle: too many without a message end the session. */
  readonly idle?: boolean;
  /** Parses the text behind the verb and one space. */
  parse(text: string): Words | SyntaxFault;
  run(session: SmtpSessionState, words: Words): SmtpResponse | Promise<SmtpResponse>;
}

/** Parses a command without parameters. RFC 5321 4.1.1: nothing but space may follow. */
export function noWords(name: string) {
  return (text: string): object => (text.trim() === '' ? {} : fault(501, '5.5.4', `${name} takes no parameters`));
}

/** Parses a command whose parameters are ignored. */
export function anyWords(text: string): { text: string } {
  return { text };
}
