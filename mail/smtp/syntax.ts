import { reply, type Reply } from './reply.ts';

/** The result of a parser for invalid input, with the reply to send. */
export interface SyntaxFault {
  readonly fault: Reply;
}

/** Creates the reply to a syntax error, with the code of the RFC. */
export function fault(code: number, enhanced: string, text: string): SyntaxFault {
  return { fault: reply(code, enhanced, text) };
}

export function isFault(value: object): value is SyntaxFault {
  return 'fault' in value;
}
