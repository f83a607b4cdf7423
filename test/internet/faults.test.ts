import { gzipSync } from 'node:zlib';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AT } from '../support/network-namespace.ts';
import { reportMessage } from '../support/reports.ts';
import { DOMAIN_FAULTS, HOST_FAULTS, RESOLVER_FAULTS, type WorldFault } from './dns-fault-rows.ts';
import { ZONE } from './faulty-dns.ts';
import { type FaultyWorld, faultyWorld, taken, USER } from './faulty-world.ts';
import { CERTIFICATE_FAULTS, MACHINE_FAULTS_OUTSIDE, PROVIDER_FAULTS } from './server-fault-rows.ts';

const FAULTS: WorldFault[] = [
  ...RESOLVER_FAULTS,
  ...HOST_FAULTS,
  ...DOMAIN_FAULTS,
  ...CERTIFICATE_FAULTS,
  ...PROVIDER_FAULTS,
  ...MACHINE_FAULTS_OUTSIDE,
];
const PROVIDER = `${ZONE}: dns provider`;
/** Longest wait for a fault or its end, ms. */
const timeout = 30_000;

let world: FaultyWorld;
const stack = new AsyncDisposableStack();
const crashes: unknown[] = [];
const noteCrash = (error: unknown): void => void crashes.push(error);

beforeAll(async () => {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, noteCrash);
  world = stack.use(await faultyWorld());
});
afterAll(() => stack.disposeAsync());

test('a server of which everything is right has no findings', async () => {
  await expect.poll(() => world.findings()).toEqual([]);
  expect(await world.receives()).toBe(true);
});

/** Reports that are larger than anybody sends, small on the wire. */
const row = `<record><row><source_ip>203.0.113.9</source_ip><count>1</count></row></record>\n`;
const BOMBS = {
  '100 MB': gzipSync(Buffer.alloc(100_000_000, ' '), { level: 1 }),
  '1,000,000 rows': gzipSync(Buffer.from(`<?xml version="1.0"?><feedback>${row.repeat(1_000_000)}</feedback>`), {
    level: 1,
  }),
};

test.each(Object.entries(BOMBS))('a DMARC report of %s is accepted', async (name, octets) => {
  const transport = createTransport({
    host: AT.box,
    port: 25,
    localAddress: AT.dane,
    name: 'mx.far.test',
    ignoreTLS: true,
  });
  const raw = reportMessage({ type: 'application/gzip', name: `${name}.xml.gz`, octets }, ZONE, octets.length);
  const envelope = { from: 'reporter@far.test', to: `mailstead-reports@${ZONE}` };
  expect((await transport.sendMail({ envelope, raw })).accepted).toHaveLength(1);
  transport.close();
});

describe('a running server', () => {
  test.each(FAULTS)('says: $fault; takes mail, and heals', async ({ inject, lines, why, fix, heal, defers }) => {
    try {
      await inject(world);
      const [found, accepted] = await Promise.all([findingsOf(lines), world.receives()]);
      expect(found.map(lineOf).toSorted()).toEqual(lines.toSorted());
      const first = found.find((one) => lineOf(one) === lines[0]);
      expect(first?.why).toMatch(why);
      expect(first?.fix).toMatch(fix);
      expect(accepted).toBe(defers !== true);
    } finally {
      await heal(world);
    }
    // A look at the provider may have come in the middle of a fault.
    if ((await world.findings()).some(({ name }) => name === PROVIDER)) await world.publishes();
    const [, accepted] = await Promise.all([
      expect.poll(() => world.findings(), { timeout }).toEqual([]),
      world.receives(),
    ]);
    expect(accepted).toBe(true);
  });
});

type Finding = Awaited<ReturnType<FaultyWorld['findings']>>[number];
const lineOf = ({ name, status }: Finding): string => `${name} ${status}`;

/** A look at the provider of its own accord may fail in a fault of the DNS: that line counts only where it is expected. */
async function findingsOf(lines: readonly string[]): Promise<Finding[]> {
  const isExpected = lines.some((line) => line.startsWith(PROVIDER));
  return (await world.findings()).filter(({ name }) => isExpected || name !== PROVIDER);
}

test('reports that are too large are named, and nothing of them is kept', async () => {
  const read = () => world.log.flatMap(({ text, fields }) => (text === 'report read' ? [fields['why']] : []));
  await expect.poll(read, { timeout }).toEqual(Object.keys(BOMBS).map(() => 'it is larger than 8 MB when unpacked'));
  expect(await world.ask('get_dmarc_report', { domain: ZONE })).toMatchObject({ messages: 0 });
});

test('every mail that was accepted is there once, and nothing crashed', async () => {
  const { ledger, fatal, far, smarthost } = world;
  expect(ledger.refusals.every((reply) => reply.startsWith('452 '))).toBe(true);
  expect(ledger.unanswered).toBe(0);
  const found = await messageIds();
  expect(found.filter((one) => one.startsWith('mail-')).toSorted()).toEqual([...ledger.acknowledged.keys()].toSorted());
  // Mail that waits for hours is reported to its sender.
  const others = new Set(found.filter((one) => !one.startsWith('mail-')));
  expect([...others]).toEqual(['INBOX: Your message is delayed, we keep trying']);
  expect(ledger.acknowledged.size).toBe(2 * FAULTS.length);
  expect([taken(far), taken(smarthost)]).toEqual([2, 1]);
  expect({ fatal, crashes }).toEqual({ fatal: [], crashes: [] });
  console.log(`${FAULTS.length + 2} faults, ${ledger.acknowledged.size} mails accepted, all there once`);
});

/** Ids of the messages in all folders. */
async function messageIds(): Promise<string[]> {
  const auth = { user: USER, pass: world.password };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: AT.box, port: 993, secure: true, auth, tls, logger: false });
  await client.connect();
  const found: string[] = [];
  for (const { path } of await client.list()) {
    const { exists } = await client.mailboxOpen(path);
    if (exists === 0) continue;
    for await (const { envelope } of client.fetch('1:*', { envelope: true }))
      found.push(/^<(.*)@load\.test>$/.exec(envelope?.messageId ?? '')?.[1] ?? `${path}: ${envelope?.subject ?? ''}`);
  }
  await client.logout();
  return found;
}
