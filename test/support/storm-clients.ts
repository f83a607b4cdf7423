import { setTimeout as delay } from 'node:timers/promises';
import type { Box } from './box.ts';
import { JmapClient } from './jmap-client.ts';
import { Ledger, load, numbered, type Numbered } from './load.ts';
import { MailboxReader } from './mailbox-reader.ts';
import { outcome, rpc } from './mcp.ts';

const SEED = 20_261_128;

/** A run of many clients against nodes that fail. */
export class Storm {
  over = false;
  readonly ledger = new Ledger();
  /** Answers that were compared with those before. */
  readings = 0;
  /** Protocols of these answers. */
  readonly protocols = new Set<string>();
  readonly disorder: string[] = [];
  /** Times from an acknowledgment to the EXISTS that an idle client gets, ms. */
  readonly delays: number[] = [];
  /** Number of acknowledged messages, and when each was (performance.now()). */
  readonly acknowledgedAt: number[] = [];

  constructor() {
    this.ledger.onAcknowledged = () => this.acknowledgedAt.push(performance.now());
  }

  /** Repeats `work` until the end; it may fail while its node or the database is away. */
  async repeat(work: () => Promise<void>, pauseMs: number): Promise<void> {
    while (!this.over) {
      await work().catch(() => undefined);
      await delay(pauseMs);
    }
  }
}

/** Sends to one node with this many clients until the end; each message until it is acknowledged. */
export async function sendTo(box: Box, prefix: string, clients: number, storm: Storm): Promise<void> {
  const { ledger } = storm;
  const queue: Numbered[] = [];
  for (let round = 0; !storm.over || queue.length > 0; round++) {
    if (!storm.over && queue.length < 3 * clients)
      for (let i = 0; i < 6 * clients; i++)
        queue.push(numbered(`${prefix}-${round}-${i}`, i % 10 === 9 ? 80_000 : 900, SEED + i));
    await load({ port: box.port('smtp'), queue, ledger, clients }).catch(() => undefined);
    if (queue.length > 0) await delay(200);
  }
}

/** Reads one node over and over; notes when UIDs that were seen change their order, or one is missing. */
export function follow(box: Box, storm: Storm, pauseMs: number): Promise<void> {
  let seen: number[] = [];
  return storm.repeat(async () => {
    using reader = await MailboxReader.open(box.port('imap'));
    await reader.command('EXAMINE INBOX');
    while (!storm.over) {
      await reader.command('NOOP');
      const answer = (await reader.command('UID SEARCH ALL')).toString('latin1');
      const found = /^\* SEARCH(.*)\r\n/m.exec(answer)?.[1];
      if (found === undefined) continue;
      const uids = found.trim().split(' ').filter(Boolean).map(Number);
      if (seen.some((uid, at) => uids[at] !== uid)) storm.disorder.push(`${seen.length} UIDs, then ${uids.length}`);
      seen = uids;
      storm.readings++;
      storm.protocols.add('IMAP');
      await delay(pauseMs);
    }
  }, 300);
}

/** Waits with IDLE at one node; notes how long after its acknowledgment each message is announced. */
export function idle(box: Box, storm: Storm): Promise<void> {
  return storm.repeat(async () => {
    using reader = await MailboxReader.open(box.port('imap'));
    const selected = (await reader.command('EXAMINE INBOX')).toString('latin1');
    let count = Number(/^\* (\d+) EXISTS/m.exec(selected)?.[1]);
    await reader.idle(
      (line) => {
        const exists = /^\* (\d+) EXISTS/.exec(line)?.[1];
        if (exists === undefined) return;
        // All messages of the mailbox were acknowledged, but for those whose answer is on its way.
        const late = storm.acknowledgedAt[count];
        if (late !== undefined) storm.delays.push(performance.now() - late);
        count = Number(exists);
      },
      () => storm.over,
    );
  }, 300);
}

/** Asks one node by JMAP for the number of messages, which never falls. */
export function countByJmap(box: Box, storm: Storm): Promise<void> {
  const account = { user: box.address, password: box.password };
  return neverFalls(storm, 'JMAP', async () => {
    const client = await JmapClient.discover(`http://127.0.0.1:${box.port('http')}`, account);
    return ((await client.call('Email/query', { calculateTotal: true, limit: 1 })) as { total: number }).total;
  });
}

/** Asks one node by MCP for the number of unread messages, which never falls: nobody reads one. */
export function countByMcp(box: Box, token: string, storm: Storm): Promise<void> {
  const base = `http://127.0.0.1:${box.port('http')}`;
  const call = { name: 'list_messages', arguments: { mailbox: box.address, limit: 1 } };
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
  return neverFalls(storm, 'MCP', async () => {
    const total = outcome(await rpc(base, 'tools/call', call, headers))['unreadTotal'];
    if (typeof total !== 'number') throw new Error('no answer');
    return total;
  });
}

/** Reads a number over and over; notes when it falls. */
function neverFalls(storm: Storm, protocol: string, read: () => Promise<number>): Promise<void> {
  let most = 0;
  return storm.repeat(async () => {
    const now = await read();
    if (now < most) storm.disorder.push(`${most} messages by ${protocol}, then ${now}`);
    most = Math.max(most, now);
    storm.readings++;
    storm.protocols.add(protocol);
  }, 300);
}
