import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { BodyHashes } from '../../../mail/auth/body-hashes.ts';
import { BodyHasher } from '../../../mail/auth/dkim-body.ts';
import { authenticateMessage } from '../../support/authenticate-message.ts';

test('a body is hashed in each canonical form that is wanted, and its octets there are counted', () => {
  const bodies = new BodyHashes();
  expect(bodies.isEmpty).toBe(true);
  for (const relaxed of [true, false, true]) bodies.request(relaxed);
  for (const piece of ['a  b ', '\r\n', 'c', '\r\n\r\n']) bodies.update(Buffer.from(piece));
  bodies.end();
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
  expect(bodies.get(true)).toEqual({ hash: sha256('a b\r\nc\r\n'), length: 8 });
  expect(bodies.get(false)).toEqual({ hash: sha256('a  b \r\nc\r\n'), length: 10 });
});

test('many signatures over different lengths read the body once', async () => {
  const update = vi.spyOn(BodyHasher.prototype, 'update');
  const body = 'some words and more \r\n'.repeat(2000);
  const signature = (length: number): string =>
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=d${length}.example; s=s; h=from; l=${length}; bh=AA==; b=AA==\r\n`;
  const signatures = Array.from({ length: 8 }, (_, at) => signature(1000 + at)).join('');
  const message = `${signatures}From: me@box.test\r\n\r\n${body}`;
  expect((await authenticateMessage(message)).dkim).toHaveLength(8);
  const octets = update.mock.calls.reduce((sum, [chunk]) => sum + chunk.length, 0);
  update.mockRestore();
  expect(octets).toBe(body.length);
});
