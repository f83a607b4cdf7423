import { expect, test } from 'vitest';
import type { Offence } from '../../../mail/guard/types.ts';
import { loginWorld, PEER, plain, scram } from '../../support/login-world.ts';

const WHY = 'it is stopped';

test('a disabled password is refused with the reason each time, and counts as no failure', async () => {
  const offences: string[] = [];
  const guard = {
    addOffence: (ip: string, what: Offence) => offences.push(`${ip} ${what}`),
    welcome: () => undefined,
  };
  let stopped = true;
  const queried: unknown[] = [];
  const world = loginWorld({
    guard,
    barred: async (password) => {
      queried.push(password);
      return Promise.resolve(stopped ? WHY : undefined);
    },
  });
  const { account, credentials } = await world.credentials.add('me@box.test', 'secret-secret');
  for (let i = 0; i < 30; i++) {
    expect(await plain(world.logins, 'me@box.test', 'secret-secret')).toEqual({ kind: 'barred', why: WHY });
  }
  expect(await scram(world.logins, 'me@box.test', 'secret-secret')).toMatchObject({ kind: 'barred' });
  expect(await world.logins.password('me@box.test', 'wrong-wrong', PEER)).toEqual({ kind: 'wrong' });
  expect(queried[0]).toEqual({ account, credential: credentials[0]?.id });
  expect(queried).toHaveLength(31);
  expect(offences).toEqual([`${PEER.ip} logins`]);
  expect(world.waits).toHaveLength(1);
  stopped = false;
  expect(await plain(world.logins, 'me@box.test', 'secret-secret')).toMatchObject({ kind: 'in' });
});
