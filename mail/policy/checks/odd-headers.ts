import { canonicalAddress } from '../../dns/public-address.ts';
import { parseDate } from '../../message/date.ts';
import { type Finding, plainWord } from '../finding.ts';
import type { Sample } from '../sample.ts';
import { isUnproven } from '../vouched.ts';

/** Where and when a message is looked at. */
export interface Here {
  /** Our own name. */
  hostname: string;
  /** ms UTC. */
  now: number;
}

const DAY = 24 * 3_600_000;

/** What programs that send mail for people never leave out or get wrong. RFC 5322 3.6. */
export function oddHeaders(sample: Sample, { hostname, now }: Here): readonly Finding[] {
  const { fields } = sample;
  const findings: Finding[] = [];
  const value = (field: string): string | undefined => fields.find(({ name }) => name === field)?.value;
  if (value('message-id') === undefined) findings.push(odd('no-message-id', 0.5, 'It has no Message-ID'));
  if (!['to', 'cc', 'bcc'].some((field) => value(field) !== undefined))
    findings.push(odd('no-recipient', 0.5, 'It names nobody to whom it is'));
  const date = value('date');
  const sent = date === undefined ? undefined : parseDate(date.slice(0, 200))?.at;
  if (sent === undefined) findings.push(odd('no-date', 1, 'It does not say when it was written'));
  else if (sent > now + DAY) findings.push(odd('date-ahead', 1, 'It says that it was written in the future'));
  else if (sent < now - 30 * DAY)
    findings.push(odd('date-old', 0.5, 'It says that it was written more than a month ago'));
  if (forgedTrace(sample, hostname))
    findings.push(odd('forged-received', 1, 'It claims to have been here before, and nothing vouches for it'));
  if (tricksEye(sample))
    findings.push(odd('hidden-characters', 1.5, 'Its header holds characters that hide what it says'));
  return findings;
}

/** The first Received is ours. Another one may come back over a mailing list, which then says that it is one. */
function forgedTrace(sample: Sample, hostname: string): boolean {
  const { fields } = sample;
  if (!isUnproven(sample) || fields.some(({ name }) => name.startsWith('list-'))) return false;
  const trace = fields.filter(({ name }) => name === 'received').slice(1, 50);
  return trace.some(({ value }) => ` ${value.slice(0, 1000).toLowerCase()} `.includes(` by ${hostname} `));
}

/** Bidirectional overrides, which turn text around, and runs of characters without width. */
function tricksEye({ subject, fields }: Sample): boolean {
  const from = fields.find(({ name }) => name === 'from')?.value ?? '';
  const shown = `${subject.slice(0, 500)}\n${Buffer.from(from.slice(0, 500), 'latin1').toString('utf8')}`;
  return /[\u202a-\u202e\u2066-\u2069]|[\u200b\u2060\ufeff\u00ad]{2}/.test(shown);
}

/** There is no name, or it leads elsewhere; trouble of the DNS is neither. RFC 8601 2.7.3. */
const NAMELESS: ReadonlySet<string> = new Set(['fail', 'permerror']);

/** How the host introduced itself. RFC 5321 4.1.4 forbids to refuse for it alone. */
export function oddGreeting({ peer, authentication }: Sample, { hostname }: Here): readonly Finding[] {
  const helo = peer.helo.toLowerCase();
  if (helo === hostname) return [odd('helo-is-us', 2.5, 'The host that brought it greeted with our own name')];
  const literal = /^\[(?:ipv6:)?([0-9a-f:.]{2,45})\]$/.exec(helo)?.[1];
  if (literal !== undefined && canonicalAddress(literal) !== canonicalAddress(peer.ip))
    return [odd('helo-other-address', 1.5, 'The host that brought it greeted with an address that is not its own')];
  if (literal !== undefined || /^[0-9.]+$/.test(helo))
    return [odd('helo-address', 1, 'The host that brought it greeted with an address')];
  if (!helo.includes('.')) return [odd('helo-short', 0.5, `The host that brought it calls itself ${plainWord(helo)}`)];
  if (NAMELESS.has(authentication.iprev.result)) return [odd('no-name', 1, 'The address that brought it has no name')];
  return [];
}

function odd(rule: string, score: number, why: string): Finding {
  return { rule, score, why };
}
