import { generateKeyPairSync } from 'node:crypto';
import { sealMessage } from 'mailauth';
import { sealArc } from '../../mail/auth/arc-seal.ts';
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

/** Key record of the previous hops. */
export const HOP_ZONE: FakeZone = { 'TXT arc._domainkey.hop.example': [dkimRecord(other.key)] };

/** Simulates another forwarder that adds an ARC set with the library to a passing chain. */
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

/** Adds our results and our ARC set to a message. */
export async function sealed(message: Buffer, keys: readonly DkimKey[], arc: ChainStatus): Promise<Buffer> {
  const whole = Buffer.concat([
    Buffer.from(`Authentication-Results: mail.box.test;\r\n\tdmarc=pass header.from=box.test;\r\n\tarc=${arc}\r\n`),
    message,
  ]);
  const end = whole.indexOf('\r\n\r\n');
  const hasher = bodyHasher();
  hasher.update(whole.subarray(end + 4));
  const seal = await sealArc(whole.subarray(0, end + 2), hasher.digest(), { keys, arc, now: Date.now() });
  return Buffer.concat([seal, whole]);
}
