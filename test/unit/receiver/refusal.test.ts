import { expect, test } from 'vitest';
import { busyRefusal, earlyRefusal } from '../../../mail/receiver/refusal.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';

test.each([
  ['disk-full', 452, 'The disk is nearly full, try again later'],
  ['database', 451, 'The database is unavailable, try again later'],
  ['bucket', 451, 'The storage of large messages is unavailable, try again later'],
] as const)('before the octets, a store that is busy by %s answers %d and says why', (reason, code, text) => {
  expect(earlyRefusal(new StoreBusy(reason, ''))).toMatchObject({ code, text });
});

test('after the octets, a full disk is said to be full', () => {
  expect(busyRefusal(new StoreBusy('disk-full', ''))).toMatchObject({
    code: 452,
    text: 'The disk is full, try again later',
  });
});
