import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { UNDER_LOAD } from '../support/faults.ts';
import { jmapRequest, LoadTenant } from '../support/hostile-tenant.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { memoryCgroup } from '../support/memory-cgroup.ts';
import { Person, waitsText } from '../support/person.ts';

const FOLDERS = 1500;
const TENANTS = 3;
/** Tokens of each: what is limited by credential is not limited by tenant. */
const TOKENS = 20;
/** Time that all sessions are held, ms; they are renewed when the box ends them. */
const HELD_MS = 20_000;
const MESSAGES = 200;

type Attack = (tenant: LoadTenant) => Promise<Socket>;

const LIST_ALL = `LIST "" * RETURN (STATUS (${'UIDVALIDITY MESSAGES UNSEEN UIDNEXT SIZE '.repeat(20).trim()}))`;
const SEARCH_ALL = `UID SEARCH ${Array.from({ length: 50 }, (_, i) => `BODY absent${i}`).join(' ')}`;
const WHOLE = { properties: ['id', 'bodyValues', 'bodyStructure'], fetchAllBodyValues: true };
/** Answers of many MB, and a search that marks one word again and again. */
const emails = ({ mailbox: { account: accountId } }: LoadTenant): unknown[] => [
  ['Email/query', { accountId }, 'q'],
  ['Email/get', { accountId, '#ids': { resultOf: 'q', name: 'Email/query', path: '/ids' }, ...WHOLE }, 'g'],
];
const snippets = ({ mailbox: { account: accountId } }: LoadTenant): unknown[] => [
  ['Email/query', { accountId }, 'q'],
  [
    'SearchSnippet/get',
    {
      accountId,
      '#emailIds': { resultOf: 'q', name: 'Email/query', path: '/ids' },
      filter: { text: 'word '.repeat(200) },
    },
    's',
  ],
];
const dryRun = ({ mailbox: { address } }: LoadTenant): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'send_email',
      arguments: { from: address, to: 'x@else.test', subject: 's', text: '\u2039'.repeat(250_000), dryRun: true },
    },
  });

/** Sessions of each kind, of all tenants together: 300. */
const ATTACKS: readonly [count: number, attack: Attack][] = [
  [60, (one) => one.unreadImap(['SELECT INBOX', ...Array.from({ length: 20 }, () => 'FETCH 1:* (BODY.PEEK[])')])],
  [36, (one) => one.unreadImap(Array.from({ length: 10 }, () => LIST_ALL))],
  [18, (one) => one.unreadImap(['SELECT INBOX', ...Array.from({ length: 5 }, () => SEARCH_ALL)])],
  [48, (one) => one.unreadJmap(emails(one))],
  [18, (one) => one.unreadJmap(snippets(one))],
  [
    30,
    (one) =>
      one.unreadWebSocket(
        Array.from({ length: 4 }, (_, i) => jmapRequest(emails(one), { '@type': 'Request', id: `${i}` })),
      ),
  ],
  [18, (one) => one.unreadHttp('GET /jmap/eventsource?types=*&closeafter=no&ping=1')],
  [18, (one) => one.endlessUpload(4_000_000)],
  [24, (one) => one.unreadHttp('POST /mcp', dryRun(one), 'Accept: application/json, text/event-stream\r\n')],
  [30, (one) => one.endlessMail(250_000)],
];

/** Opens all sessions, and each again that the box ends. */
class Attackers implements Disposable {
  readonly #sockets = new Set<Socket>();
  readonly #tenants: readonly LoadTenant[];
  #over = false;
  opened = 0;

  constructor(tenants: readonly LoadTenant[]) {
    this.#tenants = tenants;
  }

  get open(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    for (const [count, attack] of ATTACKS) {
      const all = Array.from({ length: count }, (_, i) => this.#keep(attack, this.#tenants[i % TENANTS]));
      await Promise.all(all);
    }
  }

  [Symbol.dispose](): void {
    this.#over = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async #keep(attack: Attack, tenant: LoadTenant | undefined): Promise<void> {
    if (tenant === undefined || this.#over) return;
    const socket = await attack(tenant);
    this.opened++;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      setTimeout(() => void this.#keep(attack, tenant), 500).unref();
    });
  }
}

/** Peak of the resident memory of a process, MB. */
async function peakMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

/** Sends numbered mail to a person while the attack goes on. */
async function deliver(box: Box, to: string, ledger: Ledger): Promise<void> {
  const queue = numberedMany('kept', MESSAGES, 17);
  const late = performance.now() + HELD_MS;
  while (queue.length > 0 && performance.now() < late) {
    await load({ port: box.port('smtp'), queue, ledger, clients: 1, to });
  }
}

test.each([1024, 2048])('%i MB: 300 sessions ask for the most and read nothing', async (memoryMb) => {
  await using cgroup = await memoryCgroup(memoryMb);
  const settings = { ...UNDER_LOAD, MEMORY: String(memoryMb) };
  await using box = await startBox({ settings, ...(cgroup && { wrapper: cgroup.wrapper }) });
  const person = await LoadTenant.create(box, 'person');
  const names = Array.from({ length: TENANTS }, (_, i) => `hostile${i}`);
  const tenants = await Promise.all(names.map((name) => LoadTenant.create(box, name, TOKENS)));
  for (const tenant of tenants) await tenant.fill(FOLDERS);
  const ledger = new Ledger();
  await load({
    port: box.port('smtp'),
    queue: numberedMany('calm', 5, 3),
    ledger,
    clients: 1,
    to: person.mailbox.address,
  });
  using worker = await Person.start(person);
  using attackers = new Attackers(tenants);
  await attackers.start();
  await Promise.all([delay(HELD_MS), deliver(box, person.mailbox.address, ledger)]);
  const waits = await worker.end();
  const peak = await peakMb(box.pid);
  const { open, opened } = attackers;
  console.log(
    `${memoryMb} MB (${cgroup === undefined ? 'no cgroup: peak of resident memory asserted' : cgroup.name}): peak ` +
      `${Math.round(peak)} MB, ${open} sessions open of ${opened}; the person waits ${waitsText(waits)}; ` +
      `${ledger.acknowledged.size} messages acknowledged`,
  );
  await box.kill();
  attackers[Symbol.dispose]();
  await box.start();
  const imap = await person.imap();
  const there = (await imap.command('SELECT INBOX')).toString('latin1');
  imap[Symbol.dispose]();
  expect(Number(/\* (\d+) EXISTS/.exec(there)?.[1])).toBeGreaterThanOrEqual(ledger.acknowledged.size);
  expect(opened).toBeGreaterThanOrEqual(300);
  expect(waits.failed).toEqual([]);
  expect(peak).toBeLessThan(memoryMb);
  expect(waits.worst).toBeLessThan(1000);
});
