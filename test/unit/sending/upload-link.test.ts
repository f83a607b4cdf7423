import { expect, test } from 'vitest';
import { readTicket, type UploadPlace, uploadTicket } from '../../../src/sending/upload-link.ts';

const KEY = Buffer.alloc(32, 7);
const PLACE: UploadPlace = {
  organization: 1,
  credential: 'tok_1',
  name: 'up_1',
  filename: 'ü.txt',
  contentType: 'text/plain',
  size: 3,
  sha256: 'a'.repeat(64),
  expires: 1000,
};

test('a link is good until its time, for what it was made for', () => {
  const ticket = uploadTicket(KEY, PLACE);
  expect(ticket).toMatch(/^[\w-]+\.[\w-]+$/);
  expect(readTicket(KEY, ticket, 999)).toEqual(PLACE);
  expect(readTicket(KEY, ticket, 1000)).toBeUndefined();
});

test('what another key signed, or was changed, or is nothing, is none', () => {
  const [said = '', signed = ''] = uploadTicket(KEY, PLACE).split('.');
  const other = Buffer.from(JSON.stringify({ ...PLACE, credential: 'tok_2' })).toString('base64url');
  for (const ticket of [`${other}.${signed}`, `${said}.${signed}A`, said, '', '.', `.${signed}`, 'undefined'])
    expect(readTicket(KEY, ticket, 0)).toBeUndefined();
  expect(readTicket(Buffer.alloc(32, 8), `${said}.${signed}`, 0)).toBeUndefined();
});
