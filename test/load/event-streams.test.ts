import { readFile } from 'node:fs/promises';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { EventReader } from '../support/event-source.ts';
import { leastGrowth, residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { http } from '../support/mcp.ts';

/** Streams when memory is looked at. */
const LOOKS = [100, 300, 500] as const;
const STREAMS = LOOKS[2];
const MAILBOXES = 10;
const MOST_KB = 40;
/** One heartbeat of every stream falls into it. A shorter window measures the collection of garbage from before. */
const IDLE_SECONDS = 25;
/** Share of one core while idle: a keep-alive per stream every 25 seconds, a token check every 5. */
const MOST_IDLE = 0.1;

/** CPU time of a process so far, ms. */
async function cpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

test(`${STREAMS} streams of events cost little, and each is informed of its own mailbox once`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const mailboxes: { id: string; address: string; authorization: string }[] = [];
  for (let i = 0; i < MAILBOXES; i++) {
    const address = `events${i}@box.test`;
    const id = `mbx_${((await box.ask('add_mailbox', { address })) as { id: number }).id}`;
    const made = await box.ask('create_agent_token', { name: address, actions: ['mail_read'], mailboxIds: [id] });
    mailboxes.push({ id, address, authorization: `Bearer ${(made as { secret: string }).secret}` });
  }
  const streams: EventReader[] = [];
  const until = async (count: number): Promise<void> => {
    while (streams.length < count) {
      const { authorization = '' } = mailboxes[streams.length % MAILBOXES] ?? {};
      const stream = await EventReader.open(`${base}/api/events`, { authorization });
      expect(await stream.next()).toMatchObject({ event: 'mode' });
      streams.push(stream);
    }
  };
  const resident: number[] = [];
  for (const count of LOOKS) {
    await until(count);
    resident.push((await residentOctets(box.pid)) / 1000);
  }
  // A heap grows by steps of megabytes, between some looks and not others. What each stream holds shows between all: a
  // buffer of 64 KiB, or a parser that stays.
  const each = leastGrowth(LOOKS, resident);
  const metrics = (await http('GET', `${base}/metrics`)).text;
  expect(metrics).toContain(`event_streams_open ${STREAMS}\n`);

  const idleFrom = await cpuMs(box.pid);
  // Nothing is to be awaited: that nothing happens is what is measured.
  await new Promise((resolve) => setTimeout(resolve, IDLE_SECONDS * 1000));
  const idle = ((await cpuMs(box.pid)) - idleFrom) / (IDLE_SECONDS * 1000);

  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const began = performance.now();
  for (const round of [1, 2]) {
    for (const { address: to } of mailboxes) {
      await smtp.sendMail({ from: 'x@far.example', to, subject: `round ${round}`, text: 'told' });
    }
  }
  const told = await Promise.all(streams.map(async (one) => [await one.next(), await one.next()]));
  const ms = performance.now() - began;
  for (const [i, events] of told.entries()) {
    const { id } = mailboxes[i % MAILBOXES] ?? {};
    const mail = { event: 'mail', data: { mailboxId: id } };
    expect(events).toMatchObject([mail, mail]);
    expect(new Set(events.map((one) => one?.id)).size).toBe(2);
  }
  await Promise.all(streams.map((one) => one[Symbol.asyncDispose]()));
  await expect
    .poll(async () => (await http('GET', `${base}/metrics`)).text, { timeout: 60_000 })
    .toContain('event_streams_open 0\n');
  expect(each).toBeLessThan(MOST_KB);
  expect(idle).toBeLessThan(MOST_IDLE);
  console.log(
    `${STREAMS} streams: ${each.toFixed(1)} kB each, ${(idle * 100).toFixed(2)} % of a core while nothing happens; ${2 * STREAMS} events of ${2 * MAILBOXES} messages told within ${ms.toFixed(0)} ms of the first being sent`,
  );
  await box.stop();
});
