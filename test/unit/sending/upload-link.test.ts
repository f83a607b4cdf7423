import { expect, test } from 'vitest';
import { readUploadTicket, type UploadGrant, signUploadTicket } from '../../../src/sending/upload-link.ts';

const KEY = Buffer.alloc(32, 7);
const PLACE: UploadGrant = {
  organization: 1,
  credential: 'tok_1',
  name: 'up_1',
  filename: 'ü.txt',
  contentType: 'text/plain',
  size: 3,
  sha256: 'a'.repeat(64),
  expires: 1000,
};

test('a link is valid until it expires, for its file only', () => {
  const ticket = signUploadTicket(KEY, PLACE);
  expect(ticket).toMatch(/^[\w-]+\.[\w-]+$/);
  expect(readUploadTicket(KEY, ticket, 999)).toEqual(PLACE);
  expect(readUploadTicket(KEY, ticket, 1000)).toBeUndefined();
});

test('a link signed by another key, altered or malformed is invalid', () => {
  const [said = '', signed = ''] = signUploadTicket(KEY, PLACE).split('.');
  const other = Buffer.from(JSON.stringify({ ...PLACE, credential: 'tok_2' })).toString('base64url');
  for (const ticket of [`${other}.${signed}`, `${said}.${signed}A`, said, '', '.', `.${signed}`, 'undefined'])
    expect(readUploadTicket(KEY, ticket, 0)).toBeUndefined();
  expect(readUploadTicket(Buffer.alloc(32, 8), `${said}.${signed}`, 0)).toBeUndefined();
});
