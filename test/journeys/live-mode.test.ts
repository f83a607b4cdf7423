import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { dnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/free-port.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));

test('mailstead setup says which step is open, and goes on where it ended', async () => {
  await using dns = await dnsServer({ 'A mail.live.example': ['127.0.0.1'] });
  await using box = await startBox({ hostname: 'mail.live.example', settings: { RESOLVERS: dns.address } });
  // The DNS answers in this process, so the command runs beside it.
  const setup = async (...args: string[]) => {
    const child = spawn(command, ['setup', '--data-dir', box.dataDir, '--json', ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    const stdout = await text(child.stdout);
    const [status] = (await ended) as [number];
    const { steps } = JSON.parse(stdout) as { steps: { step: string; state: string; detail: string }[] };
    return { status, steps: steps.map(({ step, state }) => `${step} ${state}`), detail: steps[0]?.detail ?? '' };
  };
  const before = await setup();
  expect(before).toMatchObject({ status: 1, steps: ['owner open', 'domain open'] });
  expect(before.detail).toMatch(/\/auth\/setup\?token=\w+$/);
  const after = await setup('--domain', 'shop.example', '--mailbox', 'ann');
  expect(after).toMatchObject({
    status: 1,
    steps: ['owner open', 'domain done', 'dns open', 'mailbox done', 'phone open'],
  });
  expect((await setup()).steps).toEqual(after.steps);
});

// The default of live mode is both families on one port: `::` must not take IPv4 along and then find it taken.
test('every endpoint opens on 0.0.0.0 and :: at once', async () => {
  const endpoints = ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'HTTP', 'HTTPS'];
  const ports: Record<string, string> = {};
  for (const door of endpoints) ports[`${door}_PORT`] = String(await freePort());
  await using box = await startBox({
    hostname: 'mail.live.example',
    settings: { ...ports, LISTEN: '0.0.0.0,::' },
  });
  expect(box.port('smtp')).toBe(Number(ports.SMTP_PORT));
  expect(box.port('imaps')).toBe(Number(ports.IMAPS_PORT));
  expect(box.printed.join('\n')).toContain('self-signed');
});
