import { expect, test } from 'vitest';

import { loginOf, loginWorld, PEER, plain, scram, start } from '../../support/login-world.ts';

const ME = 'me@box.test';
const PASSWORD = 'right-password';

const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
const controls = [...Array.from({ length: 31 }, (_, i) => i + 1), 0x7f, 0x85, 0x9f];

/** Everything that must not let anybody in, as [mechanism, responses]. All with the right password where one is given. */
const REFUSED: Array<[string, Array<Buffer | string>]> = [
  // PLAIN: not exactly two NULs
  ...['', PASSWORD, `${ME}\0${PASSWORD}`, `\0${ME}${PASSWORD}`, `\0${ME}\0${PASSWORD}\0`, `\0\0${ME}\0${PASSWORD}`].map(
    (text): [string, string[]] => ['PLAIN', [text]],
  ),
  ...[0, 1, 3, 4, 100, 12_000].map((n): [string, string[]] => ['PLAIN', [ME + '\0'.repeat(n) + PASSWORD]]),
  // PLAIN: empty parts, other users, near misses
  ...['\0\0', `\0${ME}\0`, `\0\0${PASSWORD}`, `${ME}\0\0${PASSWORD}`].map((text): [string, string[]] => [
    'PLAIN',
    [text],
  ]),
  ...[
    'you@box.test',
    'me',
    'me@',
    '@box.test',
    'root',
    'me@box.test.',
    'admin@box.test',
    ' ',
    `${ME} `,
    'x'.repeat(999),
  ].map((authzid): [string, string[]] => ['PLAIN', [`${authzid}\0${ME}\0${PASSWORD}`]]),
  ...[
    'me',
    'me@',
    '@box.test',
    `${ME}.`,
    ` ${ME}`,
    `${ME} `,
    'me@box',
    'me@@box.test',
    '<me@box.test>',
    '"me"@box.test>',
    `${ME},`,
  ].map((user): [string, string[]] => ['PLAIN', [`\0${user}\0${PASSWORD}`]]),
  ...[` ${PASSWORD}`, `${PASSWORD} `, PASSWORD.toUpperCase(), PASSWORD.slice(1), `${PASSWORD}x`, '*', '=', '%00'].map(
    (password): [string, string[]] => ['PLAIN', [`\0${ME}\0${password}`]],
  ),
  // Control characters anywhere
  ...controls.map((code): [string, string[]] => ['PLAIN', [`\0${ME}\0${PASSWORD}${String.fromCodePoint(code)}`]]),
  ...controls.map((code): [string, string[]] => ['PLAIN', [`\0${ME}${String.fromCodePoint(code)}\0${PASSWORD}`]]),
  ...['\u200e', '\u202e', '\ue000', '\ufffe', '\u{e0041}', '\ufffd'].map((sign): [string, string[]] => [
    'PLAIN',
    [`\0${ME}\0${PASSWORD}${sign}`],
  ]),
  // Not UTF-8
  ...[[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf8, 0x88]].map((bytes): [string, Buffer[]] => [
    'PLAIN',
    [Buffer.concat([Buffer.from(`\0${ME}\0${PASSWORD}`), Buffer.from(bytes)])],
  ]),
  // 12 KB
  ...[12_287, 12_288, 12_289, 65_536].map((size): [string, string[]] => ['PLAIN', [`\0${ME}\0${'x'.repeat(size)}`]]),
  ['PLAIN', [`${'x'.repeat(12_289)}\0${ME}\0${PASSWORD}`]],
  // LOGIN
  ...['', 'me', 'you@box.test', `${ME}\0`, `\0${ME}`, `${ME}\r\n`].map((user): [string, string[]] => [
    'LOGIN',
    [user, PASSWORD],
  ]),
  ...['', ' ', `${PASSWORD}\0`, `\0${PASSWORD}`, `${PASSWORD}\n`, 'x'.repeat(13_000)].map(
    (password): [string, string[]] => ['LOGIN', [ME, password]],
  ),
  ['LOGIN', [Buffer.from([0xff]), PASSWORD]],
  ['LOGIN', [ME, Buffer.from([0xff])]],
  // SCRAM first messages
  ...[
    '',
    ',',
    'n',
    'n,',
    'n,,',
    'x,,n=me@box.test,r=abc',
    'p=tls-unique,,n=me@box.test,r=abc',
    'p=tls-exporter,,n=me@box.test,r=abc',
    'n,,r=abc,n=me@box.test',
    'n,,n=,r=abc',
    'n,,n=me@box.test',
    'n,,n=me@box.test,r=',
    'n,,n=me@box.test,r= ',
    'n,,n=a=b,r=abc',
    'n,,n=a=2c,r=abc',
    'n,,n=a=,r=abc',
    'n,,m=must,n=me@box.test,r=abc',
    'n,,n=me@box.test,r=abc,',
    'n,,n=me@box.test,r=abc,1=x',
    'n,a=,n=me@box.test,r=abc',
    'n,me,n=me@box.test,r=abc',
    'n,a=x=y,n=me@box.test,r=abc',
    'N,,n=me@box.test,r=abc',
    ' n,,n=me@box.test,r=abc',
    'n,,n=me@box.test,r=a\u007fb',
    'n,,n=me@box.test,r=a\0b',
    'n,,n=me\0@box.test,r=abc',
    `n,,n=me@box.test,r=${'x'.repeat(1025)}`,
    `n,,n=${'x'.repeat(13_000)},r=abc`,
    `n,,n=me@box.test,r=abc${',x=y'.repeat(3000)},`,
  ].map((text): [string, string[]] => ['SCRAM-SHA-256', [text, '']]),
  // SCRAM final messages
  ...[
    '',
    'c=biws',
    'c=biws,r=abc,p=',
    'c=biws,r=abc',
    'p=AAAA',
    'c=biws,r=abc,p=AAAA',
    `c=biws,r=abc,p=${'A'.repeat(43)}=`,
    'c=*,r=abc,p=AAAA',
    `c=eSws,r=abc,p=${'A'.repeat(43)}=`,
    `r=abc,c=biws,p=${'A'.repeat(43)}=`,
    `c=biws,r=abcd,p=${'A'.repeat(43)}`,
    `c=biws,r=abc,p=${'A'.repeat(88)}`,
    `c=,r=,p=${'A'.repeat(43)}=`,
    `c=biws,r=abc,9=x,p=${'A'.repeat(43)}=`,
    'x'.repeat(13_000),
    '*',
    '=',
  ].map((text): [string, string[]] => ['SCRAM-SHA-256', [`n,,n=${ME},r=abc`, text]]),
  ...letters.map((letter): [string, string[]] => ['SCRAM-SHA-256', [`${letter}=x,,n=${ME},r=abc`, '']]),
];

test('there are 200 ways to say it wrong', () => {
  expect(REFUSED.length).toBeGreaterThanOrEqual(200);
});

test.each(REFUSED.map(([mechanism, responses], i) => [i, mechanism, responses] as const))(
  'wrong way %i, %s, lets nobody in and ends the exchange',
  async (_, mechanism, responses) => {
    const { logins, credentials } = loginWorld();
    await credentials.add(ME, PASSWORD);
    await credentials.add('you@box.test', 'other-password');
    const exchange = start(logins, mechanism);
    let step = await exchange.step(Buffer.from(responses[0] ?? ''));
    for (const response of responses.slice(1))
      if (step.kind === 'challenge') step = await exchange.step(Buffer.from(response));
    // An empty LOGIN user name is taken for no initial response: what follows is asked for once more, and then wrong.
    if (step.kind === 'challenge') step = await exchange.step(Buffer.from('nothing'));
    expect(['wrong', 'malformed']).toContain(step.kind);
    expect(await exchange.step(Buffer.from(`\0${ME}\0${PASSWORD}`))).toMatchObject({ kind: 'malformed' });
    expect(credentials.uses).toEqual([]);
  },
);

test('PLAIN with the authorization name of another user is wrong, with its own it is fine', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  const attempt = (text: string) => start(logins, 'PLAIN').step(Buffer.from(text));
  expect(await attempt(`you@box.test\0${ME}\0${PASSWORD}`)).toEqual({ kind: 'wrong' });
  expect(await attempt(`Me@BOX.test\0${ME}\0${PASSWORD}`)).toMatchObject({ kind: 'in' });
});

test('PLAIN is asked for when there is no initial response', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  const exchange = start(logins, 'plain');
  expect(await exchange.step(undefined)).toEqual({ kind: 'challenge', data: Buffer.alloc(0) });
  expect(await exchange.step(Buffer.from(`\0ME@Box.Test\0${PASSWORD}`))).toMatchObject({
    kind: 'in',
    login: { account: 1 },
  });
});

test('LOGIN asks for both, and takes a user name that came at once', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  const prompted = start(logins, 'LOGIN');
  expect(await prompted.step(undefined)).toEqual({ kind: 'challenge', data: Buffer.from('Username:') });
  expect(await prompted.step(Buffer.from(ME))).toEqual({ kind: 'challenge', data: Buffer.from('Password:') });
  expect(await prompted.step(Buffer.from(PASSWORD))).toMatchObject({ kind: 'in' });
  const initial = start(logins, 'LOGIN');
  expect(await initial.step(Buffer.from(ME))).toEqual({ kind: 'challenge', data: Buffer.from('Password:') });
  expect(await initial.step(Buffer.from(PASSWORD))).toMatchObject({ kind: 'in' });
});

test.each([
  ['n,,', {}],
  ['y,,', {}],
  [`n,a=${ME},`, {}],
])('SCRAM with gs2-header %s lets the owner in', async (gs2) => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  expect(await scram(logins, ME, PASSWORD, PEER, { gs2 })).toMatchObject({ kind: 'in', login: { account: 1 } });
});

test.each<[string, (final: string) => string, string]>([
  ['another proof', (final) => final.replace(/p=.*/, `p=${Buffer.alloc(32, 1).toString('base64')}`), 'wrong'],
  ['another nonce', (final) => final.replace('r=client', 'r=CLIENT'), 'malformed'],
  ['a shorter nonce', (final) => final.replace(/r=[^,]*/, 'r=clientnonce'), 'malformed'],
  ['another channel binding', (final) => final.replace('c=biws', 'c=eSws'), 'malformed'],
  ['an extension in between', (final) => final.replace(',p=', ',x=y,p='), 'wrong'],
])('SCRAM with %s is refused', async (_, final, kind) => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  expect(await scram(logins, ME, PASSWORD, PEER, { final })).toMatchObject({ kind });
  expect(credentials.uses).toEqual([]);
});

test('SCRAM for another authorization name is wrong, and data after the signature is malformed', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, PASSWORD);
  expect(await scram(logins, ME, PASSWORD, PEER, { gs2: 'n,a=you@box.test,' })).toEqual({ kind: 'wrong' });
  expect(await scram(logins, ME, PASSWORD, PEER, { ack: Buffer.from('x') })).toMatchObject({ kind: 'malformed' });
});

test('a user name with a comma and an equals sign survives SCRAM', async () => {
  const { logins, credentials } = loginWorld();
  await credentials.add('"a,b=c"@box.test', PASSWORD);
  expect(await scram(logins, '"a,b=c"@box.test', PASSWORD)).toMatchObject({ kind: 'in' });
});

test.each([
  ['p\u00e4ss', 'pa\u0308ss'],
  ['\u2168', 'IX'],
  ['I\u00adX', 'IX'],
  ['a\u00a0b', 'a b'],
])('passwords %j and %j are the same after preparation', async (stored, typed) => {
  const { logins, credentials } = loginWorld();
  await credentials.add(ME, stored);
  expect(loginOf(await plain(logins, ME, typed)).account).toBe(1);
});
