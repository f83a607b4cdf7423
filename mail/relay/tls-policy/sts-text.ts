/** Parsed TXT record at `_mta-sts.`. RFC 8461 3.1. */
export type StsRecord = { kind: 'id'; id: string } | { kind: 'none' };

/** A published policy. RFC 8461 3.2. */
export interface PublishedStsPolicy {
  mode: 'enforce' | 'testing' | 'none';
  mx: string[];
  /** Seconds. */
  maxAge: number;
}

/** Upper limit of max_age, seconds (RFC 8461 3.2). */
const MAX_AGE = 31_557_600;
const MAX_PATTERNS = 200;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const PATTERN = new RegExp(`^(?=.{1,253}$)(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`);

/** Parses the TXT records. Exactly one must be an MTA-STS record, and it must be valid. */
export function readStsRecord(records: readonly string[]): StsRecord {
  const [record, second] = records.filter((one) => /^v=STSv1\s*;/.test(one));
  if (record === undefined || second !== undefined) return { kind: 'none' };
  const ids = record.split(';').flatMap((field) => /^\s*id\s*=\s*([A-Za-z0-9]{1,32})\s*$/.exec(field)?.[1] ?? []);
  const [id] = ids;
  return id !== undefined && ids.length === 1 ? { kind: 'id', id } : { kind: 'none' };
}

/** Parses a policy file, or returns its problem. Unknown fields are ignored. */
export function readStsPolicy(text: string): PublishedStsPolicy | { problem: string } {
  const fields = text.split(/\r?\n/).flatMap((line) => {
    // No blanks in the pattern: blanks on both sides of a value would make it cubic for a line of blanks.
    const [, key, value] = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value: value.trim() }];
  });
  // The first of duplicate fields counts; only `mx` may be repeated. RFC 8461 3.2.
  const first = (key: string): string | undefined => fields.find((field) => field.key === key)?.value;
  if (first('version') !== 'STSv1') return { problem: 'it does not begin with "version: STSv1"' };
  const mode = first('mode');
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return { problem: 'it has no mode' };
  const age = first('max_age') ?? '';
  if (!/^\d{1,10}$/.test(age)) return { problem: 'it has no max_age' };
  const mx = fields.filter((field) => field.key === 'mx').map((field) => field.value.toLowerCase().replace(/\.$/, ''));
  if (mx.length === 0 && mode !== 'none') return { problem: 'it names no mx' };
  if (mx.length > MAX_PATTERNS) return { problem: 'it names too many mx' };
  const odd = mx.find((pattern) => !PATTERN.test(pattern));
  if (odd !== undefined) return { problem: 'one of its mx is not a host name' };
  return { mode, mx, maxAge: Math.min(Number(age), MAX_AGE) };
}

/** True if a mail exchanger matches a pattern; `*` stands for exactly one label. RFC 8461 4.1. */
export function matchesMx(patterns: readonly string[], host: string): boolean {
  const name = host.toLowerCase();
  const dot = name.indexOf('.');
  const wild = dot > 0 ? `*${name.slice(dot)}` : undefined;
  return patterns.some((pattern) => pattern === name || pattern === wild);
}
