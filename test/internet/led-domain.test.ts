import { spawn } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createSecureResolver } from '../../mail/dns/secure-resolver.ts';
import { AT } from '../support/network-namespace.ts';
import { HOST, toyInternet, type ToyInternet, ZONE } from './toy-world.ts';

const LED = 'led.test';
const KEYS = `dkim.${HOST}`;

interface Check {
  name: string;
  status: string;
  why: string;
}

test('a domain that is led here, and the keys of the host, are validated from the root down: Postfix verifies the server by DANE', async () => {
  const listen = `${AT.box},${AT.box6}`;
  await using world = await toyInternet({ MAILSTEAD_DNS_PORT: '53', MAILSTEAD_LISTEN: listen });
  const { provider, registry } = world;
  const ask: ToyInternet['ask'] = (operation, input) => world.ask(operation, input);
  await provider.add(ZONE, KEYS, `60 NS ${HOST}.`);
  await ask('add_email_domain', { domain: LED });
  const { wantedNameServers } = await ask('apply_managed_dns', { domain: LED });
  const [own = ''] = wantedNameServers as string[];
  await registry.add('test', LED, `60 NS ${own}.`);
  const interval = 5_000;
  const applied = () => ask('apply_managed_dns', { domain: LED });
  await expect.poll(applied, { interval }).toMatchObject({ managed: true, ds: expect.any(String) as string });
  const { ds } = await applied();
  await expect.poll(() => ask('verify_email_domain', { domain: LED }), { interval }).toMatchObject({ verified: true });
  expect(await mxOf(LED), 'not signed for anybody').toMatchObject({ kind: 'found', secure: false });
  expect((await line(world, `${LED}: dnssec`))?.why).toContain(`publish "${LED}. DS ${String(ds)}" there`);

  await registry.add('test', LED, `60 DS ${String(ds)}`);
  await provider.add(ZONE, `_25._tcp.${HOST}`, `60 CNAME _25._tcp.${KEYS}.`);
  const shown = (await line(world, `${KEYS}: dnssec`))?.why ?? '';
  await provider.add(ZONE, KEYS, `60 DS ${/\. DS ([^"]*)"/.exec(shown)?.[1] ?? expect.fail(shown)}`);
  await expect.poll(() => mxOf(LED), { interval }).toMatchObject({ kind: 'found', secure: true });
  const ok = async (name: string) => (await line(world, name))?.why;
  await expect.poll(() => ok('DANE'), { interval }).toContain('match the certificate in use');
  for (const zone of [LED, KEYS]) expect(await ok(`${zone}: dnssec`)).toContain('its records are validated');

  const said = await finger(LED);
  expect(said).toMatch(new RegExp(`Verified TLS connection established to ${HOST}\\[${AT.box}\\]:25`));
});

const mxOf = (name: string) => createSecureResolver({ servers: [{ ip: AT.resolver, port: 53 }] }).mx(name);

async function line(world: ToyInternet, name: string): Promise<Check | undefined> {
  const { checks } = (await world.ask('run_doctor')) as { checks: Check[] };
  return checks.find((one) => one.name === name);
}

/** Connects as Postfix does that demands DANE, by the resolver of this internet. */
async function finger(domain: string): Promise<string> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'finger-'));
  const resolvConf = join(directory.path, 'resolv.conf');
  await writeFile(resolvConf, `nameserver ${AT.resolver}\noptions trust-ad edns0\n`);
  await writeFile(
    join(directory.path, 'main.cf'),
    'compatibility_level = 3.6\nmyhostname = mx.dane.test\ninet_protocols = ipv4\n',
  );
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const command = ['/usr/sbin/posttls-finger', '-c', '-t30', '-T30', '-l', 'dane', '-L', 'summary', domain];
  const child = spawn('/usr/bin/unshare', ['-m', 'sh', '-c', script, resolvConf, ...command], {
    env: { PATH: process.env['PATH'] ?? '', MAIL_CONFIG: directory.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return out + errors;
}
