import { csvFields } from '../core/csv.ts';
import { parseAddress } from '../../mail/message/address.ts';

/** A mailbox or an alias to create, from one row of a CSV file. */
export interface AddressRow {
  /** Line in the file, from 1. */
  readonly line: number;
  readonly address: string;
  readonly localPart: string;
  readonly domain: string;
  /** Display name of a mailbox, note of an alias. */
  readonly name: string | undefined;
  /** Address of the mailbox that an alias delivers to; undefined: the row is a mailbox. */
  readonly aliasOf: string | undefined;
}

/** A row that cannot be created, with the reason. */
export interface RefusedRow {
  readonly line: number;
  readonly text: string;
  readonly reason: string;
}

export interface AddressFile {
  readonly rows: readonly AddressRow[];
  readonly refused: readonly RefusedRow[];
}

/** Rows of one file: each is a commit of its own, and a person waits for them. */
export const MAX_ADDRESS_ROWS = 200;
const MAX_LINE = 1000;

/** Facts of the organization that rows are checked against; addresses in lower case. */
export interface KnownAddresses {
  readonly domains: ReadonlySet<string>;
  readonly mailboxes: ReadonlySet<string>;
  readonly aliases: ReadonlySet<string>;
}

/** Parses lines of `address,name,alias of`. Empty lines, a heading and lines that begin with # are skipped. */
export function parseAddressFile(text: string, known: KnownAddresses): AddressFile {
  const rows: AddressRow[] = [];
  const refused: RefusedRow[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#') || (at === 0 && /^"?address"?(?:,|$)/i.test(line))) continue;
    const row = rows.length >= MAX_ADDRESS_ROWS ? TOO_MANY : rowOf(line, at + 1);
    if (typeof row === 'string') refused.push({ line: at + 1, text: line.slice(0, 100), reason: row });
    else rows.push(row);
  }
  return checked(rows, refused, known);
}

const TOO_MANY = `A file has at most ${MAX_ADDRESS_ROWS} rows. Put this row into another file.`;

function rowOf(line: string, at: number): AddressRow | string {
  if (line.length > MAX_LINE) return `The line is longer than ${MAX_LINE} characters.`;
  const fields = csvFields(line);
  if (fields === undefined) return 'A quote is not closed, or text follows it.';
  const [address = '', name = '', aliasOf = '', ...more] = fields;
  if (more.length > 0) return 'The line has more than three fields: address, name, alias of.';
  const parsed = parseAddress(address);
  if (parsed === undefined) return `"${address.slice(0, 100)}" is not a mail address.`;
  return {
    line: at,
    address: address.toLowerCase(),
    localPart: address.slice(0, address.lastIndexOf('@')),
    domain: address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
    name: name === '' ? undefined : name,
    aliasOf: aliasOf === '' ? undefined : aliasOf.toLowerCase(),
  };
}

/** Refuses rows that would fail, before anything is created. */
function checked(rows: readonly AddressRow[], refused: RefusedRow[], known: KnownAddresses): AddressFile {
  const created = new Set(rows.filter(({ aliasOf }) => aliasOf === undefined).map(({ address }) => address));
  const seen = new Set<string>();
  const good: AddressRow[] = [];
  for (const row of rows) {
    const reason = problemOf(row, seen, created, known);
    if (reason === undefined) good.push(row);
    else refused.push({ line: row.line, text: row.address, reason });
    seen.add(row.address);
  }
  return { rows: good, refused: refused.toSorted((a, b) => a.line - b.line) };
}

function problemOf(
  { address, domain, aliasOf }: AddressRow,
  seen: ReadonlySet<string>,
  created: ReadonlySet<string>,
  known: KnownAddresses,
): string | undefined {
  if (seen.has(address)) return 'The file has this address twice.';
  if (!known.domains.has(domain)) return `${domain} is not a domain of this organization. Add it first.`;
  if (known.mailboxes.has(address)) return 'A mailbox has this address already.';
  if (known.aliases.has(address)) return 'An alias has this address already.';
  if (aliasOf !== undefined && !known.mailboxes.has(aliasOf) && !created.has(aliasOf)) {
    return `${aliasOf} is neither a mailbox of this organization nor of this file.`;
  }
  return undefined;
}
