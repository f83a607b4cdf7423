import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { freePort } from '../support/free-port.ts';

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
