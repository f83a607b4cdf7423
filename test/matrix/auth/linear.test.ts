import { expect, test } from 'vitest';
import { readArcChain } from '../../../mail/auth/arc-chain.ts';
import { readAuthor } from '../../../mail/auth/author.ts';
import { isDmarc, readDmarc } from '../../../mail/auth/dmarc-record.ts';
import { readPublicKey } from '../../../mail/auth/dkim-public-key.ts';
import { readSignature } from '../../../mail/auth/dkim-signature.ts';
import { readAuthenticationResults } from '../../../mail/auth/results-reader.ts';
import { isSpf, readSpf } from '../../../mail/auth/spf-record.ts';
import { base64Value, readTags } from '../../../mail/auth/tag-list.ts';
import { readFields } from '../../../mail/message/header.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

/** Row E12: what peers write is read in linear time, up to a megabyte. */
const PARSERS: Record<string, (text: string) => unknown> = {
  tags: readTags,
  base64: base64Value,
  signature: (text) => readSignature(text, 0),
  'signature with much in one tag': (text) =>
    readSignature(`v=1; a=rsa-sha256; d=x.test; s=s; b=AA==; bh=AA==; h=from:${text}`, 0),
  key: (text) => readPublicKey(`p=${text}`, 'rsa-sha256'),
  chain: (text) => readArcChain([{ name: 'arc-seal', value: text, start: 0, end: 1 }]),
  spf: (text) => (isSpf(`v=spf1 ${text}`) ? readSpf(`v=spf1 ${text}`) : undefined),
  'spf in one term': (text) => readSpf(`v=spf1 a:${text.replaceAll(' ', '')}x.test`),
  dmarc: (text) => (isDmarc(`v=DMARC1;${text}`) ? readDmarc(`v=DMARC1;${text}`) : undefined),
  'dmarc without a version': (text) => isDmarc(`v${text}`),
  results: readAuthenticationResults,
  'results with a server': (text) => readAuthenticationResults(`x;${text}`),
  author: (text) => {
    const header = `From: ${text}\r\n`;
    return readAuthor(readFields(header), header);
  },
};

const PIECES = [
  '(',
  ')',
  '"',
  '\\',
  ' ',
  '<',
  '@',
  '=?',
  ';',
  ',',
  'a',
  '=',
  'a=b;',
  '%',
  '%{',
  '%{i}',
  '1',
  '.',
  '/',
  ':',
  '\t',
  '\r\n ',
  ' a',
  '"\\',
  '(\\',
  'x=',
  '1/',
];

test.each(Object.entries(PARSERS))(
  '%s: the work grows with the input, not with its square',
  { timeout: 60_000 },
  async (_name, parse) => {
    for (const piece of PIECES) {
      const read = (size: number): unknown => parse(piece.repeat(size / piece.length));
      expect(await growth(read, 1_000_000), JSON.stringify(piece)).toBeLessThan(PROPORTIONAL);
    }
  },
);
