import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Log } from '../../../mail/log.ts';
import { quiet } from '../../../mail/log.ts';
import { loginOf, loginWorld, PEER, plain } from '../../support/login-world.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

test('a session ends within a second after its app password expires, once, and others go on', async () => {
  const world = loginWorld();
  const expiresAt = world.now + 60_000;
  await world.credentials.add('me@box.test', 'lasting-password', { password: 'passing-password', expiresAt });
  const ended: string[] = [];
  const watch = async (password: string, name = password) =>
    world.logins.onRevoked(loginOf(await plain(world.logins, 'me@box.test', password)), () => ended.push(name));
  await watch('lasting-password');
  await watch('passing-password');
  const left = await watch('passing-password', 'one that left');
  left();
  vi.advanceTimersByTime(59_000);
  expect(ended).toEqual([]);
  world.now = expiresAt;
  vi.advanceTimersByTime(1000);
  vi.advanceTimersByTime(10_000);
  expect(ended).toEqual(['passing-password']);
  expect(vi.getTimerCount()).toBe(0);
  expect((await plain(world.logins, 'me@box.test', 'passing-password')).kind).toBe('wrong');
});

test('a JMAP login is logged once per credential and minute; other protocols and failures are logged each time', async () => {
  const lines: object[] = [];
  const log: Log = { ...quiet, info: (fields) => void lines.push(fields) };
  const world = loginWorld({ log });
  await world.credentials.add('me@box.test', { password: 'a-long-password', scopes: ['imap', 'smtp', 'jmap'] });
  const jmap = { ...PEER, protocol: 'jmap' } as const;
  for (let i = 0; i < 10; i++) await world.logins.password('me@box.test', 'a-long-password', jmap);
  expect(lines).toHaveLength(1);
  world.now += 60_000;
  await world.logins.password('me@box.test', 'a-long-password', jmap);
  expect(lines).toHaveLength(2);
  for (let i = 0; i < 3; i++) await world.logins.password('me@box.test', 'a-long-password', PEER);
  for (let i = 0; i < 3; i++) await world.logins.password('me@box.test', 'wrong', jmap);
  expect(lines).toHaveLength(8);
});
