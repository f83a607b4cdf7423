import { fault, type SyntaxFault } from '../../smtp/syntax.ts';
import type { Answer } from '../answer.ts';
import type { Conversation } from '../conversation.ts';

/** One SMTP command: its words, when it may come, and what it does. */
export interface SmtpCommand<Words> {
  readonly name: string;
  /** `greeted`: after HELO or EHLO. `mail`: after MAIL, and before the message has begun to come by BDAT. */
  readonly states: 'any' | 'greeted' | 'mail';
  /** May have octets over 127, which RFC 6531 3.1 allows where addresses stand. */
  readonly utf8?: boolean;
  /** Brings no message forward; too many of these end the session. */
  readonly idle?: boolean;
  /** Reads what follows the verb and one space. */
  parse(text: string): Words | SyntaxFault;
  run(session: Conversation, words: Words): Answer | Promise<Answer>;
}

/** A parse for commands without words. RFC 5321 4.1.1: nothing but space may follow. */
export function noWords(name: string) {
  return (text: string): object => (text.trim() === '' ? {} : fault(501, '5.5.4', `${name} takes no parameter`));
}

/** A parse for commands whose words do not matter. */
export function anyWords(text: string): { text: string } {
  return { text };
}
