import { createHash } from 'node:crypto';
import { readArcChain } from '../../../mail/auth/arc-chain.ts';
import { authenticateMail } from '../../../mail/auth/authenticate.ts';
import { readAuthor } from '../../../mail/auth/author.ts';
import { BodyHasher } from '../../../mail/auth/dkim-body.ts';
import { readPublicKey } from '../../../mail/auth/dkim-public-key.ts';
import { canonicalField, foldSignature, selectFields } from '../../../mail/auth/dkim-sign.ts';
import { claimedSigner, readSignature, withoutSignature } from '../../../mail/auth/dkim-signature.ts';
import { SimpleBodyHasher } from '../../../mail/auth/dkim-simple-body.ts';
import { isDmarc, readDmarc, readLoosely } from '../../../mail/auth/dmarc-record.ts';
import { walkDnsTree } from '../../../mail/auth/dmarc-walk.ts';
import { leadingAuthserv, removeForgedFields, removeForgedResults } from '../../../mail/auth/forged-results.ts';
import { ipOctets, networkOctets } from '../../../mail/auth/ip-match.ts';
import { readAuthenticationResults } from '../../../mail/auth/results-reader.ts';
import { expandMacros, isMacroString } from '../../../mail/auth/spf-macro.ts';
import { isSpf, readSpf } from '../../../mail/auth/spf-record.ts';
import { base64Value, colonList, readTags, trimBlanks } from '../../../mail/auth/tag-list.ts';
import type { Resolver } from '../../../mail/dns/lookup.ts';
import { readFields } from '../../../mail/message/header.ts';
import { drained, pieces } from './body-costs.ts';
import { type CostGroup, type CostRow, costs, driven, octets } from './row.ts';

const NOW = Date.UTC(2026, 10, 21);
const SIGNED = 'v=1; a=rsa-sha256; d=x.test; s=s; b=AA==; bh=AA==; h=from';

/** Resolver that answers every question for a text with one record, and all others with nothing. */
function resolverOf(text: string): Resolver {
  const nothing = (): Promise<{ kind: 'none'; nx: boolean }> => Promise.resolve({ kind: 'none', nx: false });
  return {
    txt: () => Promise.resolve({ kind: 'found', records: [text] }),
    mx: nothing,
    a: nothing,
    aaaa: nothing,
    ns: nothing,
    cname: nothing,
    srv: nothing,
    ptr: nothing,
  };
}

function verified(header: string, record = ''): Promise<unknown> {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield octets(`${header}\r\n\r\nbody\r\n`);
  }
  const mail = { chunks, ip: '192.0.2.1', helo: 'x.example', sender: 'a@b.example' };
  return authenticateMail(mail, { resolver: resolverOf(record), now: NOW });
}

function verifiedBy(record: string): (text: string) => Promise<unknown> {
  const signature = 'v=1; a=rsa-sha256; d=b.example; s=s; h=from; bh=AAAA; b=AAAA';
  return (text) => verified(`From: a@b.example\r\nDKIM-Signature: ${signature}`, `${record}${text}`);
}

function hashed(hasher: { update: (chunk: Uint8Array) => void; digest: () => Buffer }, text: string): Buffer {
  hasher.update(octets(text));
  return hasher.digest();
}

const macroFacts = {
  sender: 'a@b.example',
  domain: 'b.example',
  dottedIp: '192.0.2.1',
  version: 'in-addr',
  helo: 'x.example',
  validated: () => Promise.resolve('unknown'),
} as const;

const auth: CostGroup = {
  at: 'mail/auth',
  input: 'header of a message',
  bound: 'header of 256 KiB, 8 signatures, 50 ARC sets',
  thread: 'main',
  most: 256 * 1024,
};

const SIGNATURES = costs(auth, {
  readTags,
  trimBlanks,
  colonList,
  base64Value,
  readSignature: (text) => readSignature(text, NOW),
  'readSignature: tag': (text) => readSignature(`${SIGNED}:${text}`, NOW),
  withoutSignature: (text) => withoutSignature(`${SIGNED}:${text}`, readTags(SIGNED) ?? new Map()),
  claimedSigner,
  canonicalField: (text) => canonicalField('From', text),
  selectFields: (text) => selectFields(readFields(text)),
  foldSignature: driven(foldSignature, { input: 'signature of our key', bound: '1 KiB' }),
  readArcChain: (text) => readArcChain(readFields(`ARC-Seal: ${text}`)),
  'readArcChain: one field': (text) => readArcChain([{ name: 'arc-seal', value: text, start: 0, end: 1 }]),
  readAuthor: (text) => readAuthor(readFields(`From: ${text}`), `From: ${text}`),
  'readAuthor: whole header': (text) => readAuthor(readFields(text), text),
  readAuthenticationResults,
  'readAuthenticationResults: behind a server': (text) => readAuthenticationResults(`x;${text}`),
  leadingAuthserv: (text) => leadingAuthserv(`Authentication-Results: ${text}`),
  removeForgedFields: (text) => removeForgedFields(octets(text), 'mx.example'),
  removeForgedResults: (text) => drained(removeForgedResults('mx.example', pieces(text))),
  'removeForgedResults: field': (text) =>
    drained(removeForgedResults('mx.example', pieces(`Authentication-Results: ${text}\r\n\r\n`))),
  authenticateMail: (text) => verified(text),
  ...Object.fromEntries(
    ['From', 'DKIM-Signature', 'ARC-Seal', 'ARC-Authentication-Results'].map((name) => [
      `authenticateMail: ${name}`,
      (text: string) => verified(`From: a@b.example\r\n${name}: ${text}`),
    ]),
  ),
});

const BODIES = costs(
  { at: 'mail/auth', input: 'body of a message', bound: 'message limit', thread: 'main' },
  {
    BodyHasher: (text) => hashed(new BodyHasher(), text),
    SimpleBodyHasher: (text) => hashed(new SimpleBodyHasher(createHash('sha256')), text),
  },
);

const RECORDS = costs(
  { ...auth, input: 'TXT record of a stranger', bound: '64 KiB; DKIM and DMARC 4,096 characters', most: 65_000 },
  {
    readPublicKey: (text) => readPublicKey(`v=DKIM1; p=${text}`, 'rsa-sha256'),
    isDmarc: (text) => isDmarc(`v${text}`),
    readLoosely: driven(readLoosely, { worst: [';', 'a=', '=', ' ;', ' '] }),
    readDmarc: (text) => readDmarc(`v=DMARC1; p=${text}`),
    isSpf: (text) => isSpf(`v=spf1 ${text}`),
    readSpf: (text) => readSpf(`v=spf1 ${text}`),
    'readSpf: one term': (text) => readSpf(`v=spf1 a:${text.replaceAll(' ', '')}x.test`),
    isMacroString: (text) => isMacroString(text, true),
    expandMacros: driven((text) => expandMacros(`%{s}${text}`, macroFacts), {
      worst: ['%{s}', '%{ir}', '%{d1r+-.,/_=}'],
    }),
    ipOctets,
    networkOctets,
    walkDnsTree: driven((text) => walkDnsTree(text, resolverOf('v=DMARC1; p=none')), {
      input: 'domain of an author',
      bound: '7 labels are asked',
    }),
    'authenticateMail: SPF record': verifiedBy('v=spf1 '),
    'authenticateMail: DMARC record': verifiedBy('v=DMARC1; p='),
    'authenticateMail: DKIM record': verifiedBy('v=DKIM1; p='),
  },
);

/** Functions that read what SPF, DKIM, DMARC and ARC take from messages and the DNS. */
export const AUTHENTICATION_COSTS: readonly CostRow[] = [...SIGNATURES, ...BODIES, ...RECORDS];
