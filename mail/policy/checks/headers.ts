import { canonicalAddress } from '../../dns/public-address.ts';
import { parseDate } from '../../message/date.ts';
import { firstField } from '../../message/header.ts';
import { type Finding, sanitizeWord } from '../finding.ts';
import type { Sample } from '../sample.ts';
import { isUnauthenticated } from '../author-proof.ts';

/** Host and time of the checks. */
export interface CheckContext {
  /** Host name of the box. */
  hostname: string;
  /** ms UTC. */
  now: number;
}

const DAY = 24 * 3_600_000;

/** Finds header defects that normal mail programs do not have. RFC 5322 3.6. */
export function checkHeaders(sample: Sample, { hostname, now }: CheckContext): readonly Finding[] {
  const { fields } = sample;
  const findings: Finding[] = [];
  if (firstField(fields, 'message-id') === undefined)
    findings.push(toFinding('no-message-id', 0.5, 'It has no Message-ID'));
  if (!fields.some(({ name }) => name === 'to' || name === 'cc' || name === 'bcc'))
    findings.push(toFinding('no-recipient', 0.5, 'It has no recipient fields (To, Cc, Bcc)'));
  const date = firstField(fields, 'date');
  const sent = date === undefined ? undefined : parseDate(date.slice(0, 200))?.at;
  if (sent === undefined) findings.push(toFinding('no-date', 1, 'It has no valid Date'));
  else if (sent > now + DAY) findings.push(toFinding('date-ahead', 1, 'Its Date is in the future'));
  else if (sent < now - 30 * DAY) findings.push(toFinding('date-old', 0.5, 'Its Date is more than a month ago'));
  if (hasForgedReceived(sample, hostname))
    findings.push(toFinding('forged-received', 1, 'It has a forged Received field of this server'));
  if (hasDeceptiveCharacters(sample))
    findings.push(toFinding('hidden-characters', 1.5, 'Its header contains characters that disguise the text'));
  return findings;
}

/** The first Received field is our own. Another one is genuine only if the message came back from a mailing list. */
function hasForgedReceived(sample: Sample, hostname: string): boolean {
  const { fields } = sample;
  if (!isUnauthenticated(sample) || fields.some(({ name }) => name.startsWith('list-'))) return false;
  const trace = fields.filter(({ name }) => name === 'received').slice(1, 50);
  return trace.some(({ value }) => ` ${value.slice(0, 1000).toLowerCase()} `.includes(` by ${hostname} `));
}

/** Finds bidirectional overrides, which reverse text, and runs of zero-width characters. */
function hasDeceptiveCharacters({ subject, fields }: Sample): boolean {
  const from = firstField(fields, 'from') ?? '';
  const shown = `${subject.slice(0, 500)}\n${Buffer.from(from.slice(0, 500), 'latin1').toString('utf8')}`;
  return /[\u202a-\u202e\u2066-\u2069]|[\u200b\u2060\ufeff\u00ad]{2}/.test(shown);
}

/** iprev results without a verified name; DNS errors do not count. RFC 8601 2.7.3. */
const NAMELESS: ReadonlySet<string> = new Set(['fail', 'permerror']);

/** Checks the HELO name. RFC 5321 4.1.4 forbids rejection by it alone. */
export function checkHelo({ peer, authentication }: Sample, { hostname }: CheckContext): readonly Finding[] {
  const helo = peer.helo.toLowerCase();
  if (helo === hostname) return [toFinding('helo-is-us', 2.5, 'The sending host used our own name in HELO')];
  const literal = /^\[(?:ipv6:)?([0-9a-f:.]{2,45})\]$/.exec(helo)?.[1];
  if (literal !== undefined && canonicalAddress(literal) !== canonicalAddress(peer.ip))
    return [toFinding('helo-other-address', 1.5, 'The sending host used another IP address in HELO')];
  if (literal !== undefined || /^[0-9.]+$/.test(helo))
    return [toFinding('helo-address', 1, 'The sending host used an IP address in HELO')];
  if (!helo.includes('.'))
    return [toFinding('helo-short', 0.5, `The sending host used the name ${sanitizeWord(helo)} in HELO`)];
  if (NAMELESS.has(authentication.iprev.result))
    return [toFinding('no-name', 1, 'The sending IP address has no reverse name')];
  return [];
}

function toFinding(rule: string, score: number, why: string): Finding {
  return { rule, score, why };
}
