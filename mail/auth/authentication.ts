/** What became of an ARC chain; only the first three are a `cv=` that a seal can state. RFC 8617 4.4. */
export type ChainStatus = 'none' | 'pass' | 'fail';

export function isStatus(text: string): text is ChainStatus {
  return text === 'none' || text === 'pass' || text === 'fail';
}

/** What SPF, DKIM, DMARC and ARC say of a message that came from the world. Domains are A-labels in lower case. */
export interface Authentication {
  spf: { result: string; domain: string };
  dkim: readonly { result: string; domain: string; selector: string }[];
  dmarc: Dmarc;
  arc: ChainStatus | 'temperror';
}

export interface Dmarc {
  /** `permerror`: there is no one author domain that could be asked, or no header that could be read. */
  result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /** What the author's domain asks for, `none` when it asks for nothing. */
  policy: 'none' | 'quarantine' | 'reject';
  /** Of the author in From; '' when there is no one. */
  domain: string;
  /** The organization that it belongs to, as far as the DNS says so; else the domain itself. */
  organization: string;
}

/** Whose word goes into a message: `authserv` is the name of this server. The value of Authentication-Results, folded. RFC 8601 2.2. */
export function resultsText(authserv: string, { spf, dkim, dmarc, arc }: Authentication): string {
  const parts = [
    `spf=${word(spf.result)} smtp.mailfrom=${word(spf.domain)}`,
    ...dkim.map((one) => `dkim=${word(one.result)} header.d=${word(one.domain)} header.s=${word(one.selector)}`),
    ...(dkim.length === 0 ? ['dkim=none'] : []),
    `dmarc=${word(dmarc.result)} (p=${word(dmarc.policy)}) header.from=${word(dmarc.domain)}`,
    `arc=${word(arc)}`,
  ];
  return [word(authserv), ...parts].join(';\r\n\t');
}

/** What a stranger wrote becomes one word that needs no quotes. */
function word(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 253) || 'unknown';
}
