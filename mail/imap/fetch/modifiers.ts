import type { PartialRange } from '../search/program.ts';
import { parsePartial } from '../search/returns.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Modifiers after the items of FETCH: `(CHANGEDSINCE 12345 VANISHED)`, `(PARTIAL -1:-30)`. */
export interface FetchModifiers {
  /** Only messages that changed after this mod-sequence. RFC 7162 3.1.4.1. */
  changedSince?: number;
  /** Report expunged messages too. RFC 7162 3.2.6. */
  vanished?: true;
  /** Only a page of the messages. RFC 9394 3.3. */
  partial?: PartialRange;
}

/** Reads the modifiers, if there are any. */
export function parseFetchModifiers(d: Decoder): FetchModifiers {
  const modifiers: FetchModifiers = {};
  if (d.trailing()) return modifiers;
  const names = d.sp().list((each) => readModifier(each, modifiers));
  if (new Set(names).size !== names.length) throw new ImapSyntaxError('A FETCH modifier is given twice');
  if (modifiers.vanished && modifiers.changedSince === undefined)
    throw new ImapSyntaxError('VANISHED needs CHANGEDSINCE');
  return modifiers;
}

function readModifier(d: Decoder, modifiers: FetchModifiers): string {
  const name = d.word();
  switch (name) {
    case 'CHANGEDSINCE':
      // Beyond the grammar: 0, which iOS sends and which means all messages.
      modifiers.changedSince = d.sp().modseq();
      return name;
    case 'VANISHED':
      modifiers.vanished = true;
      return name;
    case 'PARTIAL':
      modifiers.partial = parsePartial(d.sp());
      return name;
    default:
      throw new ImapSyntaxError('Unknown FETCH modifier');
  }
}
