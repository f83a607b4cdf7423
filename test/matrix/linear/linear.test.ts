import { expect, test } from 'vitest';
import { PARSERS } from '../../support/parsers.ts';
import { PROPORTIONAL } from '../../support/cost.ts';

/** Repeated inputs: opening characters, unmatched ends, and beginnings of constructs. */
const UNITS = [
  '(',
  ')',
  '"',
  '\\',
  ' ',
  '<',
  '>',
  '@',
  '=?',
  '?=',
  ';',
  ',',
  ':',
  '=',
  '[',
  ']',
  '{',
  '&',
  '*',
  '/',
  '.',
  '-',
  '+',
  '%',
  "'",
  'a',
  '0',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '\r\n ',
  'a\r\n',
  'a:\r\n',
  'DKIM-Signature: v=1; d=a.b; s=c; b=d\r\n',
  'ARC-Seal: i=1; cv=none; d=a.b; s=c; b=d\r\n',
  '\xff',
  '\xff ',
  '[a]',
  '<!--',
  '</',
  '&#',
  '--',
  '\r\n--b\r\n',
  '=?utf-8?Q?a?= ',
  '=?utf-8?B?',
  '[fwd:',
  're:',
  '(fwd)',
  '<a@b',
  "n*0*='",
  ';n=',
  '("\\',
  '<@,(;',
  '=?"\\;',
  ' x',
  '{1}\r\n',
  '\\\\"',
  '{"a":[',
  '%0d',
  '5.1.1 ',
  '\x1b$B',
  '12, ',
];
/** Behind a run of anything: with it a pattern that wants an end has to try all over. */
const TAILS = ['', '\r\x01!'];
const MEGABYTE = 1_000_000;
/** ms. What takes less is noise. */
const FLOOR = 30;

async function cpu(parse: (text: string) => unknown, text: string): Promise<number> {
  const { user, system } = process.cpuUsage();
  await parse(text);
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1000;
}

/** The least of some more runs, where the first one was above `bound`: others of the machine only add. */
async function least(parse: (text: string) => unknown, text: string, bound: number): Promise<number> {
  let took = await cpu(parse, text);
  for (let n = 0; n < 3 && took > bound; n++) took = Math.min(took, await cpu(parse, text));
  return took;
}

/** A megabyte is tried only where a tenth of it says that the square could be felt. */
const FELT = 5;

// Ten times the input: the square would take a hundred times the work.
test.each(PARSERS)(
  '$name: the work grows with the input, not with its square',
  { timeout: 60_000 },
  async ({ parse, most = MEGABYTE }) => {
    for (const unit of UNITS) {
      for (const tail of TAILS) {
        let before = 0;
        for (const size of [most / 1000, most / 100, most / 10, most]) {
          if (size === most && before < FELT) break;
          const text = unit.repeat(Math.ceil(size / unit.length)) + tail;
          const bound = PROPORTIONAL * Math.max(before, FLOOR);
          const took = await least(parse, text, bound);
          expect(took, `${JSON.stringify(unit)} up to ${size}, before ${before} ms`).toBeLessThan(bound);
          before = took;
        }
      }
    }
  },
);
