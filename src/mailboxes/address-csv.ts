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

/** Reason why a row cannot be created; the page has its words. */
export type AddressRowProblem =
  'too-many' | 'long' | 'quote' | 'fields' | 'address' | 'twice' | 'domain' | 'mailbox' | 'alias' | 'target';

interface RowRefusal {
  readonly problem: AddressRowProblem;
  /** The limit, address or domain that the reason names; '' without one. */
  readonly value: string;
}

/** A row that cannot be created, with the reason. */
export interface RefusedRow extends RowRefusal {
  readonly line: number;
  readonly text: string;
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
    if ('problem' in row) refused.push({ line: at + 1, text: line.slice(0, 100), ...row });
    else rows.push(row);
  }
  return checked(rows, refused, known);
}

const TOO_MANY = refusal('too-many', String(MAX_ADDRESS_ROWS));

function refusal(problem: AddressRowProblem, value = ''): RowRefusal {
  return { problem, value };
}

function rowOf(line: string, at: number): AddressRow | RowRefusal {
  if (line.length > MAX_LINE) return refusal('long', String(MAX_LINE));
  const fields = csvFields(line);
  if (fields === undefined) return refusal('quote');
  const [address = '', name = '', aliasOf = '', ...more] = fields;
  if (more.length > 0) return refusal('fields');
  const parsed = parseAddress(address);
  if (parsed === undefined) return refusal('address', address.slice(0, 100));
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
    const problem = problemOf(row, seen, created, known);
    if (problem === undefined) good.push(row);
    else refused.push({ line: row.line, text: row.address, ...problem });
    seen.add(row.address);
  }
  return { rows: good, refused: refused.toSorted((a, b) => a.line - b.line) };
}

function problemOf(
  { address, domain, aliasOf }: AddressRow,
  seen: ReadonlySet<string>,
  created: ReadonlySet<string>,
  known: KnownAddresses,
): RowRefusal | undefined {
  if (seen.has(address)) return refusal('twice');
  if (!known.domains.has(domain)) return refusal('domain', domain);
  if (known.mailboxes.has(address)) return refusal('mailbox');
  if (known.aliases.has(address)) return refusal('alias');
  if (aliasOf !== undefined && !known.mailboxes.has(aliasOf) && !created.has(aliasOf)) {
    return refusal('target', aliasOf);
  }
  return undefined;
}
