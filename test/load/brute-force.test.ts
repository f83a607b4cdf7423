import { expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { askFrom } from '../support/ask-from.ts';
import { type Box, startBox } from '../support/box.ts';
import { residentOctets } from '../support/faults.ts';
import { allowed, besideBusyProcesses, percentile, roundsUntil } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';

/** Client-side pool: TLS handshakes keep two cores busy. */
const PATIENCE_MS = 30_000;

type Outcome = 'checked' | 'refused' | 'busy' | 'in';
type Guess = (box: Box, from: string, user: string, password: string) => Promise<Outcome>;

const BY_REPLY: readonly [RegExp, Outcome][] = [
  [/^(?:535 |a NO \[AUTHENTICATIONFAILED\])/, 'checked'],
  // Three failures end a session, whatever they were: the code of that end says which limit it was.
  [/^(?:454 4\.7\.0 Too many failed|a NO \[LIMIT\])/, 'refused'],
  [/^(?:454 4\.7\.0 Too many logins at once|a NO \[UNAVAILABLE\])/, 'busy'],
  [/^(?:235 |a OK )/, 'in'],
];
const BY_STATUS: Readonly<Record<number, Outcome>> = {
  401: 'checked',
  422: 'checked',
  429: 'refused',
  503: 'busy',
  200: 'in',
  303: 'in',
};

function read(reply: string): Outcome {
  const found = BY_REPLY.find(([pattern]) => pattern.test(reply))?.[1];
  if (found === undefined) throw new Error(`an answer that nobody expects: ${reply}`);
  return found;
}

const submission: Guess = async (box, from, user, password) => {
  using wire = await Wire.open(box.port('submissions'), { from, tls: true, patienceMs: PATIENCE_MS });
  await wire.reply();
  await wire.command('EHLO guesser.example');
  return read(await wire.command(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`));
};

const imap: Guess = async (box, from, user, password) => {
  using wire = await Wire.open(box.port('imaps'), { from, tls: true, patienceMs: PATIENCE_MS });
  await wire.line();
  wire.send(`a LOGIN ${user} ${password}\r\n`);
  return read((await wire.line()) ?? 'nothing');
};

const jmap: Guess = async (box, from, user, password) => {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const { status } = await askFrom(from, box.port('http'), '/jmap/session', { headers: { authorization } });
  return BY_STATUS[status] ?? 'in';
};

const portal: Guess = async (box, from, email, password) => {
  const { status } = await askFrom(from, box.port('http'), '/login', {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ email, password }).toString(),
  });
  return BY_STATUS[status] ?? 'in';
};

/** Retries as clients do after "busy". */
async function untilDecided(guess: () => Promise<Outcome>): Promise<Outcome> {
  for (;;) {
    const outcome = await guess();
    if (outcome !== 'busy') return outcome;
    await delay(100);
  }
}

/** One after the other; the two lanes at the same time, which is as many as a neighbourhood may have open. */
const LANES = [
  [submission, imap],
  [jmap, portal],
] as const;
const ADDRESSES = Array.from({ length: 49 }, (_, i) => `127.0.0.${i + 2}`);
const EACH_LANE = 11;

test('1,000 guesses over four endpoints from 49 addresses: ten of each are checked, and the owner elsewhere gets in', async () => {
  await using box = await startBox({ hostname: 'mail.home.example' });
  await box.ask('add_domain', { domain: 'home.example' });
  const user = 'me@home.example';
  const { password } = (await box.ask('add_mailbox', { address: user })) as { password: string };
  let names = 0;
  const from = performance.now();
  const counted = await Promise.all(
    ADDRESSES.map(async (address) => {
      // Each name a few times only: here it is the address that reaches its limit.
      const lane = async (endpoints: readonly Guess[]): Promise<Outcome[]> => {
        const outcomes: Outcome[] = [];
        for (let i = 0; i < EACH_LANE; i++) {
          const door = endpoints[i % endpoints.length] ?? imap;
          outcomes.push(
            await untilDecided(() => door(box, address, `u${names++ % 200}@home.example`, 'wrong-password')),
          );
        }
        return outcomes;
      };
      return (await Promise.all(LANES.map(lane))).flat();
    }),
  );
  const took = performance.now() - from;
  const checked = counted.map((all) => all.filter((one) => one === 'checked').length);
  // Ten in each minute that began; a machine with nothing else to do needs a part of the first.
  const most = took < 55_000 ? 10 : 20;
  expect(checked.filter((count) => count < 10 || count > most)).toEqual([]);
  expect(counted.flat()).not.toContain('in');
  for (const door of [submission, imap, jmap]) expect(await door(box, '127.0.0.2', user, password)).toBe('refused');

  // Now at one account, from 40 addresses: 120 failures, and each that guesses is closed to it.
  await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      Promise.all(
        [submission, imap, jmap].map((door) => untilDecided(() => door(box, `127.1.${i}.1`, user, 'wrong-password'))),
      ),
    ),
  );
  expect(await imap(box, '127.1.0.1', user, password)).toBe('refused');
  const queried = performance.now();
  expect(await imap(box, '127.2.0.1', user, password)).toBe('in');
  const waited = performance.now() - queried;
  console.log(
    `${counted.flat().length} guesses in ${Math.round(took / 1000)} s, 10 checked of each address; the owner elsewhere waited ${Math.round(waited)} ms`,
  );
});

/** One login over a connection that is open already. */
type Ready = (i: number) => Promise<{ wire: Wire; log: () => Promise<string> }>;

const openImap = (box: Box): Ready =>
  async function ready(i) {
    const wire = await Wire.open(box.port('imap'), { patienceMs: PATIENCE_MS });
    await wire.line();
    return { wire, log: () => (wire.send(`a LOGIN u${i}@box.test wrong-password\r\n`), lineOf(wire)) };
  };

const openSubmission = (box: Box): Ready =>
  async function ready(i) {
    const wire = await Wire.open(box.port('submission'), { patienceMs: PATIENCE_MS });
    await wire.reply();
    await wire.command('EHLO guesser.example');
    const response = Buffer.from(`\0u${i}@box.test\0wrong-password`).toString('base64');
    return { wire, log: () => wire.command(`AUTH PLAIN ${response}`) };
  };

async function lineOf(wire: Wire): Promise<string> {
  return (await wire.line()) ?? 'nothing';
}

/** 500 logins over open connections, all at once: their outcomes, the waits of another (p99, ms), MB more at the end. */
async function manyLogins(box: Box, canary: Wire): Promise<{ outcomes: Outcome[]; wait: number; grown: number }> {
  const [byImap, bySmtp] = [openImap(box), openSubmission(box)];
  const ready = await Promise.all(Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? byImap(i) : bySmtp(i))));
  const before = await residentOctets(box.pid);
  const all = Promise.all(ready.map((one) => one.log()));
  const wait = percentile(await waitsOf(canary, all), 0.99);
  const outcomes = (await all).map(read);
  const grown = ((await residentOctets(box.pid)) - before) / 1e6;
  for (const one of ready) one.wire[Symbol.dispose]();
  return { outcomes, wait, grown };
}

test('500 logins at once, by IMAP and SMTP, hold nobody up and cost little memory', async () => {
  // In local mode nobody is turned away, so that all of them come to the derivation of keys.
  await using box = await startBox();
  using canary = await Wire.open(box.port('smtp'));
  await canary.reply();
  await canary.command('EHLO canary.example');
  // Keys are derived in two threads, and this process is busy as well.
  const ordinary = percentile(await besideBusyProcesses(() => waitsOf(canary, delay(1500))), 0.99);
  const { outcomes, wait, grown } = await roundsUntil(
    () => manyLogins(box, canary),
    (one) => one.wait < allowed(250, ordinary),
  );
  expect(outcomes.every((one) => one === 'checked' || one === 'busy')).toBe(true);
  expect(outcomes).toContain('busy');
  // Two run and 64 wait; others came when there was room again.
  expect(outcomes.filter((one) => one === 'checked').length).toBeGreaterThanOrEqual(66);
  expect(wait).toBeLessThan(allowed(250, ordinary));
  expect(grown).toBeLessThan(300);
  // The right password works once the attack is over.
  expect(await imap(box, '127.0.0.1', box.address, box.password)).toBe('in');
  console.log(
    `500 logins at once: another waits ${Math.round(wait)} ms (p99; ${Math.round(ordinary)} ms beside busy processes), ${grown.toFixed(0)} MB more`,
  );
});

/** Latencies of small commands, in ms, until `until` resolves. */
async function waitsOf(canary: Wire, over: Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  const end = new AbortController();
  void over.finally(() => end.abort());
  while (!end.signal.aborted) {
    const from = performance.now();
    expect(await canary.command('RSET')).toMatch(/^250 /);
    waits.push(performance.now() - from);
    await delay(5);
  }
  return waits;
}
