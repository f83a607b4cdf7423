import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { acmeWorld } from '../support/acme-box.ts';
import { startKnot } from '../support/name-server-process.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/going-live.md'), 'utf8');
const ZONE = 'example.com';
const HOST = `mail.${ZONE}`;
const FOREIGN = `${ZONE}. 3600 IN NS ns1.${ZONE}.
ns1.${ZONE}. 3600 IN A 127.0.0.1
${HOST}. 3600 IN A 127.0.0.1
${ZONE}. 300 IN TXT "site-proof=abc"`;

/** Commands of the page: blocks, and those in the text. */
const blocks = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
const inline = new Set([...PAGE.matchAll(/`(mailstead [^`]+)`/g)].map(([, command = '']) => command));

/** Sections of the page, with the minutes that their headings promise and the seconds that their commands took. */
const sections = PAGE.split(/^## /m)
  .slice(1)
  .map((text) => {
    const [, title = text.split('\n', 1)[0] ?? '', minutes = 0] = /^(.*?): (\d+) minutes/.exec(text) ?? [];
    return { title, minutes: Number(minutes), text, seconds: 0 };
  });

/** Adds the time of some work to the section that has these words. */
async function timed<T>(words: string, work: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const result = await work();
  const section = sections.find(({ text }) => text.includes(words)) ?? expect.fail(`no section with ${words}`);
  section.seconds += (performance.now() - from) / 1000;
  return result;
}

/** Runs commands as a person types them. The DNS answers in this process, so they run beside it. */
async function run(dataDir: string, commands: string): Promise<{ status: number | null; output: string }> {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'going-live-'));
  symlinkSync(join(ROOT, 'bin/mailstead'), join(dir.path, 'mailstead'));
  const env = { ...process.env, MAILSTEAD_DATA_DIR: dataDir, PATH: `${dir.path}:${process.env['PATH'] ?? ''}` };
  const shell = spawn('/bin/sh', ['-eu'], { env });
  const ended = new Promise<number | null>((resolve) => void shell.once('close', resolve));
  shell.stdin.end(commands);
  const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  return { status: await ended, output: output + errors };
}

test('every command of docs/going-live.md does what the page says, from an empty server to a verified domain', async () => {
  await using knot = await startKnot(ZONE, FOREIGN);
  const started = blocks.find((block) => block.includes('npm start')) ?? expect.fail('no start');
  const settings = Object.fromEntries(
    [...started.matchAll(/(MAILSTEAD_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  expect(Object.keys(settings)).toEqual(['MAILSTEAD_HOSTNAME', 'MAILSTEAD_ACME_EMAIL']);
  await using world = await acmeWorld({ settings: { ...settings, MAILSTEAD_DNS_PORT: 'off' } });
  world.internet.publish('com. 60 IN NS a.gtld.test.\nns1.hoster.test. 60 IN A 127.0.0.1');
  world.internet.delegate(ZONE, ['ns1.hoster.test'], knot.port);
  const typed = new Set([started]);
  const type = async (words: string, change = (block: string): string => block): Promise<string> => {
    const block = blocks.find((one) => one.includes(words)) ?? expect.fail(words);
    typed.add(block);
    return (await timed(block, () => run(world.dataDir, change(block)))).output;
  };

  expect(await type('mailstead setup')).toMatch(/example\.com/);
  const published = await type('connect_dns_provider', (block) =>
    block.replace('"ns1.example.com"', `"127.0.0.1", "port": "${knot.port}"`).replace('BASE64', knot.secret),
  );
  expect(published).toContain('"action": "create"');
  expect(published).toContain('"verified": true');
  expect(await run(world.dataDir, 'mailstead setup --domain example.com --mailbox you')).toMatchObject({
    output: expect.stringContaining('you@example.com') as string,
  });
  const valid = async (): Promise<string[]> => (await world.certificates()).map(({ status }) => status);
  await timed('mailstead certificate list', () => expect.poll(valid).toEqual(['valid', 'valid']));
  const list = await type('certificate list');
  for (const name of [HOST, `autoconfig.${ZONE}`]) expect(list).toContain(name);
  const doctor = await type('mailstead doctor');
  const passed = [...doctor.matchAll(/^ok +([^:]+(?:: [a-z]+)?):/gm)].map(([, check]) => check);
  const checks = ['certificate', 'resolver', 'host name', 'EHLO name', 'open relay'];
  const records = ['mx', 'spf', 'dkim', 'dmarc'].map((name) => `${ZONE}: ${name}`);
  expect(passed).toEqual(expect.arrayContaining([...checks, ...records]));
  expect(blocks.filter((block) => !typed.has(block))).toEqual([]);

  for (const command of inline) {
    const done = await timed(command, () => run(world.dataDir, command.replace('NAME', HOST)));
    expect(done, command).toMatchObject({ status: 0 });
  }

  for (const { title, minutes, seconds } of sections) {
    console.log(`${title}: ${minutes} minutes by the page, ${seconds.toFixed(1)} s of them are its commands`);
    expect(minutes, title).toBeGreaterThan(0);
    expect(seconds, title).toBeLessThan(minutes * 60);
  }
});
