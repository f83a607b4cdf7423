import { expect, test } from 'vitest';
import { askFrom } from '../support/ask-from.ts';
import { type Box, startBox } from '../support/box.ts';
import { percentile, roundsUntil } from '../support/held-sockets.ts';
import { Wire } from '../support/wire.ts';

// Whoever guesses learns from no answer, and from no time that it takes, whether an address exists.

/** Guesses per protocol for an existing mailbox, and for each of two unknown names of equal length. */
const EACH = 225;
const FROM = '127.0.0.1';
const MOST_MS = 5;
const WHO = ['there', 'nobody', 'other'] as const;
type Who = (typeof WHO)[number];

/** Tries a password and answers everything that came back. */
type Guess = (box: Box, user: string, password: string) => Promise<string>;

const submission: Guess = async (box, user, password) => {
  using wire = await Wire.open(box.port('submission'), { patienceMs: 30_000 });
  await wire.reply();
  await wire.command('EHLO guesser.example');
  return await timed(() => wire.command(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`));
};

const imap: Guess = async (box, user, password) => {
  using wire = await Wire.open(box.port('imap'), { patienceMs: 30_000 });
  await wire.line();
  return await timed(async () => {
    wire.send(`a LOGIN ${user} ${password}\r\n`);
    return (await wire.line()) ?? '';
  });
};

const jmap: Guess = (box, user, password) =>
  timed(async () => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const { status, headers, text } = await askFrom(FROM, box.port('http'), '/jmap/session', {
      headers: { authorization },
    });
    const { date: _, ...told } = headers;
    return `${status} ${JSON.stringify(told)} ${text}`;
  });

let took = 0;
let guesses = 0;
async function timed(guess: () => Promise<string>): Promise<string> {
  const from = performance.now();
  const answer = await guess();
  took = performance.now() - from;
  return answer.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|req-\w+/g, 'ID');
}

test.each<[string, Guess]>([
  ['submission', submission],
  ['IMAP', imap],
  ['JMAP', jmap],
])('%s: 675 guesses, every third at a mailbox that is there', { timeout: 340_000 }, async (door, guess) => {
  // In local mode nobody is turned away, and no answer is held back for two seconds: every difference shows.
  await using box = await startBox();
  // Noise of the machine varies; a timing leak repeats.
  const seen = await roundsUntil(
    () => differences(box, door, guess),
    ({ excess, ms, noise }) => excess <= 0 && ms <= MOST_MS + noise,
  );
  expect(seen.excess).toBeLessThanOrEqual(0);
  expect(seen.ms).toBeLessThanOrEqual(MOST_MS + seen.noise);
});

interface Differences {
  /** Relative difference of response times between existing and unknown mailboxes, beyond the allowed one. */
  excess: number;
  /** Difference of their medians. */
  ms: number;
  /** Twice the difference of the medians of two unknown names. */
  noise: number;
}

async function differences(box: Box, door: string, guess: Guess): Promise<Differences> {
  const times = await timesOf(box, guess);
  const median = (one: Who): number => percentile(times[one], 0.5);
  // Where the machine is busy even two names that are nobody's differ.
  const [share, noise] = [difference(times.there, times.nobody), difference(times.nobody, times.other)];
  console.log(
    `${door}: medians of ${WHO.map((one) => median(one).toFixed(2)).join(', ')} ms; ` +
      `there and nobody differ by ${(100 * share).toFixed(1)} %, nobody and nobody by ${(100 * noise).toFixed(1)} %`,
  );
  return {
    excess: share - Math.max(0.1, 2 * noise),
    ms: Math.abs(median('there') - median('nobody')),
    noise: 2 * Math.abs(median('nobody') - median('other')),
  };
}

/** Guesses so often at each, ms; all are answered the same. */
async function timesOf(box: Box, guess: Guess): Promise<Record<Who, number[]>> {
  const [local = '', domain = ''] = box.address.split('@');
  const users = { there: box.address, nobody: `xy@${domain}`, other: `yx@${domain}` };
  expect(local).toHaveLength(2);
  const times: Record<Who, number[]> = { there: [], nobody: [], other: [] };
  const answers = { there: new Set<string>(), nobody: new Set<string>(), other: new Set<string>() };
  // One after the other and in turns, so that whatever else the machine does is shared.
  for (let i = 0; i < 3 * EACH; i++) {
    const which = WHO[(i + Math.floor(i / 3)) % 3] ?? 'there';
    // A password that was wrong a moment ago is not derived again.
    answers[which].add(await guess(box, users[which], `wrong-password-${guesses++}`));
    times[which].push(took);
  }
  expect(answers.there).toEqual(answers.nobody);
  expect(answers.there.size).toBe(1);
  expect([...answers.there][0]).toMatch(/^(?:535 |a NO \[AUTHENTICATIONFAILED\]|401 )/);
  return times;
}

/** As a share, between the quarters that were answered soonest: what else the machine does makes the others slow. */
function difference(some: readonly number[], others: readonly number[]): number {
  const [a, b] = [percentile(some, 0.25), percentile(others, 0.25)];
  return Math.abs(a - b) / Math.min(a, b);
}
