/** Chain status that a seal can state as `cv=`. RFC 8617 4.4. */
export type ChainStatus = 'none' | 'pass' | 'fail';

export function isChainStatus(text: string): text is ChainStatus {
  return text === 'none' || text === 'pass' || text === 'fail';
}

/** SPF result. RFC 7208 2.6. */
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror';
/** DKIM result of one signature. RFC 8601 2.7.1. */
export type DkimResult = 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror';

/** SPF, DKIM, DMARC, ARC and iprev results of an inbound message. Domains are A-labels in lower case. */
export interface Authentication {
  /** `identity` is `helo` if the reverse-path was empty: the domain is the EHLO name. */
  spf: { result: SpfResult; domain: string; identity?: 'helo' };
  /** `why`: reason for any result but pass. */
  dkim: readonly { result: DkimResult; domain: string; selector: string; why?: string }[];
  dmarc: Dmarc;
  arc: ChainStatus | 'temperror';
  /** Last sealer of a passing chain with its claimed results; trust depends on local policy. */
  sealer?: Sealer;
  /** Forward-confirmed reverse DNS name; '' without one, or if DNS is disabled (`none`). RFC 8601 2.7.3. */
  iprev: { result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror'; name: string; ip: string };
}

export interface Dmarc {
  /** `permerror`: From has no single author domain, or the header cannot be read. */
  result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /**
   * Policy that the author's domain publishes; `none` without a record. With `temperror` it is the last known policy,
   * and alignment is unknown.
   */
  policy: 'none' | 'quarantine' | 'reject';
  /** Domain of the author in From; '' without an author. */
  domain: string;
  /** Organizational domain by the DNS tree walk; else the domain itself. */
  organization: string;
  /** SPF or DKIM passes and aligns with the author's domain, with or without a policy. RFC 9989 4.4. */
  aligned: boolean;
  /** Not aligned so far, and a failed lookup could have shown alignment. */
  unsure?: true;
  /** With `permerror`: what From has in place of one author. */
  why?: string;
  /** Facts for the aggregate report; left out where the domain asks for none. */
  reporting?: DmarcReporting;
}

export interface DmarcReporting {
  /** Domain whose record applied. */
  domain: string;
  /** Passes and is aligned. */
  spf: boolean;
  dkim: boolean;
}

export interface Sealer {
  domain: string;
  /** Results in its ARC-Authentication-Results; '' if missing. */
  dmarc: string;
  spf: string;
  dkim: string;
}

/** DMARC facts of a message without an author domain. */
export const NO_AUTHOR = { policy: 'none', domain: '', organization: '', aligned: false } as const;

/** Recommended line length, octets. RFC 5322 2.1.1. */
const WIDTH = 78;
const FOLD = '\r\n\t';
/** Limit for values from remote parties; the length of a DNS name. */
const MAX_TEXT_CHARS = 253;

/**
 * Formats the value of Authentication-Results, folded. `authserv` is this server's authserv-id. RFC 8601 2.2.
 */
export function resultsText(authserv: string, found: Authentication): string {
  const { spf, dkim, dmarc, arc, sealer, iprev } = found;
  const results = [
    ['spf', spf.result, '', property(spf.identity === 'helo' ? 'smtp.helo' : 'smtp.mailfrom', spf.domain)],
    ...dkim.map((one) => [
      'dkim',
      one.result,
      comment(one.why),
      property('header.d', one.domain),
      property('header.s', one.selector),
    ]),
    ...(dkim.length === 0 ? [['dkim', 'none']] : []),
    ['dmarc', dmarc.result, `(p=${dmarc.policy})`, property('header.from', dmarc.domain)],
    ['arc', arc, '', property('header.d', sealer?.domain ?? '')],
    ['iprev', iprev.result, comment(iprev.name), property('policy.iprev', iprev.ip)],
  ];
  const lines = results.map(([method = '', result = '', ...rest]) => folded(`${method}=${word(result)}`, rest));
  return [word(authserv), ...lines].join(`;${FOLD}`);
}

/** Formats a property; '' if the value is unknown. */
function property(name: string, value: string): string {
  if (value === '') return '';
  // Only IPv6 addresses need a character beyond those of a word.
  return value.includes(':') ? `${name}="${word(value, NO_WORD_OR_COLON)}"` : `${name}=${word(value)}`;
}

function comment(text: string | undefined): string {
  return text === undefined || text === ''
    ? ''
    : `(${text.replace(/[^A-Za-z0-9 .,=_-]/g, '_').slice(0, MAX_TEXT_CHARS)})`;
}

function folded(first: string, rest: readonly string[]): string {
  let out = first;
  let length = first.length + 2;
  for (const one of rest) {
    if (one === '') continue;
    const fits = length + 1 + one.length < WIDTH;
    out += `${fits ? ' ' : FOLD}${one}`;
    length = fits ? length + 1 + one.length : 2 + one.length;
  }
  return out;
}

const NO_WORD = /[^A-Za-z0-9._-]/gu;
const NO_WORD_OR_COLON = /[^A-Za-z0-9._:-]/gu;

/** Replaces every character that would need quotes by `_`. */
function word(text: string, replaced = NO_WORD): string {
  return text.slice(0, MAX_TEXT_CHARS).replace(replaced, '_') || 'unknown';
}
