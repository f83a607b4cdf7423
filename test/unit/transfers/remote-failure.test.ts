import { describe, expect, test } from 'vitest';
import {
  connectFailure,
  isTemporary,
  LoginRefused,
  RemoteUnavailable,
} from '../../../mail/transfer/imap/remote-failure.ts';
import { ImportStopped } from '../../../mail/transfer/importer.ts';
import { LookupFailed, patienceFor } from '../../../src/transfers/import-failure.ts';
import type { ImapSpec } from '../../../src/transfers/import-spec.ts';

/** An error as imapflow makes it of a login that did not succeed. */
const loginError = (fields: object): Error =>
  Object.assign(new Error('Command failed'), { authenticationFailed: true, ...fields });

describe('a login is refused for good', () => {
  test.each([
    ['RFC 5530', { responseStatus: 'NO', serverResponseCode: 'AUTHENTICATIONFAILED', responseText: 'Wrong password' }],
    ['a text without a code', { responseStatus: 'NO', responseText: 'LOGIN failed.' }],
    [
      'a code that says more than its text',
      { responseStatus: 'NO', serverResponseCode: 'AUTHENTICATIONFAILED', responseText: 'Invalid. Try again.' },
    ],
  ])('%s', (_what, fields) => {
    expect(connectFailure(loginError(fields))).toBeInstanceOf(LoginRefused);
  });

  test('a server that offers no login', () => {
    expect(connectFailure(new Error('Login is disabled'))).toBeInstanceOf(LoginRefused);
  });
});

describe('a login that did not succeed is tried again', () => {
  test.each([
    ['the connection ended during it', { code: 'NoConnection' }],
    ['the connection ended before it', { message: 'Already logged out' }],
    [
      'Dovecot restarts',
      { responseStatus: 'NO', serverResponseCode: 'UNAVAILABLE', responseText: 'Temporary failure' },
    ],
    [
      'Dovecot has too many connections',
      { responseStatus: 'NO', serverResponseCode: 'LIMIT', responseText: 'Maximum' },
    ],
    [
      'an error of the server',
      { responseStatus: 'NO', serverResponseCode: 'SERVERBUG', responseText: 'Internal error' },
    ],
    [
      'Gmail limits traffic',
      { responseStatus: 'NO', serverResponseCode: 'OVERQUOTA', responseText: 'Account exceeded' },
    ],
    [
      'Gmail limits connections',
      { responseStatus: 'NO', responseText: 'Too many simultaneous connections. (Failure)' },
    ],
    ['Exchange', { responseStatus: 'BAD', responseText: 'User is authenticated but not connected.' }],
    ['Exchange slows down', { responseStatus: 'BAD', code: 'ETHROTTLE', responseText: 'Request is throttled' }],
  ])('%s', (_what, fields) => {
    const error = loginError(fields);
    const failure = connectFailure(error);
    expect(failure).not.toBeInstanceOf(LoginRefused);
    expect(patienceFor(failure, SPEC, false)).toBe(HOUR);
  });
});

const HOUR = 3_600_000;
const SPEC = { kind: 'imap', auth: 'password', host: 'imap.test', user: 'me' } as ImapSpec;

test('a command that is refused without a reason that passes is not tried for days', () => {
  expect(isTemporary({ responseStatus: 'NO', serverResponseCode: 'NOPERM', responseText: 'Denied' })).toBe(false);
});

test('how long a failure may last', () => {
  expect(patienceFor(new RemoteUnavailable('x'), SPEC, true)).toBe(7 * 24 * HOUR);
  expect(patienceFor(new LookupFailed('x'), SPEC, true)).toBe(7 * 24 * HOUR);
  expect(patienceFor(new ImportStopped('the disk is full'), SPEC, false)).toBe(7 * 24 * HOUR);
  expect(patienceFor(new LoginRefused('x'), SPEC, false)).toBeUndefined();
  expect(patienceFor(new LoginRefused('x'), SPEC, true)).toBe(2 * HOUR);
  expect(patienceFor(new LoginRefused('x'), { ...SPEC, auth: 'oauth' }, true)).toBeUndefined();
  expect(patienceFor(Object.assign(new Error('x'), { code: 'ENOENT' }), SPEC, true)).toBeUndefined();
});
