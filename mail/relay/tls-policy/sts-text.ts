/** What the TXT records at `_mta-sts.` say. RFC 8461 3.1. */
export type StsRecord = { kind: 'id'; id: string } | { kind: 'none' };

/** A policy as it is published. RFC 8461 3.2. */
export interface PublishedPolicy {
  mode: 'enforce' | 'testing' | 'none';
  mx: string[];
  /** Seconds. */
  maxAge: number;
}

/** A year and a day or so: no policy counts longer, whatever it says. */
const MOST_AGE = 31_557_600;
const MOST_PATTERNS = 200;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const PATTERN = new RegExp(`^(?=.{1,253}$)(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Exactly one of the records may begin as an MTA-STS record, and that one has to be sound. */
export function readStsRecord(records: readonly string[]): StsRecord {
  const [record, second] = records.filter((one) => /^v=STSv1\s*;/.test(one));
  if (record === undefined || second !== undefined) return { kind: 'none' };
  const ids = record.split(';').flatMap((field) => /^\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*$/.exec(field)?.[1] ?? []);
  const [id] = ids;
  return id !== undefined && ids.length === 1 ? { kind: 'id', id } : { kind: 'none' };
}

/** Reads a policy file, or says what is wrong with it. Fields that are not known are passed over. */
export function readStsPolicy(text: string): PublishedPolicy | { problem: string } {
  const fields = text.split(/\r?\n/).flatMap((line) => {
    // No blanks in the pattern: with them on both sides of a value a line of blanks takes its length cubed.
    const [, key, value] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value: value.trim() }];
  });
  // RFC 8461 3.2: of a field that comes twice the first counts; only `mx` may come again.
  const first = (key: string): string | undefined => fields.find((field) => field.key === key)?.value;
  if (first('version') !== 'STSv1') return { problem: 'it does not begin with "version: STSv1"' };
  const mode = first('mode');
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return { problem: 'it has no mode' };
  const age = first('max_age') ?? '';
  if (!/^\d{1,10}$/.test(age)) return { problem: 'it has no max_age' };
  const mx = fields.filter((field) => field.key === 'mx').map((field) => field.value.toLowerCase().replace(/\.$/, ''));
  if (mx.length === 0 && mode !== 'none') return { problem: 'it names no mx' };
  if (mx.length > MOST_PATTERNS) return { problem: 'it names too many mx' };
  const odd = mx.find((pattern) => !PATTERN.test(pattern));
  if (odd !== undefined) return { problem: 'one of its mx is no host name' };
  return { mode, mx, maxAge: Math.min(Number(age), MOST_AGE) };
}

/** Whether a mail exchanger is one that the patterns name; `*` stands for exactly one label. RFC 8461 4.1. */
export function matchesMx(patterns: readonly string[], host: string): boolean {
  const name = host.toLowerCase();
  const dot = name.indexOf('.');
  const wild = dot > 0 ? `*${name.slice(dot)}` : undefined;
  return patterns.some((pattern) => pattern === name || pattern === wild);
}
