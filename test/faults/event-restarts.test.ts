import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { EventReader } from '../support/event-source.ts';
import { expectIntegrity, loadOverRestarts, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { numberedMany } from '../support/load.ts';
import { http } from '../support/mcp.ts';

const RESTARTS = repetitions(20, 8);
const MESSAGES = 25 * RESTARTS;
const SENDS = 3 * RESTARTS;
const SEED = 20_261_122;

interface Reported {
  event: string;
  id: string;
  data: Record<string, unknown>;
}

/** A program that follows the stream, and comes back with the last id that reached it. */
class Follower {
  readonly told: Reported[] = [];
  readonly #ask: string;
  readonly #authorization: string;
  #reader: EventReader | undefined;

  constructor(authorization: string, ask: string) {
    this.#authorization = authorization;
    this.#ask = ask;
  }

  of(event: string): Reported[] {
    return this.told.filter((one) => one.event === event);
  }

  /** Goes on until it is ended; `up` resolves when the box runs. */
  async run(box: Box, up: () => Promise<void>, done: () => boolean): Promise<void> {
    while (!done()) {
      await up();
      try {
        const last = this.told.at(-1)?.id;
        const headers = { authorization: this.#authorization, ...(last !== undefined && { 'last-event-id': last }) };
        this.#reader = await EventReader.open(`http://127.0.0.1:${box.port('http')}/api/events${this.#ask}`, headers);
        for (let one = await this.#reader.next(); one !== undefined; one = await this.#reader.next()) {
          this.told.push(one as Reported);
        }
      } catch {
        // The box went away under it. The id that it has is still good.
      }
    }
  }

  async end(): Promise<void> {
    await this.#reader?.[Symbol.asyncDispose]();
  }
}

test(`${RESTARTS} restarts during ${MESSAGES} messages: who follows the events misses none, and is reported none twice`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const made = (await box.ask('create_agent_token', { name: 'follows', actions: ['read', 'send'] })) as {
    secret: string;
  };
  const authorization = `Bearer ${made.secret}`;
  const followers = ['', `?mailbox=${box.address}`].map((ask) => new Follower(authorization, ask));
  let up: Promise<void> = Promise.resolve();
  let finished = false;
  const running = followers.map((one) =>
    one.run(
      box,
      () => up,
      () => finished,
    ),
  );
  await expect.poll(() => followers.every(({ told }) => told.length > 0)).toBe(true);

  const sent = new Set<string>();
  const sends = sendAll(box, authorization, () => up, sent);
  const queue = numberedMany('event', MESSAGES, SEED);
  const down = (starting: Promise<void>): void => {
    up = starting;
  };
  const ledger = await loadOverRestarts(box, { queue, restarts: RESTARTS, down });
  await sends;
  expect([ledger.acknowledged.size, sent.size]).toEqual([MESSAGES, SENDS]);

  const stored = await messagesOf(box, authorization);
  expect(stored.length).toBeGreaterThanOrEqual(MESSAGES);
  const states = (one: Follower, state: string): unknown[] =>
    one.of('send').flatMap(({ data }) => (data['state'] === state ? [data['emailId']] : []));
  for (const one of followers) {
    await expect
      .poll(() => [one.of('mail').length, states(one, 'sent').length], { timeout: 60_000, interval: 100 })
      .toEqual([stored.length, SENDS]);
  }
  finished = true;
  for (const one of followers) await one.end();
  await Promise.all(running);
  for (const one of followers) {
    const mail = one.of('mail').map(({ data }) => String(data['messageId']));
    expect(mail.toSorted(), 'each message once').toEqual(stored.toSorted());
    expect(states(one, 'sent'), 'each send once, in order').toEqual([...sent]);
    const happened = one.told.filter(({ event }) => event !== 'mode');
    expect(new Set(happened.map(({ id }) => id)).size, 'an id of its own').toBe(happened.length);
    expect(one.of('gap')).toEqual([]);
  }
  const [first, second] = followers.map((one) => one.told.filter(({ event }) => event !== 'mode'));
  expect(first, 'in the same order').toEqual(second);
  await box.stop();
  expectIntegrity(box.dataDir);
  const [all] = followers;
  console.log(
    `${RESTARTS} restarts: ${all?.of('mail').length} of ${stored.length} messages and ${all?.of('send').length} states of ${SENDS} sends told, over ${all?.of('mode').length} streams`,
  );
});

/** Sends one message after the other, each until it is answered. */
async function sendAll(box: Box, authorization: string, up: () => Promise<void>, sent: Set<string>): Promise<void> {
  for (let i = 0; i < SENDS;) {
    await up();
    const body = JSON.stringify({
      from: box.address,
      to: `x${i}@far.example`,
      subject: `${i}`,
      text: `${i}`,
      idempotencyKey: `key-${i}`,
    });
    const headers = { authorization, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${box.port('http')}/api/tools/send_email`;
    const said = await http('POST', url, headers, body).catch(() => undefined);
    if (said?.status !== 200) continue;
    sent.add(String(said.json?.['id']));
    i++;
  }
}

/** The ids of all messages in the inbox. */
async function messagesOf(box: Box, authorization: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: unknown = ''; typeof cursor === 'string';) {
    const query = `limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const path = `/api/email/mailboxes/${box.address}/messages?${query}`;
    const { json, text } = await http('GET', `http://127.0.0.1:${box.port('http')}${path}`, { authorization });
    if (json?.['messages'] === undefined) throw new Error(text);
    ids.push(...(json['messages'] as { id: string }[]).map(({ id }) => id));
    cursor = json['nextCursor'];
  }
  return ids;
}
