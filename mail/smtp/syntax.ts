import { reply, type Reply } from './reply.ts';

/** What a grammar function answers for input that is not in the grammar: the reply that says so. */
export interface SyntaxFault {
  readonly fault: Reply;
}

/** Says what is wrong with a command's words, with the code the RFC has for it. */
export function fault(code: number, enhanced: string, text: string): SyntaxFault {
  return { fault: reply(code, enhanced, text) };
}

export function isFault(value: object): value is SyntaxFault {
  return 'fault' in value;
}
