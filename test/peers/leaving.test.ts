import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dnsServer } from '../support/dns-server.ts';
import { FRIEND, liveWorld, type LiveWorld, ME, queued } from './live-world.ts';
import { NAME_SERVER, runWithOwnDns } from './own-resolv-conf.ts';
import { succeed } from './run.ts';

const HERE = import.meta.dirname;

let world: LiveWorld;
beforeAll(async () => {
  world = await liveWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const TEXT = [
  `From: Me <${ME}>`,
  `To: ${FRIEND}`,
  'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= from\r\n a folded subject',
  'MIME-Version: 1.0',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: 8bit',
  '',
  'Grüße',
  '.dot',
  'trailing blanks  \t',
  '',
  '',
  '',
].join('\r\n');

const PORT = (): string => String(world.box.port('submissions'));

const clients: Record<string, () => Promise<unknown>> = {
  smtplib: () =>
    succeed('/usr/bin/python3', [join(HERE, 'smtplib_send.py'), PORT(), 'tls', ME, world.password, ME, FRIEND], {
      input: TEXT,
    }),
  swaks: () =>
    succeed(
      '/usr/bin/swaks',
      `--server 127.0.0.1:${PORT()} --tlsc --auth PLAIN --auth-user ${ME} --from ${ME} --to ${FRIEND}`
        .split(' ')
        .concat('--auth-password', world.password, '--body', 'by swaks\n.\nend'),
    ),
};

/** The delivered message, without dot-stuffing. */
async function arrives(client: string): Promise<string> {
  const before = world.sink.mails.length;
  await clients[client]?.();
  const mail = (await world.sink.received(before + 1)).at(-1);
  return (mail?.raw.toString('latin1') ?? '').slice(0, -'.\r\n'.length).replace(/^\.\./gm, '.');
}

test.each(Object.keys(clients))(
  'a message submitted by %s over 465 arrives with both signatures valid',
  async (client) => {
    const arrived = await arrives(client);
    const [, port = ''] = world.dns.address.split(':');
    const dkimpy = await succeed('/usr/bin/python3', [join(HERE, 'verify_dkim_dns.py'), port], {
      input: Buffer.from(arrived, 'latin1'),
    });
    expect(dkimpy.trim().split('\n').sort()).toEqual(['ed25519-sha256 True', 'rsa-sha256 True']);
    const signatures = arrived.match(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/gm) ?? [];
    const rest = arrived.slice(signatures.join('').length);
    expect(signatures).toHaveLength(2);
    for (const signed of [arrived, ...signatures.map((signature) => signature + rest)]) {
      expect(await opendkim(signed)).toEqual({ status: 0, said: '' });
      expect((await opendkim(`${signed}more\r\n`)).status).not.toBe(0);
    }
    await expect.poll(() => queued(world), { interval: 200 }).toBe(0);
  },
);

test('the body arrives as it was given, and the header but for what is ours', async () => {
  const arrived = await arrives('smtplib');
  const at = arrived.indexOf('\r\n\r\n');
  const given = Buffer.from(TEXT).toString('latin1');
  expect(arrived.slice(at)).toBe(given.slice(given.indexOf('\r\n\r\n')));
  const header = arrived.slice(0, at + 2);
  for (const field of given.slice(0, given.indexOf('\r\n\r\n') + 2).match(/[^\r\n].*\r\n(?:[ \t].*\r\n)*/g) ?? []) {
    expect(header).toContain(field);
  }
  const names = [...header.matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name);
  expect(names.filter((name) => !given.includes(`${name}: `))).toEqual([
    'DKIM-Signature',
    'DKIM-Signature',
    'Received',
    'Date',
    'Message-ID',
  ]);
});

/** Runs opendkim's tool. Needs root, as Debian's CI machines give it. */
async function opendkim(message: string): ReturnType<typeof runWithOwnDns> {
  await using _dns = await dnsServer(world.dns.zone, { host: NAME_SERVER, port: 53 });
  return await runWithOwnDns(['/usr/sbin/opendkim-testmsg'], Buffer.from(message, 'latin1'));
}
