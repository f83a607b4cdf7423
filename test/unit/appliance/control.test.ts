import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { enqueue } from '../../../mail/store/queue/queue.ts';
import { callServer, socketPath } from '../../../src/operator-socket/client.ts';
import { startControlServer } from '../../../src/operator-socket/server.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

/** Queues one message for two recipients; held if a reason is given. */
const queueMail = command('test-queue-mail', (tx, { hold }: { hold: string | null }, stamp) =>
  enqueue(
    tx,
    {
      trace: 'trace-1',
      tenant: 1,
      account: null,
      blob: 1,
      sender: 'me@box.test',
      smtputf8: false,
      eightBit: false,
      ret: '',
      envid: '',
      signAs: [],
      size: 1234,
    },
    ['a', 'b'].map((one) => ({ recipient: `${one}@remote.example`, domain: 'remote.example', notify: '', orcpt: '' })),
    hold,
    stamp,
  ),
);

let box: TestWorld;
let server: AsyncDisposable;
let broken: Error | undefined;

beforeEach(async () => {
  broken = undefined;
  const log = { ...quiet, error: () => void box.events.push('logged') };
  const failing = (): string[] => {
    if (broken !== undefined) throw broken;
    return [];
  };
  box = await testWorld({ log, failing }, [queueMail]);
  server = await startControlServer(box.store.dataDir, box.world);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

const ask = (operation: string, input: object = {}) => callServer(box.store.dataDir, operation, input);
async function done(operation: string, input: object = {}): Promise<Record<string, unknown>> {
  const answer = await ask(operation, input);
  return answer.kind === 'done' ? (answer.result as Record<string, unknown>) : expect.fail(answer.message);
}

test('a domain is added with the records to publish, then a mailbox on it', async () => {
  const domain = await done('add_domain', { domain: 'Example.ORG' });
  expect(domain).toMatchObject({ domain: 'example.org', added: true });
  expect((domain['records'] as { name: string }[]).map((record) => record.name)).toEqual([
    'example.org',
    'example.org',
    'ms1._domainkey.example.org',
    'ms2._domainkey.example.org',
    '_dmarc.example.org',
  ]);
  expect(await done('add_domain', { domain: 'example.org' })).toMatchObject({ added: false });
  const mailbox = await done('add_mailbox', { address: 'anna@example.org' });
  expect(mailbox).toMatchObject({ address: 'anna@example.org', password: expect.stringMatching(/^[\w-]{30}$/) });
  expect(await done('list_box_mailboxes')).toMatchObject({ mailboxes: [{ address: 'anna@example.org', messages: 0 }] });
  expect(await done('list_domains')).toMatchObject({ domains: [{ domain: 'example.org', verified: true }] });
  expect(await done('get_status')).toMatchObject({ mode: 'local', domains: 1, mailboxes: 1, uptimeSeconds: 60 });
});

test('a changed password ends the sessions of the old one', async () => {
  await done('add_domain', { domain: 'box.test' });
  const made = await done('add_mailbox', { address: 'me@box.test', password: 'long enough it is' });
  expect(made['password']).toBe('long enough it is');
  const changed = await done('change_mailbox_password', { address: 'ME@box.test' });
  expect(changed['password']).not.toBe(made['password']);
  expect(box.events).toEqual([`revoked ${Number(made['id'])} 1`]);
});

test.each([
  ['add_domain', { domain: 'no domain' }, 'invalid_arguments', 'not a valid domain name'],
  ['add_domain', {}, 'invalid_arguments', 'domain: '],
  ['add_domain', { domain: 'a.test', verify: 1 }, 'invalid_arguments', 'Unknown argument "verify"'],
  ['add_domain', { domain: 7 }, 'invalid_arguments', 'domain: '],
  ['add_mailbox', { address: 'nobody' }, 'invalid_arguments', 'not a valid mail address'],
  ['add_mailbox', { address: 'me@elsewhere.test' }, 'not_found', 'mailstead domain add'],
  ['add_mailbox', { address: 'me@elsewhere.test', password: 'short' }, 'invalid_arguments', 'at least 12'],
  ['change_mailbox_password', { address: 'me@box.test' }, 'not_found', 'No mailbox me@box.test'],
  ['retry_box_queue', { ids: [9] }, 'not_found', 'waiting to be retried'],
  ['retry_box_queue', { ids: [] }, 'invalid_arguments', 'ids: '],
  ['retry_box_queue', { ids: [1.5] }, 'invalid_arguments', 'ids.0: '],
  ['list_box_queue', { limit: 0 }, 'invalid_arguments', 'limit: '],
  ['trace_box_message', { trace: 'nope' }, 'not_found', 'No message nope in the journal'],
  ['no_such_thing', {}, 'not_found', 'Unknown operation'],
])('%s %j is refused: %s, %s', async (operation, input, code, sentence) => {
  const answer = await ask(operation, input);
  expect(answer).toMatchObject({ kind: 'refused', code, message: expect.stringContaining(sentence) });
});

test('held mail is shown with its reason, and goes when it is released', async () => {
  await box.world.store.write(queueMail, { hold: 'local mode' });
  const { queue } = (await done('list_box_queue')) as { queue: { id: number }[] };
  expect(queue).toMatchObject([{ to: 'a@remote.example', heldBecause: 'local mode', nextAt: null }, {}]);
  expect(await ask('retry_box_queue', { ids: queue.map((row) => row.id) })).toMatchObject({ kind: 'refused' });
  expect(box.events).toEqual([]);
  expect(await done('release_box_queue', { ids: 'all' })).toEqual({ changed: 2, more: false });
  expect(await done('retry_box_queue', { ids: [queue[0]?.id] })).toEqual({ changed: 1, more: false });
  expect(box.events).toEqual(['queue changed', 'queue changed']);
  expect(await done('cancel_box_queue', { ids: 'all' })).toEqual({ changed: 2, more: false });
  expect(await done('list_box_queue')).toEqual({ queue: [] });
});

test("a message's story is reported by its trace id", async () => {
  await box.world.store.write(queueMail, { hold: 'local mode' });
  const story = await done('trace_box_message', { trace: 'trace-1' });
  expect(story).toMatchObject({
    events: [{ event: 'held', detail: { to: 'a@remote.example' } }, { event: 'held' }],
    waiting: [{ to: 'a@remote.example' }, { to: 'b@remote.example' }],
  });
});

test('the socket is for its owner only, replaces one left behind, and goes at the end', async () => {
  const path = socketPath(box.store.dataDir);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await server[Symbol.asyncDispose]();
  expect(readdirSync(box.store.dataDir)).not.toContain('control.sock');
  writeFileSync(path, 'left behind');
  server = await startControlServer(box.store.dataDir, box.world);
  expect(await done('list_domains')).toEqual({ domains: [] });
});

test('files made after the socket have the modes that they had before', () => {
  const path = join(box.store.dataDir, 'after');
  writeFileSync(path, '');
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(process.umask()).not.toBe(0o177);
});

test('without a server the answer says what to do', async () => {
  await server[Symbol.asyncDispose]();
  expect(await ask('get_status')).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('mailstead serve'),
  });
  writeFileSync(socketPath(box.store.dataDir), '');
  expect(await ask('get_status')).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('mailstead serve'),
  });
  rmSync(socketPath(box.store.dataDir));
  server = await startControlServer(box.store.dataDir, box.world);
});

test('a path too long for a socket is said, not cut', async () => {
  const deep = join(mkdtempSync(join(tmpdir(), 'mailstead-')), 'x'.repeat(120));
  mkdirSync(deep);
  await expect(startControlServer(deep, box.world)).rejects.toThrow(/the limit is 107/);
  expect(await callServer(deep, 'get_status', {})).toMatchObject({ kind: 'unreachable' });
});

/** One request as it stands, for what the client never sends. */
function raw(method: string, path: string, body: string): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const queried = request({ socketPath: socketPath(box.store.dataDir), method, path }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    queried.on('error', reject);
    queried.end(body);
  });
}

test.each([
  ['GET', '/get_status', '', 405],
  ['POST', '/get_status', '[]', 400],
  ['POST', '/get_status', '{', 400],
  ['POST', '/get_status', `{"x":"${'x'.repeat(300_000)}"}`, 413],
  ['POST', '/__proto__', '{}', 404],
  ['POST', '/get_status', '', 200],
])('%s %s is answered', async (method, path, body, status) => {
  expect((await raw(method, path, body)).status).toBe(status);
});

test('a failure is logged and answered without its details', async () => {
  broken = new Error('a detail');
  const answer = await ask('get_status');
  expect(answer).toMatchObject({
    kind: 'refused',
    code: 'internal',
    message: expect.stringContaining('Internal error, logged as'),
  });
  expect(box.events).toEqual(['logged']);
});
