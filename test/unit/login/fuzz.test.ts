import { expect, test } from 'vitest';

import { parseClientFinal, parseClientFirst } from '../../../mail/login/scram.ts';
import { loginWorld, PEER, scram, start } from '../../support/login-world.ts';
import * as fc from '../../support/fast-check.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const ME = 'me@box.test';
const bytes = fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets));
const pieces = fc
  .array(
    fc.constantFrom(
      ME,
      'right',
      '\0',
      ',',
      '=',
      'n=',
      'r=',
      'c=biws',
      'p=',
      'n,,',
      'y,,',
      'a=',
      '=2C',
      '=3D',
      'p=tls-exporter,,',
      '\x01auth=Bearer a',
      '\x01\x01',
      'user=me@box.test',
      '\u00e9',
      ' ',
    ),
  )
  .map((parts) => Buffer.from(parts.join('')));
const responses = fc.array(fc.oneof(bytes, pieces), { minLength: 1, maxLength: 4 });

test.each(['PLAIN', 'LOGIN', 'SCRAM-SHA-256', 'SCRAM-SHA-256-PLUS', 'OAUTHBEARER', 'XOAUTH2'])(
  'nothing random makes %s throw or let in',
  async (mechanism) => {
    const bearer = { find: () => Promise.resolve({ kind: 'wrong' as const }), isValid: () => Promise.resolve(false) };
    const { logins, credentials } = loginWorld({ exempt: () => true, bearer });
    await credentials.add(ME, 'a password that no fuzzer writes');
    const peer = { ...PEER, channelBinding: () => Buffer.alloc(32) };
    const property = fc.asyncProperty(responses, async (sent) => {
      const exchange = start(logins, mechanism, peer);
      for (const response of sent) expect((await exchange.step(response)).kind).not.toBe('in');
    });
    await fc.assert(property, { seed: 4616, numRuns: 400 });
  },
);

test('a SCRAM proof with any one character changed lets nobody in', async () => {
  const { logins, credentials } = loginWorld({ exempt: () => true });
  await credentials.add(ME, 'right');
  const property = fc.asyncProperty(fc.nat(200), fc.integer({ min: 32, max: 126 }), async (at, code) => {
    let changed = true;
    const final = (message: string) => {
      const place = at % message.length;
      const bent = message.slice(0, place) + String.fromCharCode(code) + message.slice(place + 1);
      changed = bent !== message;
      return bent;
    };
    expect((await scram(logins, ME, 'right', PEER, { final })).kind === 'in').toBe(!changed);
  });
  await fc.assert(property, { seed: 5802, numRuns: 300 });
});

test.each([',', '=', 'n,,n=', 'x=y,', 'r=,', ',p=', 'c=biws,r=a,p='])(
  'parsing many of %j takes time by their number',
  async (part) => {
    const parse = (count: number): void => {
      const text = part.repeat(count);
      expect(parseClientFirst(text).kind).toBe('malformed');
      expect(parseClientFinal(text).kind).toBe('malformed');
    };
    expect(await growth(parse, 3000)).toBeLessThan(PROPORTIONAL);
  },
);
