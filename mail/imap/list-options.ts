import { parseStatusItems } from './status-items.ts';
import type { StatusItem } from './status-items.ts';
import type { Decoder } from './wire/decoder.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

const SELECTION = ['SUBSCRIBED', 'REMOTE', 'RECURSIVEMATCH', 'SPECIAL-USE'] as const;

export type Selection = (typeof SELECTION)[number];

/** Patterns of one LIST. */
const PATTERNS = 100;
/** Characters of all of them: each may be compared with every character of every name. */
const CHARACTERS = 4_000;

/** What a LIST asks for. */
export interface ListRequest {
  /** Reference and pattern together, in UTF-8. */
  patterns: readonly string[];
  select: readonly Selection[];
  /** RETURN (SUBSCRIBED). CHILDREN and SPECIAL-USE are returned anyway. */
  subscribed: boolean;
  /** RETURN (STATUS (...)) */
  status: readonly StatusItem[];
  /** `LIST "" ""`: RFC 9051 6.3.9. */
  asksDelimiter: boolean;
}

/** Reads what follows LIST: `[(options)] reference pattern|(patterns) [RETURN (options)]`. RFC 5258 6. */
export function parseList(d: Decoder): ListRequest {
  d.sp();
  const extended = d.ahead('(');
  const select = extended ? parseSelection(d) : [];
  if (extended) d.sp();
  const reference = d.reference();
  d.sp();
  const several = d.ahead('(');
  const patterns = several ? d.list((each) => each.listMailbox()) : [d.listMailbox()];
  if (patterns.length === 0 || patterns.length > PATTERNS) throw new ImapSyntaxError('Expected some patterns');
  if (patterns.join('').length > CHARACTERS) throw new ImapSyntaxError('The patterns are too long');
  const returns = d.trailing() ? { subscribed: false, status: [] } : parseReturn(d);
  return {
    patterns: patterns.filter((pattern) => pattern !== '').map((pattern) => reference + pattern),
    select,
    ...returns,
    asksDelimiter: !extended && !several && patterns[0] === '',
  };
}

function parseSelection(d: Decoder): Selection[] {
  const options = d.list((each) => {
    const name = each.word() as Selection;
    if (!SELECTION.includes(name)) throw new ImapSyntaxError('Unknown selection option');
    return name;
  });
  // RFC 5258 3.1: it says nothing alone.
  const alone = !options.some((name) => name === 'SUBSCRIBED' || name === 'SPECIAL-USE');
  if (options.includes('RECURSIVEMATCH') && alone) throw new ImapSyntaxError('RECURSIVEMATCH needs another option');
  return options;
}

function parseReturn(d: Decoder): Pick<ListRequest, 'subscribed' | 'status'> {
  d.sp().expect('RETURN').sp();
  let subscribed = false;
  let status: StatusItem[] = [];
  d.list((each) => {
    const name = each.word();
    if (name === 'SUBSCRIBED') subscribed = true;
    else if (name === 'STATUS') status = parseStatusItems(each.sp());
    else if (name !== 'CHILDREN' && name !== 'SPECIAL-USE') throw new ImapSyntaxError('Unknown return option');
  });
  return { subscribed, status };
}
