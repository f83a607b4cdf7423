import { expect, test } from 'vitest';
import { readChain } from '../../../mail/auth/arc-chain.ts';
import { readAuthor } from '../../../mail/auth/author.ts';
import { isDmarc, readDmarc } from '../../../mail/auth/dmarc-record.ts';
import { readPublicKey } from '../../../mail/auth/dkim-public-key.ts';
import { readSignature } from '../../../mail/auth/dkim-signature.ts';
import { readResults } from '../../../mail/auth/results-reader.ts';
import { isSpf, readSpf } from '../../../mail/auth/spf-record.ts';
import { base64Value, readTags } from '../../../mail/auth/tag-list.ts';
import { readFields } from '../../../mail/message/header.ts';

/** Row E12: what peers write is read in linear time, up to a megabyte. */
const PARSERS: Record<string, (text: string) => unknown> = {
  tags: readTags,
  base64: base64Value,
  signature: (text) => readSignature(text, 0),
  'signature with much in one tag': (text) =>
    readSignature(`v=1; a=rsa-sha256; d=x.test; s=s; b=AA==; bh=AA==; h=from:${text}`, 0),
  key: (text) => readPublicKey(`p=${text}`, 'rsa-sha256'),
  chain: (text) => readChain([{ name: 'arc-seal', value: text, start: 0, end: 1 }]),
  spf: (text) => (isSpf(`v=spf1 ${text}`) ? readSpf(`v=spf1 ${text}`) : undefined),
  'spf in one term': (text) => readSpf(`v=spf1 a:${text.replaceAll(' ', '')}x.test`),
  dmarc: (text) => (isDmarc(`v=DMARC1;${text}`) ? readDmarc(`v=DMARC1;${text}`) : undefined),
  'dmarc without a version': (text) => isDmarc(`v${text}`),
  results: readResults,
  'results with a server': (text) => readResults(`x;${text}`),
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

/** The best of some runs, ms of this thread: what a busy machine adds is not the parser's. */
function best(run: () => unknown, runs = 3): number {
  let least = Infinity;
  for (let i = 0; i < runs; i += 1) {
    const start = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** The clock of a thread goes in steps of so many ms. */
const TICK = 4;
const TRIES = 8;

test.each(Object.entries(PARSERS))(
  '%s',
  (_name, parse) => {
    for (const piece of PIECES) {
      const [short, long] = [100_000, 1_000_000].map((length) => piece.repeat(length / piece.length));
      const isLinear = (): boolean => {
        const took = best(() => parse(long ?? ''));
        return (
          took < 1000 &&
          took <=
            15 *
              Math.max(
                best(() => parse(short ?? '')),
                TICK,
              )
        );
      };
      expect([piece, Array.from({ length: TRIES }).some(isLinear)]).toEqual([piece, true]);
    }
  },
  60_000,
);
