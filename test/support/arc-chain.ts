import { generateKeyPairSync } from 'node:crypto';
import { sealMessage } from 'mailauth';
import { sealHeaders } from '../../mail/auth/arc-seal.ts';
import type { ChainStatus } from '../../mail/auth/authentication.ts';
import { bodyHasher } from '../../mail/auth/dkim-body.ts';
import { dkimRecord } from '../../mail/auth/dkim-key.ts';
import type { DkimKey } from '../../mail/auth/dkim-sign.ts';
import type { FakeZone } from './fake-resolver.ts';

const other: DkimKey = {
  domain: 'hop.example',
  selector: 'arc',
  algorithm: 'rsa-sha256',
  key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

/** The record of the hops before us. */
export const HOP_ZONE: FakeZone = { 'TXT arc._domainkey.hop.example': [dkimRecord(other.key)] };

/** The message as it leaves another forwarder, which seals with the library and adds to a chain that passes. */
export async function hop(message: Buffer, instance: number): Promise<Buffer> {
  const sealed = await sealMessage(message, {
    signingDomain: other.domain,
    selector: other.selector,
    privateKey: other.key.export({ type: 'pkcs8', format: 'pem' }),
    cv: instance === 1 ? 'none' : 'pass',
    authResults: 'mx.hop.example; dmarc=pass header.from=box.test',
  });
  if (sealed.length === 0) throw new Error('the library did not seal');
  return Buffer.concat([sealed, message]);
}

/** The message with results of ours and our seal. */
export async function sealed(message: Buffer, keys: readonly DkimKey[], arc: ChainStatus): Promise<Buffer> {
  const whole = Buffer.concat([
    Buffer.from(`Authentication-Results: mail.box.test;\r\n\tdmarc=pass header.from=box.test;\r\n\tarc=${arc}\r\n`),
    message,
  ]);
  const end = whole.indexOf('\r\n\r\n');
  const hasher = bodyHasher();
  hasher.update(whole.subarray(end + 4));
  const seal = await sealHeaders(whole.subarray(0, end + 2), hasher.digest(), { keys, arc, now: Date.now() });
  return Buffer.concat([seal, whole]);
}
