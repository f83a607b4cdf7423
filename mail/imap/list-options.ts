import { parseEntries } from './metadata.ts';
import { parseStatusItems } from './status-items.ts';
import type { StatusItem } from './status-items.ts';
import type { Decoder } from './wire/decoder.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

const SELECTION = ['SUBSCRIBED', 'REMOTE', 'RECURSIVEMATCH', 'SPECIAL-USE'] as const;

export type ListSelectionOption = (typeof SELECTION)[number];

/** Patterns in one LIST. */
const MAX_PATTERNS = 100;
/** Characters in all patterns, each with the reference: they are compared with the characters of every name. */
const MAX_PATTERN_CHARACTERS = 4_000;

/** Parsed arguments of LIST. */
export interface ListRequest {
  /** Reference and pattern joined, in UTF-8. */
  patterns: readonly string[];
  select: readonly ListSelectionOption[];
  /** RETURN (SUBSCRIBED). CHILDREN and SPECIAL-USE are returned anyway. */
  subscribed: boolean;
  /** RETURN (STATUS (...)) */
  status: readonly StatusItem[];
  /** RETURN (MYRIGHTS). RFC 8440. */
  myRights: boolean;
  /** RETURN (METADATA (...)): entries as the client spelled them. RFC 9590. */
  metadata: readonly string[];
  /** `LIST "" ""`: RFC 9051 6.3.9. */
  isDelimiterRequest: boolean;
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
  if (patterns.length === 0 || patterns.length > MAX_PATTERNS)
    throw new ImapSyntaxError(`Expected 1 to ${MAX_PATTERNS} patterns`);
  const returns = d.trailing() ? { subscribed: false, status: [], metadata: [], myRights: false } : parseReturn(d);
  return {
    patterns: joinPatterns(reference, patterns),
    select,
    ...returns,
    isDelimiterRequest: !extended && !several && patterns[0] === '',
  };
}

/** Joins the reference and each pattern that is not empty. RFC 9051 6.3.9. */
export function joinPatterns(reference: string, patterns: readonly string[]): string[] {
  const given = [...new Set(patterns)].filter((pattern) => pattern !== '');
  const size = given.reduce((sum, pattern) => sum + reference.length + pattern.length, 0);
  if (size > MAX_PATTERN_CHARACTERS)
    throw new ImapSyntaxError(`Patterns are longer than ${MAX_PATTERN_CHARACTERS} characters`);
  return given.map((pattern) => reference + pattern);
}

function parseSelection(d: Decoder): ListSelectionOption[] {
  const options = d.list((each) => {
    const name = each.word() as ListSelectionOption;
    if (!SELECTION.includes(name)) throw new ImapSyntaxError('Unknown LIST selection option');
    return name;
  });
  // RFC 5258 3.1: RECURSIVEMATCH requires another selection option.
  const alone = !options.some((name) => name === 'SUBSCRIBED' || name === 'SPECIAL-USE');
  if (options.includes('RECURSIVEMATCH') && alone)
    throw new ImapSyntaxError('RECURSIVEMATCH needs SUBSCRIBED or SPECIAL-USE');
  // Each once: they are compared for each mailbox.
  return [...new Set(options)];
}

function parseReturn(d: Decoder): Pick<ListRequest, 'subscribed' | 'status' | 'metadata' | 'myRights'> {
  d.sp().expect('RETURN').sp();
  let subscribed = false;
  let status: StatusItem[] = [];
  let metadata: string[] = [];
  let myRights = false;
  d.list((each) => {
    const name = each.word();
    if (name === 'SUBSCRIBED') subscribed = true;
    else if (name === 'STATUS') status = parseStatusItems(each.sp());
    else if (name === 'MYRIGHTS') myRights = true;
    else if (name === 'METADATA') metadata = parseMetadataList(each.sp());
    else if (name !== 'CHILDREN' && name !== 'SPECIAL-USE') throw new ImapSyntaxError('Unknown LIST return option');
  });
  return { subscribed, status, metadata, myRights };
}

/** RFC 9590 4: the entries stand in parentheses, also a single one. */
function parseMetadataList(d: Decoder): string[] {
  if (!d.ahead('(')) throw new ImapSyntaxError('Expected (');
  return parseEntries(d);
}
