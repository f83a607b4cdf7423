import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { Random } from '../support/random.ts';
import { type Dovecot, startDovecot } from './dovecot.ts';
import { RawImap } from './raw-imap.ts';

/** SORT_THREAD_MESSAGES=10000 compares as many. */
const MESSAGES = Number(process.env['SORT_THREAD_MESSAGES'] ?? 500);
const SUBJECTS = ['tea', 'Re: tea', '[list] tea', 'Fwd: Re: milk', 'milk (fwd)', 'sugar', '[Fwd: sugar]', 'Re: [list] cake', 'cake', '', 'RE: fwd: honey', 'honey']; // prettier-ignore
const NAMES = ['ann', 'Bob', 'carl', 'Dora', 'emil'];

/** Date of each message in ms UTC, by sequence number - 1: that of its Date field, else its arrival. */
const dates: number[] = [];
let box: Box;
let dovecot: Dovecot;
let ours: RawImap;
let theirs: RawImap;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', SPAM_CHECKS: 'off' } });
  dovecot = await startDovecot();
  ours = await RawImap.open({ port: box.port('imaps'), tls: true, user: box.address, pass: box.password });
  theirs = await RawImap.open({ port: dovecot.port, user: 'sorted', pass: 'x' });
  const random = new Random(11);
  for (let n = 0; n < MESSAGES; n++) {
    const { bytes, date } = message(n, random);
    for (const client of [ours, theirs]) await client.command(`APPEND INBOX () "${date}"`, bytes);
  }
  for (const client of [ours, theirs]) await client.command('SELECT INBOX');
}, 300_000);

afterAll(async () => {
  ours[Symbol.dispose]();
  theirs[Symbol.dispose]();
  await dovecot[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

/** A message that replies to an earlier, a missing or no one. */
function message(n: number, random: Random): { bytes: Buffer; date: string } {
  // The index keeps each id of References once, and not the own one: a field that repeats ids may thread otherwise.
  const ids = new Set(Array.from({ length: random.below(4) }, () => random.below(n + 20)).filter((id) => id !== n));
  const parents = [...ids].map((id) => `<${id}@b.test>`);
  const day = String(1 + random.below(28)).padStart(2, '0');
  const time = `${String(random.below(24)).padStart(2, '0')}:${String(random.below(60)).padStart(2, '0')}:00`;
  const lines = [
    random.chance(0.95) ? `Message-ID: <${random.chance(0.02) ? 1 : n}@b.test>` : 'X-None: 1',
    random.chance(0.95) ? `Date: ${day} Jan 2021 ${time} ${random.one(['+0000', '-0800', '+0530'])}` : 'X-Date: 1',
    `From: ${random.chance(0.5) ? `"${random.one(NAMES)} X" ` : ''}<${random.one(NAMES)}@b.test>`,
    `To: ${random.one(NAMES)}@b.test`,
    ...(random.chance(0.4) ? [`Cc: ${random.one(NAMES)}@b.test, zoe@b.test`] : []),
    `Subject: ${random.one(SUBJECTS)}`,
    ...(parents.length > 0 && random.chance(0.8) ? [`References: ${parents.join(' ')}`] : []),
    ...(parents.length > 0 && random.chance(0.6) ? [`In-Reply-To: ${parents.at(-1) ?? ''}`] : []),
  ];
  const sent = lines.find((line) => line.startsWith('Date: '))?.slice('Date: '.length);
  dates.push(Date.parse(sent ?? `${day} Feb 2021 ${time} +0000`));
  const text = `${lines.join('\r\n')}\r\n\r\n${'x'.repeat(random.below(200))}\r\n`;
  return { bytes: Buffer.from(text), date: `${day}-Feb-2021 ${time} +0000` };
}

const answer = async (client: RawImap, command: string): Promise<string> =>
  (await client.command(command)).split('\r\n').find((line) => /^\* (?:SORT|THREAD|SEARCH)/.test(line)) ?? '';

test.each([
  'ARRIVAL', 'REVERSE ARRIVAL', 'DATE', 'REVERSE DATE', 'SIZE', 'SUBJECT', 'REVERSE SUBJECT DATE', 'FROM', 'TO REVERSE DATE', 'CC SUBJECT', 'FROM TO CC SIZE', 'DISPLAYFROM', 'DISPLAYTO ARRIVAL',
])('SORT (%s) is that of Dovecot', async (keys) => {
  for (const criteria of ['ALL', 'SUBJECT milk', 'SINCE 10-Feb-2021 FROM ann']) {
    const command = `SORT (${keys}) UTF-8 ${criteria}`;
    expect(await answer(ours, command), command).toBe(await answer(theirs, command));
  }
}); // prettier-ignore

const THREADED = ['ALL', 'SINCE 15-Feb-2021', 'NOT SUBJECT tea', '1:100'];

test('THREAD REFERENCES is that of Dovecot', async () => {
  for (const criteria of THREADED) {
    const command = `THREAD REFERENCES UTF-8 ${criteria}`;
    expect((await answer(ours, command)).trim(), command).toBe((await answer(theirs, command)).trim());
  }
});

/** The threads of a response, each with the date of its newest message. */
function threadsOf(response: string): { text: string; newest: number }[] {
  const threads: { text: string; newest: number }[] = [];
  for (let at = response.indexOf('('), depth = 0, start = at; at < response.length; at += 1) {
    if (response[at] === '(' && depth++ === 0) start = at;
    if (response[at] !== ')' || --depth > 0) continue;
    const text = response.slice(start, at + 1);
    threads.push({
      text,
      newest: Math.max(...(text.match(/\d+/g) ?? []).map((n) => dates[Number(n) - 1] ?? Number.NaN)),
    });
  }
  return threads;
}

// The draft names no order for threads whose newest messages have the same date: of these only the set is compared.
test('THREAD REFS is that of Dovecot, by the date of the newest message', async () => {
  for (const criteria of THREADED) {
    const command = `THREAD REFS UTF-8 ${criteria}`;
    const [mine, others] = [threadsOf(await answer(ours, command)), threadsOf(await answer(theirs, command))];
    expect(mine.length, command).toBeGreaterThan(1);
    expect(
      mine.map(({ newest }) => newest),
      command,
    ).toEqual(mine.map(({ newest }) => newest).sort((a, b) => a - b));
    const inOrder = (threads: typeof mine): typeof mine =>
      threads.toSorted((a, b) => a.newest - b.newest || (a.text < b.text ? -1 : 1));
    expect(inOrder(mine), command).toEqual(inOrder(others));
  }
});

test.each(['FROM "ann x"', 'TO bob', 'CC zoe', 'SUBJECT "re: tea"', 'SENTSINCE 20-Jan-2021', 'LARGER 300', 'HEADER References "<1"', 'NOT CC ""'])('SEARCH %s is that of Dovecot', async (criteria) => {
  expect((await answer(ours, `SEARCH ${criteria}`)).trim()).toBe((await answer(theirs, `SEARCH ${criteria}`)).trim());
}); // prettier-ignore
