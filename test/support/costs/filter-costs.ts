import { authenticateMail } from '../../../mail/auth/authenticate.ts';
import { clamavFindings } from '../../../mail/filter/scanners/clamav-response.ts';
import { rspamdFindings } from '../../../mail/filter/scanners/rspamd-response.ts';
import { nextZipFile, zipDirectory } from '../../../mail/message/archive/zip.ts';
import { tarFiles } from '../../../mail/message/archive/tar.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { buildSample } from '../../../mail/policy/build-sample.ts';
import { countVisibleText } from '../../../mail/policy/checks/hidden-text.ts';
import { linkHost, parseWebUrl } from '../../../mail/policy/checks/hosts.ts';
import { checkClient, checkContent, checkForRecipient } from '../../../mail/policy/checks/index.ts';
import { findLinkOddity } from '../../../mail/policy/checks/links.ts';
import { ContainerScan } from '../../../mail/policy/container/container-scan.ts';
import { classifyProgramName, detectProgram, isSourceFile } from '../../../mail/policy/container/program.ts';
import { countLetters } from '../../../mail/policy/count-letters.ts';
import { sanitizeWord } from '../../../mail/policy/finding.ts';
import { isFreeMailProvider } from '../../../mail/policy/free-mail.ts';
import { tripletHash } from '../../../mail/policy/greylisting.ts';
import { tagsOf } from '../../../mail/policy/html-tags.ts';
import { walkHtml } from '../../../mail/policy/html-walk.ts';
import { htmlLinks, linksOf, textLinks } from '../../../mail/policy/links.ts';
import { editDistance } from '../../../mail/policy/look-alike/edit-distance.ts';
import { readName } from '../../../mail/policy/look-alike/known-names.ts';
import { findLookAlike } from '../../../mail/policy/look-alike/look-alike.ts';
import { mixesScripts, skeleton, toUnicodeHost } from '../../../mail/policy/look-alike/skeleton.ts';
import { networkPattern } from '../../../mail/policy/network-pattern.ts';
import { domainOf, hasSameOwner, mainLabel, registrableDomain } from '../../../mail/policy/registrable.ts';
import { senderKeys } from '../../../mail/policy/sender-keys.ts';
import { namePattern } from '../../../mail/policy/sender-rules.ts';
import { readColor } from '../../../mail/policy/style/color.ts';
import { parseDeclarations } from '../../../mail/policy/style/declarations.ts';
import { findOutside } from '../../../mail/policy/style/find-outside.ts';
import { isForScreen } from '../../../mail/policy/style/media.ts';
import { readSelector } from '../../../mail/policy/style/selector.ts';
import { readStyleSheets } from '../../../mail/policy/style/sheet.ts';
import { isValidValue } from '../../../mail/policy/style/valid-value.ts';
import { htmlWords } from '../../../mail/policy/words/part-words.ts';
import { obfuscationWords, textWords } from '../../../mail/policy/words/text-words.ts';
import { HOSTILE_PAGES } from '../hostile-html.ts';
import { sampleWith } from '../sample.ts';
import { caught, consume, type CostGroup, type CostRow, costs, driven, octets } from './row.ts';

const NOW = Date.UTC(2026, 10, 21);
const here = { hostname: 'mx.example', now: NOW };
const familiar = { own: ['mybakery.example'], written: ['oldfriends.example'] };

/** Takes a message apart for the checks, and asks all of them. */
async function filtered(text: string): Promise<number> {
  const bytes = octets(text);
  const { headerLength, parts } = indexMessage(bytes);
  const read = (start: number, length: number): Buffer => bytes.subarray(start, start + length);
  const peer = { ip: '192.0.2.1', helo: 'x.example', name: '' };
  const authentication = await authenticateMail(
    { chunks: async function* () {}, ip: peer.ip, helo: peer.helo, sender: '' },
    { resolver: null, now: NOW },
  );
  const sample = await buildSample({ read, headerLength, parts }, { peer, sender: 'a@b.example' }, authentication);
  return [...checkContent(sample, here), ...checkClient(sample, here), ...checkForRecipient(sample, familiar)].length;
}

/** Asks all checks about a text that stands in every place. */
function everywhere(text: string): unknown {
  const names = ['from', 'reply-to', 'date', 'received', 'received', 'precedence', 'list-id'];
  const contents = { names: [text], locked: true, macros: true };
  const sample = sampleWith({
    subject: text,
    sender: text,
    author: `${text}@${text}`,
    text,
    html: text,
    peer: { ip: '192.0.2.7', helo: text, name: text },
    fields: names.map((name) => ({ name, value: text, start: 0, end: 0 })),
    links: [{ url: text, text }],
    parts: [{ type: text, name: text, size: 1, head: octets(text), contents }],
  });
  return [checkContent(sample, here), checkClient(sample, here), checkForRecipient(sample, familiar)];
}

/** Scans a file in pieces, as it arrives. */
function scanned(file: Buffer): unknown {
  const scan = new ContainerScan();
  for (let at = 0; at < file.length; at += 65_536) scan.push(file.subarray(at, at + 65_536));
  return scan.end();
}

const page = (css: string, body: string): string => `<style>${css}</style>${body}`;
const block = `{${Array.from({ length: 380 }, (_, i) => `${i.toString(36)}:1`).join(';')}}`;
/** Style sheets and elements that select each other, of about so many octets. */
const STYLED: readonly ((size: number) => string)[] = [
  (size) => page(`a${' '.repeat(size)}b{x:y}`, '<a>'),
  (size) => page(`${'.a'.repeat(size / 4)}{x:y}`, '<a class=a>'.repeat(size / 22)),
  (size) =>
    page(
      `${'.a'.repeat(50)}.b i{x:y}`.repeat(size / 220),
      '<a class=a><b class=a>'.repeat(20) + '<i>'.repeat(size / 6),
    ),
  (size) => page('@media{'.repeat(size / 14) + 'a{}'.repeat(size / 6), '<a>'),
  (size) => page(`a${block}`.repeat(size / 2 / block.length), '<a>'.repeat(size / 6)),
  (size) => page('[x~="b"]{a:b}'.repeat(size / 26), `<a x="${'a '.repeat(4090)}">`.repeat(size / 16_400)),
  (size) => page('.a .a .b{color:red}'.repeat(size / 20), '<p class="a b">'.repeat(200)),
];
const PAGES = HOSTILE_PAGES.map(([, make]) => make);

const filter: CostGroup = {
  at: 'mail/policy',
  input: 'HTML and text of a message',
  bound: '256 Ki characters, style sheets of 256 KiB and 3,000 rules',
  thread: 'filter',
  most: 256 * 1024,
};

const MARKUP = costs(filter, {
  tagsOf: (text) => consume(tagsOf(text)),
  'tagsOf: in a tag': (text) => consume(tagsOf(`<a href=${text}`)),
  walkHtml: driven((text) => consume(walkHtml(text)), { made: [...STYLED, ...PAGES] }),
  'walkHtml: style sheet': (text) => consume(walkHtml(`<style>a ${text}{b:c}`)),
  countVisibleText: driven(countVisibleText, { at: 'mail/policy/checks', made: STYLED }),
  readStyleSheets: driven((text) => readStyleSheets(`<style>${text}</style>`), { at: 'mail/policy/style' }),
  readSelector: driven(readSelector, { at: 'mail/policy/style', bound: '50 compounds' }),
  parseDeclarations: driven(parseDeclarations, { at: 'mail/policy/style' }),
  findOutside: driven((text) => findOutside(text, 0, '{;'), { at: 'mail/policy/style' }),
  isForScreen: driven(isForScreen, { at: 'mail/policy/style' }),
  readColor: driven(readColor, { at: 'mail/policy/style' }),
  isValidValue: driven((text) => isValidValue('color', text), { at: 'mail/policy/style' }),
  htmlLinks,
  textLinks,
  linksOf: (text) => linksOf(text, text),
  'linksOf: addresses': (text) => linksOf('', `http://${text}`),
  htmlWords: driven((text) => consume(htmlWords(text, text)), { at: 'mail/policy/words', bound: '128 KiB of HTML' }),
  textWords: driven((text) => consume(textWords(text, 'a')), { at: 'mail/policy/words', bound: '32 Ki characters' }),
  obfuscationWords: driven((text) => consume(obfuscationWords(text)), {
    at: 'mail/policy/words',
    bound: '32 Ki characters',
  }),
  countLetters,
});

const NAMES = costs(
  { ...filter, input: 'host, address or name of a message', bound: 'names of 253 characters, addresses of 2,048' },
  {
    sanitizeWord: driven(sanitizeWord, { bound: '80 characters' }),
    isFreeMailProvider,
    findLookAlike: driven((text) => findLookAlike(text, [text, `x${text}`]), { at: 'mail/policy/look-alike' }),
    readName: driven(readName, { at: 'mail/policy/look-alike' }),
    skeleton: driven(skeleton, { at: 'mail/policy/look-alike' }),
    toUnicodeHost: driven(toUnicodeHost, { at: 'mail/policy/look-alike' }),
    mixesScripts: driven(mixesScripts, { at: 'mail/policy/look-alike' }),
    editDistance: driven((text) => editDistance(text, `a${text}`, 2), { at: 'mail/policy/look-alike' }),
    registrableDomain,
    mainLabel,
    hasSameOwner: (text) => hasSameOwner(text, `a.${text}`),
    domainOf,
    networkPattern,
    namePattern,
    parseWebUrl: driven(parseWebUrl, { at: 'mail/policy/checks' }),
    linkHost: driven(linkHost, { at: 'mail/policy/checks' }),
    findLinkOddity: driven(findLinkOddity, { at: 'mail/policy/checks' }),
    tripletHash: (text) => tripletHash(text, `${text}@${text}`, text),
    senderKeys: (text) => senderKeys({ ...sampleWith({}), author: `${text}@${text}` }),
  },
);

const FILES = costs(
  { ...filter, input: 'file of a message', bound: '48 MiB, 200 entries, 100 parts', most: 1024 * 1024 },
  {
    zipDirectory: driven((text) => zipDirectory(octets(`${text}PK\x05\x06${text.slice(0, 18)}`)), {
      at: 'mail/message/archive',
    }),
    nextZipFile: driven((text) => nextZipFile(octets(`PK\x03\x04${text}`), 0), { at: 'mail/message/archive' }),
    tarFiles: driven((text) => consume(tarFiles(octets(text))), { at: 'mail/message/archive' }),
    ContainerScan: driven((text) => scanned(octets(text)), { at: 'mail/policy/container' }),
    classifyProgramName: driven(classifyProgramName, { at: 'mail/policy/container', bound: '300 characters' }),
    isSourceFile: driven(isSourceFile, { at: 'mail/policy/container', bound: '300 characters' }),
    detectProgram: driven((text) => detectProgram(octets(text)), { at: 'mail/policy/container' }),
  },
);

const CHECKS = costs(
  { ...filter, input: 'message', bound: '1 MiB of texts, 100 parts', most: 1024 * 1024 },
  {
    buildSample: filtered,
    'buildSample: header values': driven((text) => filtered(`From: ${text}\r\nReply-To: ${text}\r\nSubject: ${text}`), {
      most: 100_000,
    }),
    'buildSample: text': (text) => filtered(`Content-Type: text/plain\r\n\r\n${text}`),
    'buildSample: HTML': (text) => filtered(`Content-Type: text/html\r\n\r\n<a href="http://a.b">${text}`),
    'buildSample: file': (text) => filtered(`Content-Type: a/b; name=a.zip\r\n\r\nPK\x03\x04${text}`),
    checkContent: driven(everywhere, { at: 'mail/policy/checks', most: 600_000 }),
    rspamdFindings: driven((text) => caught(() => rspamdFindings(text)), {
      at: 'mail/filter/scanners',
      input: 'answer of Rspamd',
      bound: '256 KiB',
      most: 256 * 1024,
    }),
    clamavFindings: driven((text) => caught(() => clamavFindings(text)), {
      at: 'mail/filter/scanners',
      input: 'answer of ClamAV',
      bound: "operator's own scanner",
    }),
  },
);

/** Functions of the filter: HTML, styles, links, names, archives and the checks. */
export const FILTER_COSTS: readonly CostRow[] = [...MARKUP, ...NAMES, ...FILES, ...CHECKS];
