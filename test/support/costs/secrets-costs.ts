import { FileScan } from '../../../mail/agents/secrets/files/file-scan.ts';
import { fileKind } from '../../../mail/agents/secrets/files/kind.ts';
import { pdfStreams, pdfStrings } from '../../../mail/agents/secrets/files/pdf.ts';
import { base32, base58 } from '../../../mail/agents/secrets/base-digits.ts';
import { otherDigits } from '../../../mail/agents/secrets/other-digits.ts';
import { hidesData, lettersOf, normalizeText, printableRuns, signsOf } from '../../../mail/agents/secrets/plain.ts';
import { fragmentsOf, SecretScan } from '../../../mail/agents/secrets/scan.ts';
import { hasBareSecret, SecretFormats } from '../../../mail/agents/secrets/secret-patterns.ts';
import { coreOf, ShownForms } from '../../../mail/agents/secrets/shown-form.ts';
import { viewsOf } from '../../../mail/agents/secrets/views.ts';
import { type CostGroup, type CostRow, costs, driven, octets } from './row.ts';

const forms = new ShownForms(new Uint8Array(32));
const shown = forms.search([
  ...(['password', 'code', 'link'] as const).flatMap((kind) => forms.make(kind, '00aaaa00') ?? []),
  ...['1212', '121212'].flatMap((code) => forms.make('code', code) ?? []),
]);
const sought = { formats: new SecretFormats('mst'), shown };

const secrets: CostGroup = {
  at: 'mail/agents/secrets',
  input: 'outgoing mail of an agent',
  bound: 'message limit; yields every 64 KiB',
  thread: 'main',
};
/** Texts are decoded in stretches of this length. */
const stretch = { bound: '33 KiB at once, 180 passes; 256 KiB of a message', most: 33 * 1024 };

function scannedFile(head: string): (text: string) => Promise<unknown> {
  return (text) => new FileScan(new SecretScan(sought)).look(octets(head + text));
}

async function scannedWords(text: string): Promise<void> {
  const scan = new SecretScan(sought);
  await scan.words(text);
  await scan.end();
}

/** Functions that look for secrets in what agents send. */
export const SECRETS_COSTS: readonly CostRow[] = [
  ...costs(secrets, {
    SecretFormats: (text) => new SecretFormats('mst').in(normalizeText(text), lettersOf(normalizeText(text))),
    ShownForms: (text) => shown.in(normalizeText(text), lettersOf(normalizeText(text))),
    hasBareSecret,
    coreOf: (text) => coreOf('code', text),
    fragmentsOf: driven(fragmentsOf, { bound: '64 Ki characters of a field, 500 fragments' }),
    hidesData,
    normalizeText,
    lettersOf,
    signsOf: (text) => signsOf(octets(text)),
    printableRuns: (text) => printableRuns(octets(text)),
    SecretScan: driven(scannedWords, { bound: '256 KiB decoded; yields every 64 KiB', most: 64 * 1024 }),
  }),
  ...costs(
    { ...secrets, ...stretch },
    {
      viewsOf: (text) => Array.from(viewsOf(text)).length,
      base32,
      base58: driven(base58, { bound: 'words of 160 digits, a work budget' }),
      otherDigits: driven(otherDigits, { bound: 'words of 160 digits, a work budget' }),
    },
  ),
  ...costs(
    {
      ...secrets,
      at: 'mail/agents/secrets/files',
      input: 'file of outgoing mail',
      bound: '16 MiB unpacked, 1,000 files, 3 levels',
    },
    {
      'FileScan: zip': driven(scannedFile('PK\x03\x04'), { most: 50_000 }),
      'FileScan: PDF': driven(scannedFile('%PDF-1.4\n1 0 obj\nstream\n('), { most: 50_000 }),
      'FileScan: base64': driven(scannedFile('UEsDB'), { most: 50_000 }),
      fileKind: (text) => fileKind(octets(text)),
      pdfStreams: (text) => [...pdfStreams(octets(text))].length,
      pdfStrings,
    },
  ),
];
