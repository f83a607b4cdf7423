import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { killOrphan, writePidFile } from '../../../src/services/left-over.ts';
import { LogFile, readLogFile } from '../../../src/services/log-file.ts';
import { SupervisedProgram } from '../../../src/services/program.ts';
import { sharedNode } from '../../support/shared-node.ts';

let directory: string;
let program: SupervisedProgram | undefined;
let logPath: string;
let pidPath: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'program-'));
  logPath = join(directory, 'svc_1.log');
  pidPath = join(directory, 'svc_1.pid');
});
afterEach(async () => {
  await program?.stop();
  program = undefined;
  await rm(directory, { recursive: true, force: true });
});

const make = (...command: string[]): SupervisedProgram =>
  (program = new SupervisedProgram({
    program: { command, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, cwd: '/' },
    environment: { TINT: 'green' },
    logPath,
    pidPath,
    name: 'test',
    log: quiet,
  }));
const node = (script: string): SupervisedProgram => make(sharedNode(), '-e', script);
const logged = async (): Promise<string[]> =>
  (await readLogFile(logPath, { since: 0, limit: 10_000 })).map((line) => line.text);
const seen = (text: string, timeout = 8_000) =>
  expect.poll(logged, { timeout }).toContainEqual(expect.stringContaining(text));
const pidIn = async (label: string): Promise<number> =>
  Number((await logged()).find((line) => line.startsWith(`${label} `))?.slice(label.length + 1));

/** A zombie counts as ended. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync('/proc/self/stat') || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('its output is its log, line by line with the time; of the box’s own environment it has nothing', async () => {
  process.env['MAILSTEAD_TEST_SECRET'] = 'secret';
  await node(
    'console.log("out", JSON.stringify(Object.keys(process.env).sort())); console.error(`err ${process.env.TINT}`); process.stdout.write("no end"); setInterval(() => {}, 1e3)',
  ).start();
  await seen('err green');
  delete process.env['MAILSTEAD_TEST_SECRET'];
  await seen('out ["HOME","LANG","PATH","TINT","TMPDIR"]');
  await program?.stop();
  expect(await logged()).toContain('no end');
  expect((await stat(logPath)).mode & 0o777).toBe(0o600);
});

test('when it runs, its log says so already: a box that is killed then does not take the line away', async () => {
  for (let round = 0; round < 20; round++) {
    await make('/bin/sleep', '1000').start();
    expect(readFileSync(logPath, 'utf8').match(/started, pid /g)).toHaveLength(round + 1);
    await program?.stop();
  }
});

test('control characters of its output do not reach whoever reads the log', async () => {
  await node(
    String.raw`process.stdout.write("a\u001b[31mb\u009bc\u0000d\u0007\r\ncr\rlf\n"); setInterval(() => {}, 1e3)`,
  ).start();
  await seen('crlf');
  expect(await logged()).toContain('a[31mbcd');
});

test('it is started again when it ends, a second later, then two', async () => {
  const from = performance.now();
  await node('console.log("began"); process.exit(3)').start();
  await expect
    .poll(async () => (await logged()).filter((line) => line === 'began').length, { timeout: 60_000 })
    .toBe(3);
  expect(performance.now() - from).toBeGreaterThan(2_900);
  expect(await logged()).toContain('[mailstead] ended with 3');
  await program?.stop();
  expect(program?.pid).toBeUndefined();
});

test('it cannot be started at all: that is an error, and nothing is tried again', async () => {
  await expect(make(join(directory, 'missing')).start()).rejects.toThrow(/ENOENT/);
  await expect(make(directory).start()).rejects.toThrow(/EACCES/);
  await expect(make('node', '\0').start()).rejects.toThrow(/null bytes/);
  expect(program?.pid).toBeUndefined();
});

test('it ends with the whole of its process group', async () => {
  await make('/bin/sh', '-c', 'sleep 1000 & echo child $!; exec sleep 1000').start();
  await seen('child ');
  const [pid, child] = [program?.pid ?? 0, await pidIn('child')];
  expect([runs(pid), runs(child)]).toEqual([true, true]);
  await program?.stop();
  await expect.poll(() => [runs(pid), runs(child)]).toEqual([false, false]);
});

test('what it leaves behind when it ends by itself ends too, and it is started again', async () => {
  await make('/bin/sh', '-c', 'sleep 1000 & echo child $!').start();
  await seen('child ');
  const child = await pidIn('child');
  await seen('ended with 0');
  await expect.poll(() => runs(child)).toBe(false);
  await expect
    .poll(async () => (await logged()).filter((line) => line.startsWith('child')).length, { timeout: 60_000 })
    .toBe(2);
});

test('a child that ran away and holds the output open keeps nobody waiting', async () => {
  await make('/bin/sh', '-c', 'setsid sleep 1000 & echo child $!; sleep 1000').start();
  await seen('child ');
  const child = await pidIn('child');
  await program?.stop();
  expect(program?.pid).toBeUndefined();
  if (runs(child)) process.kill(child, 'SIGKILL');
});

test('one that does not listen to SIGTERM is killed after ten seconds', async () => {
  await node(
    'process.on("SIGTERM", () => console.log("no")); console.log("ready"); setInterval(() => {}, 1e3)',
  ).start();
  await seen('ready');
  const from = performance.now();
  await program?.stop();
  expect(performance.now() - from).toBeGreaterThan(9_000);
  expect(await logged()).toEqual(expect.arrayContaining(['no', '[mailstead] ended with SIGKILL']));
});

test.each([
  ['lines', 'for (;;) require("fs").writeSync(1, "y\\n".repeat(8000))'],
  ['a line without end', 'for (;;) require("fs").writeSync(1, "y".repeat(16000))'],
])('a flood of %s costs neither memory nor the time of others', async (_, script) => {
  await node(script).start();
  const before = process.memoryUsage().rss;
  let turns = 0;
  const ticks = setInterval(() => turns++, 5);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  clearInterval(ticks);
  // A flood that had the thread to itself would leave others a turn or two.
  expect(turns).toBeGreaterThan(20);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  await program?.stop();
  // While it writes the file may be away for a moment: a large one is begun anew.
  const { size } = await stat(logPath);
  expect(size).toBeLessThan(8_000_000);
});

test('a log that is large is begun anew, and one before it is kept', async () => {
  const file = new LogFile(logPath);
  file.open();
  for (let i = 0; i < 40; i++) {
    file.add(Array.from({ length: 100 }, () => 'x'.repeat(3_900)));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  file.add(['last words']);
  await file.close();
  expect((await stat(`${logPath}.1`)).size).toBeLessThan(7_000_000);
  expect((await stat(logPath)).size).toBeLessThan(7_000_000);
  expect((await logged()).at(-1)).toBe('last words');
});

test('a log that somebody took away is no harm', async () => {
  const file = new LogFile(logPath);
  file.open();
  file.add(['one']);
  await expect.poll(() => logged()).toEqual(['one']);
  await unlink(logPath);
  for (let i = 0; i < 20; i++) {
    file.add(Array.from({ length: 100 }, () => 'x'.repeat(3_900)));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  file.add(['two']);
  await file.close();
  expect((await logged()).at(-1)).toBe('two');
});

test('a log whose directory is gone is no harm either', async () => {
  const file = new LogFile(join(directory, 'missing', 'svc_1.log'));
  file.open();
  file.add(['one']);
  await new Promise((resolve) => setTimeout(resolve, 50));
  file.add(['two']);
  await file.close();
});

test('the log is read from its end, and only what is wanted', async () => {
  const file = new LogFile(logPath);
  file.open();
  file.add(Array.from({ length: 20_000 }, (_, i) => `line ${i} ${'ü'.repeat(20)}`));
  await file.close();
  const lines = await readLogFile(logPath, { since: 0, limit: 3 });
  expect(lines.map((line) => line.text.split(' ')[1])).toEqual(['19997', '19998', '19999']);
  expect(await readLogFile(logPath, { since: Date.now() + 1_000, limit: 3 })).toEqual([]);
  expect((await readFile(logPath, 'utf8')).split('\n')).toHaveLength(20_001);
});

test.runIf(process.platform === 'linux')('what a killed box left running is ended, and nobody else', async () => {
  await make('/bin/sleep', '1000').start();
  const pid = program?.pid ?? 0;
  expect(await killOrphan(join(directory, 'other.pid'))).toBeUndefined();
  const { writeFile } = await import('node:fs/promises');
  for (const text of ['', `${pid}`, `${pid} `, `${pid} boot/1`, '1 boot/1', 'x y', '-1 x']) {
    await writeFile(join(directory, 'forged.pid'), text);
    expect(await killOrphan(join(directory, 'forged.pid')), text).toBeUndefined();
  }
  expect(runs(pid)).toBe(true);
  writePidFile(join(directory, 'true.pid'), pid);
  expect(await killOrphan(join(directory, 'true.pid'))).toBe(pid);
  expect(runs(pid)).toBe(false);
  await seen('ended with SIGKILL');
  expect(await killOrphan(join(directory, 'true.pid'))).toBeUndefined();
});
