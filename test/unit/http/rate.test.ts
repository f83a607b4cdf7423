import { expect, test } from 'vitest';
import { HttpLimits } from '../../../src/http/rate-limits.ts';
import { testGuard } from '../../support/guard.ts';

test('where a token or key is used that holds nobody is banned for what a neighbour does', () => {
  const now = Date.UTC(2026, 0, 1);
  const guard = testGuard(
    { offences: { logins: 100, recipients: 35, scans: 30, loitering: 150 } },
    { clock: () => now },
  );
  const limits = new HttpLimits(() => false, guard);
  limits.take('192.0.2.1', 'key_1', now);
  limits.take('192.0.2.2', undefined, now);
  for (let i = 0; i < 30; i++) for (const ip of ['192.0.2.1', '192.0.2.2']) guard.addOffence(ip, 'scans');
  expect(guard.banned('192.0.2.1')).toBeUndefined();
  expect(guard.banned('192.0.2.2')).toBeDefined();
});
