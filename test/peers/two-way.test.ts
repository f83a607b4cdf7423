import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { flow } from './flow.ts';
import { Maildir } from './maildir.ts';
import { mbsyncConfiguration } from './mbsync.ts';
import { numberedMail, numbersOnServer } from './numbered-mail.ts';
import { type OfflineImap, offlineImap } from './offlineimap.ts';
import { succeed } from './run.ts';

const MANY = 5_000;
/** Messages after which a program is killed. */
const MIDDLE = 1_500;
const FLAGS = ['', 'S', 'RS', 'F'];

interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

let box: Box;
let mbsync: Program & { inbox: Maildir };
let offline: OfflineImap;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  box = cleanup.use(await startBox());
  mbsync = await mbsyncProgram();
  offline = cleanup.use(await offlineImap(box));
});
afterAll(() => cleanup.disposeAsync());

async function mbsyncProgram(): Promise<typeof mbsync> {
  const home = cleanup.use(await mkdtempDisposable(join(tmpdir(), 'two-way-')));
  const inbox = new Maildir(join(home.path, 'mail', 'INBOX'));
  await mkdir(join(home.path, 'mail'));
  await inbox.create();
  const config = join(home.path, 'mbsyncrc');
  await writeFile(config, mbsyncConfiguration(box, home.path), { mode: 0o600 });
  return { inbox, program: '/usr/bin/mbsync', args: ['-c', config, 'all'], env: { ...box.env, HOME: home.path } };
}

const sync = ({ program, args, env }: Program): Promise<string> => succeed(program, args, { env, patienceMs: 200_000 });

/** Starts a program and kills it when enough is done; it must not have ended before. */
async function killInTheMiddle({ program, args, env }: Program, done: () => Promise<number>): Promise<void> {
  const child = spawn(program, args, { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  // Both programs log nothing that would tell how far they are.
  while ((await done()) < MIDDLE && child.exitCode === null) await delay(200);
  expect(child.exitCode, `${program} ended before it could be killed`).toBeNull();
  child.kill('SIGKILL');
  await ended;
  await serverIsDone();
}

/**
 * Waits until the server has run what the killed program had sent ahead: commands in the socket are run to the end. A program
 * that starts again before that finds less than it will have uploaded, at any server.
 */
async function serverIsDone(): Promise<void> {
  for (let [before, now] = [-1, await countOnServer()]; before !== now; [before, now] = [now, await countOnServer()]) {
    await delay(1_000);
  }
}

async function countOnServer(): Promise<number> {
  await using client = await flow(box);
  const status = await client.status('INBOX', { messages: true });
  return status === false ? 0 : (status.messages ?? 0);
}

const all = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);
const sorted = (numbers: Iterable<number>): number[] => [...numbers].toSorted((a, b) => a - b);

test('5,000 messages are uploaded by an mbsync that was killed in the middle: none is lost, none is doubled', async () => {
  for (const number of all(0, MANY)) await mbsync.inbox.add(numberedMail(number, box.address), FLAGS[number % 4]);
  await killInTheMiddle(mbsync, countOnServer);
  await sync(mbsync);
  const server = await numbersOnServer(box);
  expect(server.messages).toBe(MANY);
  expect(sorted(server.flags.keys())).toEqual(all(0, MANY));
  expect(server.flags).toEqual((await mbsync.inbox.numbered()).flags);
});

test('they are copied by an OfflineIMAP that was killed in the middle: none is lost, none is doubled', async () => {
  await killInTheMiddle(offline, async () => (await offline.inbox.files()).length);
  await sync(offline);
  const copy = await offline.inbox.numbered();
  expect(copy.messages).toBe(MANY);
  expect(copy.flags).toEqual((await numbersOnServer(box)).flags);
});

test('both at once, with changes of both: all three places have the same messages with the same flags', async () => {
  const [first, second] = [await mbsync.inbox.numbered(), await offline.inbox.numbered()];
  for (const number of all(0, 50)) {
    await mbsync.inbox.flag(first.paths.get(number) ?? '', 'FRS');
    await mbsync.inbox.remove(first.paths.get(number + 100) ?? '');
    await mbsync.inbox.add(numberedMail(MANY + number, box.address), 'S');
    await offline.inbox.flag(second.paths.get(number + 200) ?? '', 'FRS');
    await offline.inbox.remove(second.paths.get(number + 300) ?? '');
    await offline.inbox.add(numberedMail(MANY + 100 + number, box.address), 'S');
  }
  // Each round brings what the other one sent in the round before.
  for (let round = 0; round < 3; round += 1) await Promise.all([sync(mbsync), sync(offline)]);

  const expected = [
    ...all(0, MANY).filter((n) => !(n >= 100 && n < 150) && !(n >= 300 && n < 350)),
    ...all(MANY, MANY + 50),
    ...all(MANY + 100, MANY + 150),
  ];
  const server = await numbersOnServer(box);
  expect(server.messages).toBe(expected.length);
  expect(sorted(server.flags.keys())).toEqual(expected);
  for (const number of all(0, 50)) {
    expect([server.flags.get(number), server.flags.get(number + 200)]).toEqual(['FRS', 'FRS']);
  }
  for (const { inbox } of [mbsync, offline]) {
    const copy = await inbox.numbered();
    expect(copy.messages).toBe(expected.length);
    expect(copy.flags).toEqual(server.flags);
  }
});
