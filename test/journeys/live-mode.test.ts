import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';

/** A port that nothing has now. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// The default of live mode is both families on one port: `::` must not take IPv4 along and then find it taken.
test('every door opens on 0.0.0.0 and :: at once', async () => {
  const doors = ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'HTTP', 'HTTPS'];
  const ports: Record<string, string> = {};
  for (const door of doors) ports[`${door}_PORT`] = String(await freePort());
  await using box = await startBox({
    hostname: 'mail.live.example',
    settings: { ...ports, LISTEN: '0.0.0.0,::' },
  });
  expect(box.port('smtp')).toBe(Number(ports.SMTP_PORT));
  expect(box.port('imaps')).toBe(Number(ports.IMAPS_PORT));
  expect(box.printed.join('\n')).toContain('self-signed');
});
