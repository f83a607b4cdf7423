import { afterEach, expect, test, vi } from 'vitest';
import { importReport, type ImportAnswer } from '../../../src/cli/import-report.ts';
import { jsonText, printError, printLine, formatTable } from '../../../src/cli/output.ts';

afterEach(() => vi.restoreAllMocks());

/** Sets the title of a terminal, by ESC and by the one-character form of C1. */
const TITLE = '\u001b]0;owned\u0007 \u009d0;owned\u009c';
const CONTROLS = /[^\P{Cc}\n]/u;

const answer: ImportAnswer = {
  import: {
    importId: 'imp_1',
    state: 'failed',
    imported: 1,
    known: 0,
    skipped: 1,
    bytes: 10,
    total: 2,
    folder: TITLE,
    problem: `The server said: ${TITLE}\nProof: both sides are equal.`,
  },
  untrusted: {
    problems: [{ place: `INBOX${TITLE}`, problem: `bad\n${TITLE}` }],
    moreProblems: 0,
    proof: {
      equal: false,
      folders: [{ source: `a${TITLE}`, folder: 'a', there: 1, here: 0, equal: false }],
      differences: [{ folder: `a\nb${TITLE}`, uid: 1, problem: TITLE }],
      moreDifferences: 0,
    },
  },
};

test('the report of an import obeys no control character of the other server, not even a line break', () => {
  const lines = importReport({ mailbox: 'ada@example.test', ...answer }).split('\n');
  expect(lines.join('')).not.toMatch(CONTROLS);
  expect(lines).toHaveLength(7);
});

test('a line for people and an error keep their line breaks and lose every other control character', () => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  printLine(`one${TITLE}\ntwo\rthree`);
  printError(TITLE, 1);
  const written = [...out.mock.calls, ...errors.mock.calls].map(([text]) => String(text));
  expect(written.join('')).not.toMatch(CONTROLS);
  expect(written[0]).toBe('one ]0;owned   0;owned \ntwo three\n');
});

test('JSON for a terminal has no control character, and is the same value', () => {
  const value = { subject: TITLE, list: ['\u0085', '\u007f'] };
  const text = jsonText(value, 2);
  expect(text).not.toMatch(CONTROLS);
  expect(JSON.parse(text)).toEqual(value);
});

test('a cell of a table stays on its line', () => {
  expect(formatTable(['name'], [['a\nb\u001b[2J']])).toBe('name\na b [2J');
});
