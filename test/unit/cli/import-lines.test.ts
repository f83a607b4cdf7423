import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { importImap } from '../../../src/cli/import-programs.ts';
import { socketPath } from '../../../src/operator-socket/client.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'import-lines-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

/**
 * Answers as the server: it knows the mailboxes of good.test, of which one has a wrong password. Those whose names begin with
 * "waits" wait until an import of last@good.test has ended.
 */
async function fakeServer(): Promise<AsyncDisposable> {
  let isLastDone = false;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk));
    request.on('end', () => {
      const { address, importId } = JSON.parse(text) as { address: string; importId?: string };
      const isWrong = address.startsWith('wrong');
      const job = {
        importId: importId ?? 'imp_1',
        imported: 3,
        known: 0,
        skipped: 0,
        bytes: 9,
        total: 3,
        folder: null,
      };
      const ended = { ...job, state: isWrong ? 'failed' : 'done', problem: isWrong ? 'refused the login' : null };
      if (address.startsWith('last')) isLastDone = true;
      if (address.startsWith('waits') && !isLastDone) {
        const problem = 'It waits, and goes on by itself: imap.test cannot be used now.';
        Object.assign(ended, { state: 'running', problem, nextAttemptAt: '2030-01-01T00:00:00.000Z' });
      }
      const answer = address.endsWith('@good.test')
        ? { result: { import: ended, untrusted: { problems: [], moreProblems: 0 } } }
        : { error: { code: 'not_found', message: `There is no mailbox ${address}. Create it first.` } };
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath(directory), resolve));
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) };
}

async function importCsv(lines: readonly string[], json: boolean): Promise<{ code: number; out: string; err: string }> {
  const csv = join(directory, 'accounts.csv');
  await writeFile(csv, lines.join('\n'));
  let out = '';
  let err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
  const options = { 'from-host': 'imap.test', csv, json };
  const start = { args: [], argv: [], options, env: {}, token: undefined, settings: () => undefined };
  const code = await importImap.run({ ...start, dataDir: () => directory, serve: () => Promise.resolve() });
  return { code, out, err };
}

const LINES = [
  'user,password,address',
  'a,secret-a,a@good.test',
  'b,secret-b',
  'c,"secret-c,c@good.test',
  'd,secret-d,d@nowhere.test',
  'e,secret-e,wrong@good.test',
  'f,secret-f,f@good.test',
];

test('a bad line of the CSV file costs no other line its import or its report', async () => {
  await using _ = await fakeServer();
  const { code, out, err } = await importCsv(LINES, false);
  expect(code).toBe(1);
  expect(err).toBe('');
  const heads = out.split('\n').filter((line) => line.startsWith('line '));
  expect(heads).toEqual([
    'line 2, a@good.test: done. 3 imported (9 B), 0 known before, 0 skipped.',
    'line 3, b: failed. There is no mailbox b. Create it first.',
    'line 4: failed. The line is not "user,password,address". Correct it, then import again.',
    'line 5, d@nowhere.test: failed. There is no mailbox d@nowhere.test. Create it first.',
    'line 6, wrong@good.test: failed. 3 imported (9 B), 0 known before, 0 skipped.',
    'line 7, f@good.test: done. 3 imported (9 B), 0 known before, 0 skipped.',
  ]);
  expect(out).toContain('2 of 6 imports are done, 4 failed');
  expect(out).not.toContain('secret-');
});

test('as JSON each line has its number with a result or an error', async () => {
  await using _ = await fakeServer();
  const { code, out } = await importCsv(LINES, true);
  expect(code).toBe(1);
  const { imports } = JSON.parse(out) as { imports: { line: number; import?: object; error?: { code: string } }[] };
  expect(imports.map(({ line, error }) => [line, error?.code ?? null])).toEqual([
    [2, null],
    [3, 'not_found'],
    [4, 'invalid_line'],
    [5, 'not_found'],
    [6, null],
    [7, null],
  ]);
});

test('a file without one right line is refused, and all right lines end well', async () => {
  await using _ = await fakeServer();
  expect(await importCsv(['only', 'words'], false)).toMatchObject({
    code: 2,
    err: 'mailstead: line 1 of the CSV file is not "user,password,address", and no other line is\n',
  });
  expect(await importCsv(['a,x,a@good.test', 'b,y,b@good.test'], false)).toMatchObject({ code: 0 });
});

test('imports that wait are named once with the reason, and others are started meanwhile', async () => {
  await using _ = await fakeServer();
  const waiting = Array.from({ length: 6 }, (_, n) => `w${n},secret,waits${n}@good.test`);
  const { code, out, err } = await importCsv(['user,password,address', ...waiting, 'z,secret,last@good.test'], false);
  expect(code).toBe(0);
  expect(out).toContain('7 of 7 imports are done.');
  const lines = err.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThanOrEqual(4);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines.find((line) => line.startsWith('waits0'))).toContain(
    'waits0@good.test: It waits, and goes on by itself: imap.test cannot be used now. Next attempt: 2030-01-01T00:00:00.000Z.',
  );
});
