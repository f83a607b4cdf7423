import { describe, expect, test, vi } from 'vitest';
import type { BearerOutcome } from '../../../mail/login/bearer.ts';
import type { Login } from '../../../mail/login/types.ts';
import { loginOf, loginWorld, PEER, start } from '../../support/login-world.ts';

const USER = 'me@box.test';
const ADDRESS = { local: 'me', domain: 'box.test' };
const LOGIN: Login = {
  account: 1,
  address: ADDRESS,
  credential: 0,
  token: { id: 5, actor: 'tok_5', protocol: 'imap' },
};

function world(answer: BearerOutcome = { kind: 'token', login: LOGIN }) {
  const queried: { token: string; user: string | undefined }[] = [];
  let valid = true;
  const bearer = {
    find: ({ token, user }: { token: string; user: string | undefined }) => {
      queried.push({ token, user });
      return Promise.resolve(answer);
    },
    isValid: () => Promise.resolve(valid),
  };
  return { ...loginWorld({ bearer }), queried, revoke: () => (valid = false) };
}

const oauth = (token: string, gs2 = `n,a=${USER},`) =>
  Buffer.from(`${gs2}\x01host=x\x01port=143\x01auth=Bearer ${token}\x01\x01`);
const xoauth2 = (token: string) => Buffer.from(`user=${USER}\x01auth=Bearer ${token}\x01\x01`);

describe.each([
  ['OAUTHBEARER', oauth],
  ['XOAUTH2', xoauth2],
])('%s', (mechanism, response) => {
  test('logs in with a token, also after an empty challenge', async () => {
    const { logins, queried } = world();
    expect(loginOf(await start(logins, mechanism).step(response('abc')))).toEqual(LOGIN);
    const exchange = start(logins, mechanism);
    expect(await exchange.step(undefined)).toEqual({ kind: 'challenge', data: Buffer.alloc(0) });
    expect(loginOf(await exchange.step(response('abc')))).toEqual(LOGIN);
    expect(queried).toEqual([
      { token: 'abc', user: USER },
      { token: 'abc', user: USER },
    ]);
  });

  test.each([
    ['wrong', { kind: 'wrong' }, 'invalid_token'],
    ['not for this', { kind: 'barred', why: 'The token has no action "send"' }, 'insufficient_scope'],
  ] as const)('a token that is %s ends with an error that the client answers', async (_, answer, status) => {
    const { logins } = world(answer);
    const exchange = start(logins, mechanism);
    const step = await exchange.step(response('abc'));
    expect(step.kind === 'challenge' && JSON.parse(step.data.toString())).toMatchObject({ status });
    expect(await exchange.step(Buffer.from('\x01'))).toEqual(answer);
  });

  test('the token of a mailbox is checked like its password', async () => {
    const { logins, credentials } = world({ kind: 'password', user: USER, password: 'secret' });
    const {
      credentials: [own],
    } = await credentials.add(USER, 'secret');
    expect(loginOf(await start(logins, mechanism).step(response('abc'))).credential).toBe(own?.id);
  });

  test('wrong tokens are counted, until they are not looked at any more', async () => {
    const { logins, queried } = world({ kind: 'wrong' });
    for (let n = 0; n < 40; n += 1) await start(logins, mechanism).step(response('abc'));
    expect(queried.length).toBeLessThan(40);
    const last = await start(logins, mechanism).step(response('abc'));
    expect(last).toMatchObject({ kind: 'throttled' });
  });

  test.each([
    '',
    'abc',
    'n,,',
    `user=${USER}`,
    `user=${USER}\x01\x01`,
    'n,,\x01auth=Basic abc\x01\x01',
    'n,,\x01auth=Bearer \x01\x01',
    'y,,\x01auth=Bearer a\x01\x01',
    `user=\x01auth=Bearer a\x01\x01`,
    `user=a\x01auth=Bearer a\x01`,
    'n,,\x01auth=Bearer a b\x01\x01',
  ])('malformed: %j', async (text) => {
    const { logins } = world();
    expect(await start(logins, mechanism).step(Buffer.from(text))).toMatchObject({ kind: 'malformed' });
  });

  test('is not offered without a source of tokens, nor without encryption', () => {
    expect(loginWorld().logins.start(mechanism, PEER)).toBeUndefined();
    expect(world().logins.start(mechanism, { ...PEER, secure: false })).toBeUndefined();
  });
});

test('the token of one mailbox does not open another', async () => {
  const { logins, credentials } = world({ kind: 'password', user: 'other@box.test', password: 'secret' });
  await credentials.add('other@box.test', 'secret');
  const exchange = start(logins, 'XOAUTH2');
  expect((await exchange.step(xoauth2('abc'))).kind).toBe('challenge');
  expect(await exchange.step(Buffer.alloc(0))).toEqual({ kind: 'wrong' });
});

test('OAUTHBEARER without an authorization identity names no mailbox', async () => {
  const { logins, queried } = world();
  await start(logins, 'OAUTHBEARER').step(oauth('abc', 'n,,'));
  await start(logins, 'OAUTHBEARER').step(oauth('abc', 'n,a=a=2Cb=3D@box.test,'));
  expect(queried.map(({ user }) => user)).toEqual([undefined, 'a,b=@box.test']);
});

test('a session by token ends within a minute after the token became invalid', async () => {
  vi.useFakeTimers();
  try {
    const { logins, revoke } = world();
    const end = vi.fn();
    const stop = logins.onRevoked(LOGIN, end);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(end).not.toHaveBeenCalled();
    revoke();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(end).toHaveBeenCalled();
    stop();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
