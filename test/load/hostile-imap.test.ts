import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { LoadTenant } from '../support/hostile-tenant.ts';

const SESSIONS = 1000;
const FOLDERS = 300;
const HELD_MS = 15_000;
/** Sessions that are opened at once. */
const AT_ONCE = 50;
const MAX_MB = 200;

const repeated = (count: number, command: string): string[] => Array.from({ length: count }, () => command);
const set = Array.from({ length: 2_000 }, (_, n) => `${n + 1}:*`).join(',');

/** Commands of one session, which reads nothing of the answers. Each kind is that of a tenth of the sessions. */
const KINDS: readonly (readonly string[])[] = [
  ['SELECT INBOX', ...repeated(10, 'FETCH 1:* (BODY.PEEK[])')],
  ['SELECT INBOX', ...repeated(10, 'FETCH 1:* (ENVELOPE BODYSTRUCTURE PREVIEW)')],
  repeated(10, 'LIST "" * RETURN (STATUS (MESSAGES UNSEEN SIZE UIDNEXT))'),
  ['COMPRESS DEFLATE'],
  ['SELECT INBOX', ...repeated(5, 'SORT RETURN (ALL) (REVERSE SUBJECT DATE) UTF-8 ALL'), 'THREAD REFERENCES UTF-8 ALL'],
  ['SELECT INBOX', ...repeated(5, 'UID SEARCH RETURN (SAVE) BODY absent'), `FETCH ${set} FLAGS`],
  ['NOTIFY SET STATUS (personal (MessageNew (UID BODY.PEEK[]) MessageExpunge FlagChange))', 'IDLE'],
  ['ENABLE QRESYNC', 'SELECT INBOX (QRESYNC (1 1))', `FETCH ${set} (FLAGS BODY.PEEK[1])`],
  // A message that is announced and never sent, and a list without an end.
  ['APPEND INBOX {20000000+}'],
  [`SEARCH ${'OR ('.repeat(1_000)}`],
];

// At most 20 of them are admitted at a time: each further one closes the longest idle, or is refused.
test(`${SESSIONS} sessions of one account that ask for the most and read nothing cost less than ${MAX_MB} MB`, async () => {
  const settings = { ...UNDER_LOAD, MEMORY: '1024' };
  await using box = await startBox({ settings });
  const tenant = await LoadTenant.create(box, 'hostile');
  await tenant.fill(FOLDERS);
  // A round before it: what the threads and the buffers of the first sessions take belongs to the start.
  const warm = await openMany(tenant, 50);
  await delay(3_000);
  close(warm);
  const before = await residentOctets(box.pid);
  const sessions = await openMany(tenant, SESSIONS);
  let most = 0;
  for (let waited = 0; waited < HELD_MS; waited += 250) {
    most = Math.max(most, await residentOctets(box.pid));
    await delay(250);
  }
  const imap = await tenant.imap();
  const began = performance.now();
  await imap.command('SELECT INBOX');
  const waited = performance.now() - began;
  imap[Symbol.dispose]();
  close(sessions);
  const more = (most - before) / 1e6;
  console.log(`${SESSIONS} sessions: ${more.toFixed(0)} MB more; SELECT beside them ${waited.toFixed(0)} ms`);
  expect(sessions).toHaveLength(SESSIONS);
  expect(more).toBeLessThan(MAX_MB);
});

async function openMany(tenant: LoadTenant, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) =>
      tenant.unreadImap(KINDS[(from + n) % KINDS.length] ?? []),
    );
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

function close(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}
