import { describe, expect, test } from 'vitest';

import { parseClientFinal, parseClientFirst, provenKey, serverFinal, serverFirst } from '../../../mail/login/scram.ts';
import { makeVerifier } from '../../../mail/login/verifier.ts';

// RFC 7677 3
const SALT = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
const NONCE = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
const SERVER_FIRST = `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`;
const CLIENT_FINAL = `c=biws,r=${NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`;
const SERVER_FINAL = 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=';

test('the exchange of RFC 7677 comes out as printed there', async () => {
  const first = parseClientFirst('n,,n=user,r=rOprNGfwEbeRWgbNEkqO');
  const final = parseClientFinal(CLIENT_FINAL);
  if (first.kind === 'malformed' || final.kind === 'malformed') throw new Error('did not parse');
  expect(first).toMatchObject({ user: 'user', nonce: 'rOprNGfwEbeRWgbNEkqO', gs2Header: 'n,,', authzid: undefined });
  expect(final).toMatchObject({ nonce: NONCE, channelBinding: Buffer.from('n,,') });
  expect(serverFirst(NONCE, SALT, 4096)).toBe(SERVER_FIRST);
  const verifier = await makeVerifier('pencil', SALT);
  const authMessage = `${first.bare},${SERVER_FIRST},${final.withoutProof}`;
  expect(provenKey([verifier], authMessage, final.proof)).toBe(verifier.storedKey);
  expect(serverFinal(verifier, authMessage)).toBe(SERVER_FINAL);
  expect(provenKey([await makeVerifier('pencils', SALT)], authMessage, final.proof)).toBeUndefined();
  expect(provenKey([verifier], `${authMessage} `, final.proof)).toBeUndefined();
});

describe('a first message', () => {
  test.each([
    ['y,,n=user,r=abc', { user: 'user', gs2Header: 'y,,' }],
    ['n,a=other,n=user,r=abc', { authzid: 'other', gs2Header: 'n,a=other,' }],
    ['n,,n=a=2Cb=3Dc,r=abc', { user: 'a,b=c' }],
    ['n,,n=user,r=abc,x=extension', { nonce: 'abc' }],
    ['n,,n=J\u00fcrgen@box.test,r=abc', { user: 'J\u00fcrgen@box.test' }],
  ])('%j is understood', (text, expected) => {
    expect(parseClientFirst(text)).toMatchObject({ kind: 'client-first', ...expected });
  });
});
