/** What became of an ARC chain; only the first three are a `cv=` that a seal can state. RFC 8617 4.4. */
export type ChainStatus = 'none' | 'pass' | 'fail';

export function isStatus(text: string): text is ChainStatus {
  return text === 'none' || text === 'pass' || text === 'fail';
}

/** RFC 7208 2.6. */
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror';
/** RFC 8601 2.7.1; a message without signatures has none of them. */
export type DkimResult = 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror' | 'permerror';

/** What SPF, DKIM, DMARC and ARC say of a message that came from the world. Domains are A-labels in lower case. */
export interface Authentication {
  /** `identity`: the domain is that of the greeting, as the reverse-path was empty. */
  spf: { result: SpfResult; domain: string; identity?: 'helo' };
  /** `why`: in our words, for what did not pass. */
  dkim: readonly { result: DkimResult; domain: string; selector: string; why?: string }[];
  dmarc: Dmarc;
  arc: ChainStatus | 'temperror';
  /** Who sealed a chain that passes last, and what it had found out; nothing obliges to believe it. */
  sealer?: Sealer;
  /** The name that leads back to the address: '' where none does, and where nobody was asked (`none`). RFC 8601 2.7.3. */
  iprev: { result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror'; name: string; ip: string };
}

export interface Dmarc {
  /** `permerror`: there is no one author domain that could be asked, or no header that could be read. */
  result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /**
   * What the author's domain asks for, `none` when it asks for nothing. With `temperror` it is what the domain is known
   * to ask for, though not whether this message is meant.
   */
  policy: 'none' | 'quarantine' | 'reject';
  /** Of the author in From; '' when there is no one. */
  domain: string;
  /** The organization that it belongs to, as far as the DNS says so; else the domain itself. */
  organization: string;
  /** SPF or DKIM vouches for the author's domain, whether or not it asks for anything. RFC 9989 4.4. */
  aligned: boolean;
  /** It is not known to be aligned, and the DNS did not answer something that could have shown that it is. */
  unsure?: true;
  /** With `permerror`: what the message has instead of one author, in our words. */
  why?: string;
}

export interface Sealer {
  domain: string;
  /** The results of its ARC-Authentication-Results, '' for those it does not tell. */
  dmarc: string;
  spf: string;
  dkim: string;
}

/** Of a message that names no domain which could be asked. */
export const NO_AUTHOR = { policy: 'none', domain: '', organization: '', aligned: false } as const;

/** Octets of a line, as far as words allow. RFC 5322 2.1.1. */
const WIDTH = 78;
const FOLD = '\r\n\t';
/** Of what a stranger wrote; a name in the DNS has no more. */
const LONGEST = 253;

/**
 * The value of Authentication-Results, folded. `authserv` is the name of this server, whose word goes into a message.
 * RFC 8601 2.2.
 */
export function resultsText(authserv: string, found: Authentication): string {
  const { spf, dkim, dmarc, arc, sealer, iprev } = found;
  const results = [
    ['spf', spf.result, '', spfProperty(spf)],
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

function spfProperty({ domain, identity }: Authentication['spf']): string {
  return property(identity === 'helo' ? 'smtp.helo' : 'smtp.mailfrom', domain);
}

/** Only what is known is told. */
function property(name: string, value: string): string {
  if (value === '') return '';
  // The only character beyond those of a word that an address needs.
  return value.includes(':') ? `${name}="${word(value, ':')}"` : `${name}=${word(value)}`;
}

function comment(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `(${text.replace(/[^A-Za-z0-9 .,=_-]/g, '_').slice(0, LONGEST)})`;
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

/** What a stranger wrote becomes one word that needs no quotes, but for the characters in `more`. */
function word(text: string, more = ''): string {
  const plain = Array.from(text.slice(0, LONGEST), (char) =>
    /[A-Za-z0-9._-]/.test(char) || more.includes(char) ? char : '_',
  );
  return plain.join('') || 'unknown';
}
