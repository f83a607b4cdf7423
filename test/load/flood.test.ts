import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { residentOctets } from '../support/faults.ts';
import { allowed, besideBusyProcesses, holdMany, letGo, percentile, roundsUntil } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';

const CONNECTIONS = 5000;
const LISTENERS = ['smtp', 'imap', 'imaps', 'http'] as const;
/** A neighbourhood of 64 addresses has three times the places of one; 127.0.0.2 to 127.0.0.200 are four. */
const NEIGHBOURHOODS = 4;

interface Served {
  /** Does one thing and resolves when it is answered. */
  use: () => Promise<void>;
  wire: Wire;
}

/** Fifty people's IMAP sessions, from an office each, and ten servers' SMTP sessions. */
async function sixtySessions(box: Box, users: readonly { address: string; password: string }[]): Promise<Served[]> {
  const imap = Array.from({ length: 50 }, async (_, i): Promise<Served> => {
    const user = users[i % users.length];
    const wire = await Wire.open(box.port('imap'), { from: `127.1.${i % 5}.1` });
    await wire.line();
    wire.send('a STARTTLS\r\n');
    await wire.line();
    await wire.encrypt();
    wire.send(`a LOGIN ${user?.address} ${user?.password}\r\n`);
    expect(await wire.line()).toMatch(/^a OK /);
    const use = async (): Promise<void> => {
      wire.send('n STATUS INBOX (MESSAGES)\r\n');
      expect(await wire.line()).toMatch(/^\* STATUS INBOX /);
      expect(await wire.line()).toMatch(/^n OK /);
    };
    return { use, wire };
  });
  const smtp = Array.from({ length: 10 }, async (_, i): Promise<Served> => {
    const wire = await Wire.open(box.port('smtp'), { from: `127.2.${i}.1` });
    await wire.reply();
    await wire.command('EHLO server.example');
    const use = async (): Promise<void> => {
      expect(await wire.command('MAIL FROM:<a@server.example>')).toMatch(/^250 /);
      expect(await wire.command(`RCPT TO:<${users[0]?.address}>`)).toMatch(/^250 /);
      expect(await wire.command('RSET')).toMatch(/^250 /);
    };
    return { use, wire };
  });
  return Promise.all([...imap, ...smtp]);
}

test(`${CONNECTIONS} connections that come and do nothing: 60 sessions are served, the others are refused at once`, async () => {
  await using box = await startBox({ hostname: 'mail.home.example' });
  await box.ask('add_domain', { domain: 'home.example' });
  const users = await Promise.all(
    ['a', 'b', 'c'].map(
      async (name) =>
        (await box.ask('add_mailbox', { address: `${name}@home.example` })) as { address: string; password: string },
    ),
  );
  const sessions = await sixtySessions(box, users);
  const ordinary = percentile(await besideBusyProcesses(() => waitsOf(sessions, delay(2000))), 0.99);
  const flooded = await roundsUntil(
    () => flood(box, sessions),
    ({ refusal, wait }) => refusal < allowed(1000, ordinary) && wait < allowed(250, ordinary),
  );

  const { connections, inside, texts, refusal, wait, grown } = flooded;
  expect(inside).toBeGreaterThan(0);
  expect(inside).toBeLessThanOrEqual(NEIGHBOURHOODS * 180);
  expect(refusal).toBeLessThan(allowed(1000, ordinary));
  const words = ['', '* BYE [LIMIT] Too many co', '421 4.7.0 Too many connec', 'HTTP/1.1 503 Service Una'];
  expect(texts.filter((one) => !words.some((word) => word.startsWith(one)))).toEqual([]);
  expect(wait).toBeLessThan(allowed(250, ordinary));
  expect(grown).toBeLessThan(300);

  for (const { wire } of sessions) wire[Symbol.dispose]();
  console.log(
    `${connections} connections, ${inside} inside, others turned away in ${Math.round(refusal)} ms (p99); 60 sessions wait ` +
      `${Math.round(wait)} ms (p99; ${Math.round(ordinary)} ms beside busy processes); ${grown.toFixed(0)} MB more`,
  );
});

/** Result of one flood. `refusal`: ms until those turned away are closed; `wait`: of the sessions. Both p99. */
interface Flooded {
  connections: number;
  inside: number;
  texts: string[];
  refusal: number;
  wait: number;
  /** MB. */
  grown: number;
}

/** Opens all connections, lets them go, and ends when the box takes connections of their addresses again. */
async function flood(box: Box, sessions: readonly Served[]): Promise<Flooded> {
  const before = await residentOctets(box.pid);
  const calm = Promise.withResolvers<void>();
  const served = waitsOf(sessions, calm.promise);
  const held = await holdMany(CONNECTIONS, (i) => ({
    from: `127.0.0.${2 + (i % 199)}`,
    port: box.port(LISTENERS[Math.floor(i / 199) % LISTENERS.length] ?? 'smtp'),
  }));
  await delay(3000);
  const grown = ((await residentOctets(box.pid)) - before) / 1e6;
  calm.resolve();
  const waits = await served;
  const turnedAway = held.filter((one) => one.closedAt !== undefined);
  const answered = turnedAway.map(({ closedAt = 0, openedAt }) => closedAt - openedAt);
  const texts = turnedAway.map(({ said }) => said.replace(/\{.*/s, '').slice(0, 24));
  await letGo(held);
  expect(await normalFrom(box, '127.0.0.2')).toBe(true);
  return {
    connections: held.length,
    inside: held.length - turnedAway.length,
    texts: [...new Set(texts)],
    refusal: percentile(answered, 0.99),
    wait: percentile(waits, 0.99),
    grown,
  };
}

/** Latencies of the sessions' commands, about one a second each, in ms, until `until` resolves. */
async function waitsOf(sessions: readonly Served[], over: Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  const end = new AbortController();
  void over.finally(() => end.abort());
  await Promise.all(
    sessions.map(async ({ use }, i) => {
      await delay(i * 15);
      while (!end.signal.aborted) {
        const from = performance.now();
        await use();
        waits.push(performance.now() - from);
        await delay(900);
      }
    }),
  );
  return waits;
}

/** True if a flooding address may connect again within ten seconds. */
async function normalFrom(box: Box, from: string): Promise<boolean> {
  for (let i = 0; i < 100; i++) {
    using wire = await Wire.open(box.port('imap'), { from });
    if ((await wire.line())?.startsWith('* OK')) return true;
    await delay(100);
  }
  return false;
}
