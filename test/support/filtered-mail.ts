import type { FakeZone } from './fake-resolver.ts';
import { signMessage, SIGNING_KEYS, publicPart } from './dkim-maker.ts';
import { hop, HOP_ZONE } from './arc-chain.ts';
import { Random } from './random.ts';

/** A generated mail that several verifiers check. */
export interface FilteredMail {
  /** Special properties of the mail. */
  traits: string[];
  message: Buffer;
  author: string;
  spf: { result: 'pass' | 'fail'; domain: string };
}

/** Organizations by what they ask for. */
const POLICIES: Record<string, string | undefined> = {
  'rejectpolicy.com': 'v=DMARC1; p=reject',
  'quarantinepolicy.com': 'v=DMARC1; p=quarantine; rua=mailto:x@quarantinepolicy.com',
  'belowpolicy.com': 'v=DMARC1; p=none; sp=reject',
  'strictpolicy.com': 'v=DMARC1;p=reject;adkim=s;aspf=s',
  'testingpolicy.com': 'v=DMARC1; p=reject; t=y',
  'unreadpolicy.com': 'v=DMARC1; p=block',
  'nothingpolicy.com': undefined,
};

const RSA = publicPart(SIGNING_KEYS.rsa);
/** Records of keys by their selectors. */
const KEYS: Record<string, string> = {
  rsa: `v=DKIM1; k=rsa; p=${RSA}`,
  bare: `p=${RSA}`,
  pkcs1: `k=rsa; p=${publicPart(SIGNING_KEYS.rsa, 'pkcs1')}`,
  testing: `v=DKIM1; t=y; p=${RSA}`,
  strict: `v=DKIM1; t=s; p=${RSA}`,
  hashed: `v=DKIM1; h=sha1:sha256; s=email; p=${RSA}`,
  sha1: `v=DKIM1; h=sha1; p=${RSA}`,
  other: `v=DKIM1; s=tlsrpt; p=${RSA}`,
  revoked: 'v=DKIM1; p=',
  late: `k=rsa; v=DKIM1; p=${RSA}`,
  garbage: 'hello world',
  ed: `v=DKIM1; k=ed25519; p=${publicPart(SIGNING_KEYS.ed25519)}`,
  'rsa-1024': `v=DKIM1; p=${publicPart(SIGNING_KEYS.rsa1024)}`,
  'rsa-768': `v=DKIM1; p=${publicPart(SIGNING_KEYS.rsa768)}`,
};

const ORGANIZATIONS = Object.keys(POLICIES);
const HOSTS = ORGANIZATIONS.flatMap((name) => [name, `news.${name}`]);

/** All that is published. */
export const FILTERED_ZONE: Record<string, readonly string[]> = {
  ...(HOP_ZONE as Record<string, readonly string[]>),
  ...Object.fromEntries(
    Object.entries(POLICIES).flatMap(([name, text]) => (text === undefined ? [] : [[`TXT _dmarc.${name}`, [text]]])),
  ),
  ...Object.fromEntries(
    HOSTS.flatMap((host) => [
      [`A ${host}`, ['192.0.2.1']],
      [`TXT ${host}`, ['v=spf1 ip4:192.0.2.1 -all']],
      ...Object.entries(KEYS).map(([selector, text]) => [`TXT ${selector}._domainkey.${host}`, [text]]),
    ]),
  ),
} satisfies FakeZone;

const BODIES = [
  '',
  '\r\n\r\n',
  'one\r\ntwo\r\n',
  'no end',
  'blanks \t \r\n\t in\t a  row\r\n \r\n\r\n\r\n',
  '.\r\n..\r\nh\xc3\xa4llo \xff\r\n',
  `${'long '.repeat(60)}\r\n`.repeat(20),
];

/** Changes to a signature, each with the tags that make it. */
const ODD_TAGS: Record<string, Record<string, string | undefined>> = {
  expired: { t: '1500000000', x: '1600000000' },
  'of the future': { t: '4000000000' },
  dated: { t: '1600000000', x: '4000000000' },
  'x before t': { t: '1600000000', x: '1500000000' },
  'without From': { h: 'to:subject' },
  'with an odd version': { v: '2' },
  'with an odd algorithm': { a: 'rsa-md5' },
  'of a part of the body': { l: '3' },
  'of no body': { l: '0' },
  'of more than the body': { l: '100000' },
  'with a strange i=': { i: 'x@elsewhere.example' },
  'with its own i=': { i: '@d' },
  'with i= below': { i: 'me@mail.d' },
  'with unknown tags': { r: 'y', zz: 'what' },
  'with a query': { q: 'dns/txt' },
  'with no key': { s: 'nowhere' },
  'with a broken bh=': { bh: 'AAAA' },
};

/** Changes to a mail after it was signed. */
const CHANGES: Record<string, (message: string) => string> = {
  'body changed': (text) => `${text}more\r\n`,
  'lines added at the end': (text) => `${text}\r\n\r\n`,
  'Subject changed': (text) => text.replace('Subject: ', 'Subject: Re: '),
  'Subject folded': (text) => text.replace('Subject: a', 'Subject:\r\n a'),
  'To in other letters': (text) => text.replace('To: ', 'TO:  '),
  'a second Subject in front': (text) => text.replace('Subject: ', 'Subject: evil\r\nSubject: '),
  'a second From in front': (text) => text.replace('From: ', 'From: evil@elsewhere.example\r\nFrom: '),
  'a field in front': (text) => `Received: from a by b; Sat, 21 Nov 2026 00:00:00 +0000\r\n${text}`,
};

/** The same mails for the same seed. */
export async function filteredMails(count: number, seed: number): Promise<FilteredMail[]> {
  const random = new Random(seed);
  const mails: FilteredMail[] = [];
  for (let at = 0; at < count; at += 1) mails.push(await filteredMail(random, at));
  return mails;
}

async function filteredMail(random: Random, at: number): Promise<FilteredMail> {
  const author = random.one(HOSTS);
  const organization = author.replace('news.', '');
  const traits: string[] = [`from ${author}`];
  const domain = random.chance(0.75) ? random.one([organization, `news.${organization}`]) : random.one(HOSTS);
  let text =
    `From: Me <me@${author}>\r\nTo: you@x.example\r\nSubject: a \t b\r\n\tc\r\n` +
    `Date: Sat, 21 Nov 2026 00:00:00 +0000\r\nMessage-ID: <${at}@${author}>\r\n\r\n${random.one(BODIES)}`;
  for (let left = random.one([0, 1, 1, 1, 1, 1, 2]); left > 0; left -= 1) text = signed(random, text, domain, traits);
  if (random.chance(0.3)) {
    const [name, change] = random.one(Object.entries(CHANGES));
    traits.push(name);
    text = change(text);
  }
  let message: Buffer = Buffer.from(text, 'latin1');
  const hops = random.one([0, 0, 0, 0, 1, 2]);
  for (let i = 1; i <= hops; i += 1) message = await hop(message, i);
  if (hops > 0) traits.push(`${hops} ARC sets`);
  if (hops > 0 && random.chance(0.4)) {
    traits.push('changed behind the seal');
    message = Buffer.from(message.toString('latin1').replace('Subject:', 'Subject: [list]'), 'latin1');
  }
  const sent = random.chance(0.6) ? random.one([organization, `news.${organization}`]) : random.one(HOSTS);
  return { traits, message, author, spf: { result: random.chance(0.4) ? 'pass' : 'fail', domain: sent } };
}

function signed(random: Random, message: string, domain: string, traits: string[]): string {
  const selector = random.chance(0.5) ? random.one(['rsa', 'ed']) : random.one(Object.keys(KEYS));
  const key =
    { ed: SIGNING_KEYS.ed25519, 'rsa-1024': SIGNING_KEYS.rsa1024, 'rsa-768': SIGNING_KEYS.rsa768 }[selector] ??
    SIGNING_KEYS.rsa;
  const [odd, oddTags] = random.chance(0.35) ? random.one(Object.entries(ODD_TAGS)) : ['', {}];
  const digest = selector !== 'ed' && random.chance(0.05) ? 'sha1' : 'sha256';
  const c = random.one([
    'relaxed/relaxed',
    'relaxed/relaxed',
    'simple/simple',
    'relaxed/simple',
    'simple/relaxed',
    'relaxed',
  ]);
  const h = random.one(['from:to:subject', 'From : To : Subject : Date', 'from:from:to:to:subject:subject:x-none']);
  const tags: Record<string, string | undefined> = { c, d: domain, s: selector, h, ...oddTags };
  if (tags['i'] !== undefined) tags['i'] = tags['i'].replace(/d$/, domain);
  traits.push(`${selector}, ${c}, ${digest}, d=${domain}${odd === '' ? '' : `, ${odd}`}`);
  return signMessage({ message, key, tags, digest, fold: random.chance(0.5) });
}
