import { readArcChain } from '../../mail/auth/arc-chain.ts';
import { authenticate } from '../../mail/auth/authenticate.ts';
import { readAuthor } from '../../mail/auth/author.ts';
import { readPublicKey } from '../../mail/auth/dkim-public-key.ts';
import { claimedSigner, readSignature } from '../../mail/auth/dkim-signature.ts';
import { readDmarc } from '../../mail/auth/dmarc-record.ts';
import { removeForgedFields } from '../../mail/auth/forged-results.ts';
import { networkOctets } from '../../mail/auth/ip-match.ts';
import { readAuthenticationResults } from '../../mail/auth/results-reader.ts';
import { expandMacros, isMacroString } from '../../mail/auth/spf-macro.ts';
import { readSpf } from '../../mail/auth/spf-record.ts';
import { colonList, readTags, trimBlanks } from '../../mail/auth/tag-list.ts';
import type { Resolver } from '../../mail/dns/lookup.ts';
import { readFields } from '../../mail/message/header.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { checkContent, checkForRecipient, checkClient } from '../../mail/policy/checks/index.ts';
import { sanitizeWord } from '../../mail/policy/finding.ts';
import { tagsOf } from '../../mail/policy/html-tags.ts';
import { walkHtml } from '../../mail/policy/html-walk.ts';
import { ContainerScan } from '../../mail/policy/container/container-scan.ts';
import { nextZipFile, zipDirectory } from '../../mail/message/archive/zip.ts';
import { linksOf } from '../../mail/policy/links.ts';
import { buildSample } from '../../mail/policy/build-sample.ts';
import type { Parser } from './parsers.ts';

/** Octets of a header that is verified; a TXT record of the DNS has 65,535. */
const HEADER = 250_000;
const RECORD = 65_000;
const NOW = Date.UTC(2026, 10, 21);

const octets = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Answers every question for a text with the same one, and all others with nothing. */
function scanned(file: Buffer): unknown {
  const scan = new ContainerScan();
  for (let at = 0; at < file.length; at += 65_536) scan.push(file.subarray(at, at + 65_536));
  return scan.end();
}

function resolverOf(text: string): Resolver {
  const nothing = (): Promise<{ kind: 'none'; nx: boolean }> => Promise.resolve({ kind: 'none', nx: false });
  return {
    txt: () => Promise.resolve({ kind: 'found', records: [text] }),
    mx: nothing,
    a: nothing,
    aaaa: nothing,
    ns: nothing,
    cname: nothing,
    ptr: nothing,
  };
}

function verified(header: string, record = ''): Promise<unknown> {
  async function* chunks(): AsyncGenerator<Buffer> {
    yield octets(`${header}\r\n\r\nbody\r\n`);
  }
  const mail = { chunks, ip: '192.0.2.1', helo: 'x.example', sender: 'a@b.example' };
  return authenticate(mail, { resolver: resolverOf(record), now: NOW });
}

/** Takes a message apart for the checks, and asks all of them. */
async function judged(text: string): Promise<number> {
  const bytes = octets(text);
  const { headerLength, parts } = indexMessage(bytes);
  const read = (start: number, length: number): Buffer => bytes.subarray(start, start + length);
  const peer = { ip: '192.0.2.1', helo: 'x.example', name: '' };
  const authentication = await authenticate(
    { chunks: async function* () {}, ip: peer.ip, helo: peer.helo, sender: '' },
    { resolver: null, now: NOW },
  );
  const sample = await buildSample({ read, headerLength, parts }, { peer, sender: 'a@b.example' }, authentication);
  const here = { hostname: 'mx.example', now: NOW };
  const familiar = { own: ['box.example'], written: ['far.example'] };
  return [...checkContent(sample, here), ...checkClient(sample, here), ...checkForRecipient(sample, familiar)].length;
}

/** A style sheet of as many rules as the text is long, each about what is inside of others. */
function rules(text: string): string {
  return `<style>${'.a .a .b{color:red}'.repeat(text.length / 20)}</style>`;
}

const macroFacts = {
  sender: 'a@b.example',
  domain: 'b.example',
  dottedIp: '192.0.2.1',
  version: 'in-addr',
  helo: 'x.example',
  validated: () => Promise.resolve('unknown'),
} as const;

/** Parsers of the filter: authentication, HTML, links and archives. */
export const JUDGING: readonly Parser[] = [
  { name: 'readTags', parse: readTags, most: HEADER },
  { name: 'trimBlanks', parse: trimBlanks },
  { name: 'colonList', parse: colonList },
  { name: 'readSignature', parse: (text) => readSignature(text, NOW), most: HEADER },
  { name: 'readSignature of a tag', parse: (text) => readSignature(`v=1; a=rsa-sha256; h=${text}`, NOW), most: HEADER },
  { name: 'claimedSigner', parse: claimedSigner, most: HEADER },
  { name: 'readPublicKey', parse: (text) => readPublicKey(`v=DKIM1; p=${text}`, 'rsa-sha256'), most: RECORD },
  { name: 'readDmarc', parse: (text) => readDmarc(`v=DMARC1; p=${text}`), most: RECORD },
  { name: 'readSpf', parse: (text) => readSpf(`v=spf1 ${text}`), most: RECORD },
  { name: 'isMacroString', parse: (text) => isMacroString(text, true), most: RECORD },
  { name: 'expandMacros', parse: (text) => expandMacros(`%{s}${text}`, macroFacts), most: RECORD },
  { name: 'networkOctets', parse: networkOctets, most: RECORD },
  { name: 'readAuthor', parse: (text) => readAuthor(readFields(`From: ${text}`), `From: ${text}`), most: HEADER },
  { name: 'readAuthor of a header', parse: (text) => readAuthor(readFields(text), text), most: HEADER },
  { name: 'readChain', parse: (text) => readArcChain(readFields(`ARC-Seal: ${text}`)), most: HEADER },
  { name: 'readResults', parse: readAuthenticationResults, most: HEADER },
  { name: 'cleaned', parse: (text) => removeForgedFields(octets(text), 'mx.example') },
  ...['From', 'DKIM-Signature', 'ARC-Seal', 'ARC-Authentication-Results'].map((name) => ({
    name: `authenticate by ${name}`,
    parse: (text: string) => verified(`From: a@b.example\r\n${name}: ${text}`),
    most: HEADER,
  })),
  { name: 'authenticate a header', parse: (text) => verified(text), most: HEADER },
  ...['v=spf1 ', 'v=DMARC1; p=', 'v=DKIM1; p='].map((record) => ({
    name: `authenticate by ${record.trim()}`,
    parse: (text: string) => {
      const signature = 'v=1; a=rsa-sha256; d=b.example; s=s; h=from; bh=AAAA; b=AAAA';
      return verified(`From: a@b.example\r\nDKIM-Signature: ${signature}`, `${record}${text}`);
    },
    most: RECORD,
  })),
  { name: 'plainWord', parse: sanitizeWord },
  { name: 'tagsOf', parse: (text) => [...tagsOf(text)].length, most: 262_144 },
  { name: 'tagsOf in a tag', parse: (text) => [...tagsOf(`<a href=${text}`)].length, most: 262_144 },
  {
    name: 'walkHtml',
    parse: (text) => [...walkHtml(`<style>${text}</style><p class=a>${text}`)].length,
    most: 262_144,
  },
  { name: 'walkHtml of styles', parse: (text) => [...walkHtml(`<style>a ${text}{b:c}`)].length, most: 262_144 },
  {
    name: 'walkHtml of rules',
    parse: (text) => [...walkHtml(`${rules(text)}${'<p class="a b">'.repeat(200)}`)].length,
    most: 262_144,
  },
  { name: 'linksOf', parse: (text) => linksOf(text, text), most: 262_144 },
  { name: 'linksOf of addresses', parse: (text) => linksOf('', `http://${text}`), most: 262_144 },
  { name: 'zipDirectory', parse: (text) => zipDirectory(octets(`${text}PK\x05\x06${text.slice(0, 18)}`)) },
  { name: 'ContainerScan', parse: (text) => scanned(octets(text)) },
  { name: 'nextZipFile', parse: (text) => nextZipFile(octets(`PK\x03\x04${text}`), 0) },
  { name: 'sampleOf a header', parse: judged },
  {
    name: 'sampleOf header values',
    parse: (text) => judged(`From: ${text}\r\nReply-To: ${text}\r\nSubject: ${text}`),
    most: 100_000,
  },
  { name: 'sampleOf a text', parse: (text) => judged(`Content-Type: text/plain\r\n\r\n${text}`) },
  { name: 'sampleOf HTML', parse: (text) => judged(`Content-Type: text/html\r\n\r\n<a href="http://a.b">${text}`) },
  { name: 'sampleOf a file', parse: (text) => judged(`Content-Type: a/b; name=a.zip\r\n\r\nPK\x03\x04${text}`) },
];
