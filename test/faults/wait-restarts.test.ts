import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { expectIntegrity, loadOverRestarts, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { numberedMany } from '../support/load.ts';
import { http, outcome, rpc } from '../support/mcp.ts';

const RESTARTS = repetitions(20, 8);
const MESSAGES = 50 * RESTARTS;
const SEED = 20_261_123;

interface Answer {
  matched: boolean;
  messages: { id: string; untrusted: { subject: string } }[];
  cursor: string;
}
type Ask = (box: Box, args: object) => Promise<Answer>;

/** An agent that waits and waits, with the cursor of the last answer that reached it. */
class Waiter {
  readonly told: { id: string; subject: string }[] = [];
  #cursor: string | undefined;
  readonly #ask: Ask;
  /** Timeouts of the calls, in turn. */
  readonly #filters: readonly object[];

  constructor(ask: Ask, filters: readonly object[]) {
    this.#ask = ask;
    this.#filters = filters;
  }

  async begin(box: Box): Promise<void> {
    this.#cursor = (await this.#ask(box, { timeoutSeconds: 0 })).cursor;
  }

  /** Goes on until `done`; `up` resolves when the box runs. */
  async run(box: Box, up: () => Promise<void>, done: () => boolean): Promise<void> {
    for (let call = 0; !done(); call++) {
      await up();
      const filter = this.#filters[call % this.#filters.length];
      try {
        const { messages, cursor } = await this.#ask(box, { timeoutSeconds: 1, since: this.#cursor, ...filter });
        for (const { id, untrusted } of messages) this.told.push({ id, subject: untrusted.subject });
        this.#cursor = cursor;
      } catch {
        // The box went away under it. The cursor that it has is still good.
      }
    }
  }
}

test(`${RESTARTS} restarts during ${MESSAGES} messages: who waits misses none, and is reported none twice`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const made = (await box.ask('create_agent_token', { name: 'waits', actions: ['mail_read'] })) as { secret: string };
  const authorization = `Bearer ${made.secret}`;
  const byMcp: Ask = async (at, args) => {
    const base = `http://127.0.0.1:${at.port('http')}`;
    const given = { name: 'wait_for_email', arguments: { mailbox: at.address, ...args } };
    return outcome(await rpc(base, 'tools/call', given, { authorization })) as never;
  };
  const byRest: Ask = async (at, args) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(args)) query.set(name, String(value));
    const path = `/api/email/mailboxes/${at.address}/wait?${query.toString()}`;
    const said = await http('GET', `http://127.0.0.1:${at.port('http')}${path}`, { authorization });
    if (said.status !== 200) throw new Error(said.text);
    return said.json as never;
  };
  const waiters = [
    new Waiter(byMcp, [{ limit: 1 }, { limit: 20 }, { limit: 7 }]),
    // Messages that one filter skips match the next.
    new Waiter(byRest, [{ limit: 20, subjectContains: '7' }, { limit: 20 }]),
  ];
  for (const one of waiters) await one.begin(box);

  let up: Promise<void> = Promise.resolve();
  let finished = false;
  const running = waiters.map((one) =>
    one.run(
      box,
      () => up,
      () => finished,
    ),
  );
  const queue = numberedMany('wait', MESSAGES, SEED);
  const down = (starting: Promise<void>): void => {
    up = starting;
  };
  const ledger = await loadOverRestarts(box, { queue, restarts: RESTARTS, down });
  expect(ledger.acknowledged.size).toBe(MESSAGES);
  for (const { told } of waiters) {
    await expect
      .poll(() => new Set(told.map(({ subject }) => subject)).size, { timeout: 60_000, interval: 100 })
      .toBe(MESSAGES);
  }
  finished = true;
  await Promise.all(running);
  for (const { told } of waiters) {
    expect(new Set(told.map(({ id }) => id)).size, 'told twice').toBe(told.length);
    const subjects = new Set(told.map(({ subject }) => subject));
    expect(
      [...ledger.acknowledged.keys()].filter((id) => !subjects.has(`number ${id}`)),
      'missed',
    ).toEqual([]);
  }
  await box.stop();
  expectIntegrity(box.dataDir);
  console.log(`${RESTARTS} restarts, ${waiters.map(({ told }) => told.length).join(' and ')} told of ${MESSAGES}`);
});
