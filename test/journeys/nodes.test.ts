import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Box } from '../support/box.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { Ledger, load, numbered, numberedMany } from '../support/load.ts';
import { ME, type Nodes, startNodes } from '../support/nodes.ts';
import { isPostgresInstalled, type PostgresServer, startPostgres } from '../support/postgres.ts';

const SEED = 20_261_128;
const PATIENCE = { timeout: 60_000, interval: 50 };

describe.skipIf(!isPostgresInstalled)('two nodes on one PostgreSQL (postgresql-15 of Debian) and one bucket', () => {
  let server: PostgresServer;
  let nodes: Nodes;
  let first: Box;
  let second: Box;

  const imap = async (box: Box, auth = { user: ME, pass: nodes.password }): Promise<ImapFlow> => {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: box.port('imap'),
      tls: { rejectUnauthorized: false },
      auth,
      logger: false,
    });
    client.on('error', () => undefined);
    await client.connect();
    await client.mailboxOpen('INBOX');
    return client;
  };
  const send = async (box: Box, id: string, octets = 800): Promise<void> => {
    const ledger = new Ledger();
    const queue = [numbered(id, octets, SEED)];
    await load({ port: box.port('smtp'), queue, ledger, clients: 1, to: ME });
    expect(ledger.acknowledged.size, ledger.refusals.join()).toBe(1);
  };

  beforeAll(async () => {
    server = startPostgres();
    nodes = await startNodes({ databases: [server.url, server.url] });
    [first, second] = nodes.boxes as [Box, Box];
  }, 300_000);
  afterAll(async () => {
    await nodes[Symbol.asyncDispose]();
    server[Symbol.dispose]();
  });

  test('mail that one node takes is reported by IDLE and by JMAP on the other, large messages too', async () => {
    const client = await imap(second);
    const counts: number[] = [];
    client.on('exists', ({ count }: { count: number }) => counts.push(count));
    void client.idle();
    await send(first, 'small');
    await vi.waitFor(() => expect(counts.at(-1)).toBe(1), PATIENCE);
    await send(first, 'large', 200_000);
    await vi.waitFor(() => expect(counts.at(-1)).toBe(2), PATIENCE);
    const sizes: (number | undefined)[] = [];
    for await (const { source } of client.fetch('1:2', { source: true })) sizes.push(source?.length);
    expect(sizes.filter((size = 0) => size > 200_000)).toHaveLength(1);
    const account = { user: ME, password: nodes.password };
    const jmap = await JmapClient.discover(`http://127.0.0.1:${second.port('http')}`, account);
    expect(((await jmap.call('Email/query', {})) as { ids: string[] }).ids).toHaveLength(2);
    client.close();
  });

  test('a flag that is set on one node is reported on the other', async () => {
    const [here, there] = [await imap(first), await imap(second)];
    const flags: string[][] = [];
    there.on('flags', (update: { flags: Set<string> }) => flags.push([...update.flags]));
    void there.idle();
    await here.messageFlagsAdd('1', ['\\Flagged']);
    await vi.waitFor(() => expect(flags.flat()).toContain('\\Flagged'), PATIENCE);
    for (const client of [here, there]) client.close();
  });

  test('a password that one node changes ends the sessions of the other at once', async () => {
    const address = 'gone@home.example';
    const { password } = (await first.ask('add_mailbox', { address })) as { password: string };
    const session = await imap(second, { user: address, pass: password });
    await first.ask('change_mailbox_password', { address, password: 'another-horse-battery-31' });
    await vi.waitFor(() => expect(session.usable).toBe(false), PATIENCE);
  });

  test('mail that the other node takes leaves by the leader, once, and another node leads when it is killed', async () => {
    await vi.waitFor(async () => expect(await nodes.leader()).toBeDefined(), PATIENCE);
    const leader = (await nodes.leader()) as Box;
    const other = leader === first ? second : first;
    const { createTransport } = await import('nodemailer');
    const submit = async (box: Box, subject: string): Promise<void> => {
      const transport = createTransport({
        host: '127.0.0.1',
        port: box.port('submission'),
        auth: { user: ME, pass: nodes.password },
        tls: { rejectUnauthorized: false },
      });
      await transport.sendMail({ from: ME, to: 'ann@remote.example', subject, text: 'Hello' });
      transport.close();
    };
    const subjects = (): string[] =>
      nodes.remote.mails.map(({ raw }) => /^Subject: (.*)\r$/m.exec(raw.toString('latin1'))?.[1] ?? '');
    await submit(other, 'one');
    await vi.waitFor(() => expect(subjects()).toEqual(['one']), PATIENCE);
    await leader.kill();
    await submit(other, 'two');
    await vi.waitFor(() => expect(subjects()).toEqual(['one', 'two']), PATIENCE);
    expect(await nodes.leader()).toBe(other);
    await leader.start();
    await submit(leader, 'three');
    await vi.waitFor(() => expect(subjects()).toEqual(['one', 'two', 'three']), PATIENCE);
    expect(await nodes.leader()).toBe(other);
  });

  test('both nodes take mail at once: each message is there once, and UIDs are in one order', async () => {
    const ledger = new Ledger();
    const loads = nodes.boxes.map((box, at) =>
      load({ port: box.port('smtp'), queue: numberedMany(`both${at}`, 60, SEED + at), ledger, clients: 3, to: ME }),
    );
    await Promise.all(loads);
    expect(ledger.refusals).toEqual([]);
    const [here, there] = [await imap(first), await imap(second)];
    const list = async (client: ImapFlow): Promise<string[]> => {
      const lines: string[] = [];
      for await (const { uid, envelope } of client.fetch('1:*', { uid: true, envelope: true }))
        lines.push(`${uid} ${envelope?.subject}`);
      return lines;
    };
    const seen = await list(here);
    expect(await list(there)).toEqual(seen);
    expect(seen).toHaveLength(122);
    for (const client of [here, there]) client.close();
  });
});
