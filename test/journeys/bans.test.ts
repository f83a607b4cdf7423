import { afterAll, beforeAll, expect, test } from 'vitest';
import { askFrom } from '../support/ask-from.ts';
import { type Box, startBox } from '../support/box.ts';
import { Wire } from '../support/wire.ts';

const FOE = '127.0.0.9';

let box: Box;
beforeAll(async () => {
  box = await startBox({ hostname: 'mail.home.example', settings: { EXEMPT_NETWORKS: '127.0.0.77/32' } });
});
afterAll(() => box[Symbol.asyncDispose]());

async function scan(from: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    expect((await askFrom(from, box.port('http'), `/wp-login.php?n=${i}`)).status).toBe(404);
  }
}

async function saidBy(door: 'smtp' | 'submission' | 'imap', from: string): Promise<string | undefined> {
  using wire = await Wire.open(box.port(door), { from });
  return await wire.line();
}

const listed = async (): Promise<Record<string, unknown>[]> =>
  ((await box.ask('list_bans')) as { bans: Record<string, unknown>[] }).bans;

test('who looks for holes is banned at every endpoint and reported why, also after a restart, until it is lifted', async () => {
  await scan(FOE, 30);
  await box.logged((line) => line.msg === 'network banned' && line['network'] === FOE);
  const refused = await askFrom(FOE, box.port('http'), '/healthz');
  const until = /until (\S+):/.exec(refused.text)?.[1];
  const why = `${FOE} is banned until ${until}: 30 vulnerability scans in a day. The operator can lift the ban`;
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.text)).toMatchObject({ error: 'banned', message: `${why}.` });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(890);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(900);
  const everywhere = async (): Promise<unknown[]> => [
    await saidBy('smtp', FOE),
    await saidBy('submission', FOE),
    await saidBy('imap', FOE),
  ];
  const turnedAway = [`421 4.7.0 ${why}`, `421 4.7.0 ${why}`, `* BYE [LIMIT] ${why}`];
  expect(await everywhere()).toEqual(turnedAway);
  expect(await saidBy('smtp', '127.0.0.10')).toMatch(/^220 /);

  await box.restart();
  expect(await everywhere()).toEqual(turnedAway);
  expect(await listed()).toMatchObject([{ network: FOE, offence: 'scans', count: 30, times: 1, until }]);

  expect(await box.ask('remove_ban', { address: FOE })).toEqual({ removed: true, network: FOE });
  expect(await box.ask('remove_ban', { address: FOE })).toEqual({ removed: false, network: FOE });
  expect(await listed()).toEqual([]);
  expect(await saidBy('smtp', FOE)).toMatch(/^220 /);
  await expect(box.ask('remove_ban', { address: 'example.org' })).rejects.toThrow(
    'address must be an IP address, or a network as list_bans shows it',
  );
});

test('a page of another site gets nobody banned whose browser shows it', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
  for (let i = 0; i < 40; i++) await askFrom('127.0.0.12', box.port('http'), `/.env?n=${i}`, { headers });
  expect(await saidBy('imap', '127.0.0.12')).toMatch(/^\* OK /);
});

test('an exempt network is never banned', async () => {
  await scan('127.0.0.77', 40);
  expect(await saidBy('smtp', '127.0.0.77')).toMatch(/^220 /);
});

test('who guesses addresses is answered "later", and nothing more', async () => {
  await box.ask('add_domain', { domain: 'home.example' });
  const session = async (): Promise<void> => {
    // The five of a session alone are held back for more than four seconds.
    using wire = await Wire.open(box.port('smtp'), { from: '127.0.0.11', patienceMs: 15_000 });
    await wire.reply();
    await wire.command('EHLO guesser.example');
    await wire.command('MAIL FROM:<>');
    // RFC 2920: together, as each waits a second.
    wire.send(Array.from({ length: 5 }, (_, i) => `RCPT TO:<n${i}@home.example>\r\n`).join(''));
    expect(await wire.all()).toMatch(/421 4\.7\.0 Too many unknown recipients\r\n$/);
  };
  await Promise.all(Array.from({ length: 7 }, session));
  expect(await saidBy('smtp', '127.0.0.11')).toMatch(/^421 4\.7\.0 .*: 35 unknown recipients in a day/);
});
