import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seeded } from '../../support/imap-fuzz.ts';
import { webhookSignatureHeaders } from '../../../src/webhooks/sign.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const BODIES = 10_000;

test(`I6: openssl finds the same signature for ${BODIES} bodies`, () => {
  const random = seeded(20_261_121);
  const dir = mkdtempSync(join(tmpdir(), 'signed-'));
  try {
    const signed = new Map<string, string>();
    for (let i = 0; i < BODIES; i++) {
      const text =
        i === 0 ? '"' + 'ü'.repeat(2_600_000) + '"' : JSON.stringify({ i, text: '€ü\u2028😀'.repeat(random(40)) });
      const body = Buffer.from(text);
      writeFileSync(join(dir, `${i}`), body);
      signed.set(
        `${i}`,
        webhookSignatureHeaders(SECRET, body, { id: `whd_${i}`, at: 1000 })['x-service-signature'] ?? '',
      );
    }
    const args = ['dgst', '-sha256', '-hmac', SECRET, ...signed.keys()];
    const said = execFileSync('openssl', args, { cwd: dir, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const found = [...said.matchAll(/\((\d+)\)= ([0-9a-f]{64})/g)].map(([, name = '', hex = '']) => [
      name,
      `sha256=${hex}`,
    ]);
    expect(found).toHaveLength(BODIES);
    expect(found.filter(([name, hex]) => signed.get(name ?? '') !== hex)).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}, 180_000);

test('the headers of Standard Webhooks stand beside it', () => {
  const body = Buffer.from('{}');
  const headers = webhookSignatureHeaders(SECRET, body, { id: 'whd_1', at: 1_700_000_000_999 });
  const key = Buffer.from(SECRET.slice(6), 'base64');
  const right = createHmac('sha256', key).update('whd_1.1700000000.{}').digest('base64');
  expect(headers).toMatchObject({
    'webhook-id': 'whd_1',
    'webhook-timestamp': '1700000000',
    'webhook-signature': `v1,${right}`,
  });
});
