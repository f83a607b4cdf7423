import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { publicId, rowId } from '../../core/ids.ts';
import {
  MAX_RECOVERY_KEYS,
  registerRecoveryKey,
  revokeRecoveryKey,
  type VerifyKeyResult,
  verifyRecoveryKey,
} from '../../recovery/commands.ts';
import { readBase64, readEd25519Key, verifyEd25519 } from '../../recovery/ed25519.ts';
import { deployGateOf, listRecoveryKeys, pendingKey } from '../../recovery/gate-queries.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull, Line, OwnOrganization } from '../../core/schemas.ts';

const CHALLENGE_BYTES = 32;

export const registerKey = operation({
  name: 'register_recovery_key',
  title: 'Register a recovery key',
  toolset: 'core',
  core: true,
  reach: 'organization',
  action: 'manage',
  description:
    'Registers an Ed25519 public key (SPKI, base64 or base64url) as pending and returns a 32-byte challenge. Sign the raw challenge bytes and call verify_recovery_key within 10 minutes. Use a key for this purpose only.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({
    organizationId: OwnOrganization,
    label: Line(1, 64).describe('Name of the key'),
    publicKey: z.string().min(1).max(1_000).describe('Ed25519 public key, SPKI in base64'),
  }),
  output: z.object({
    keyId: z.string(),
    challenge: z.string(),
    encoding: z.literal('base64url'),
    algorithm: z.literal('Ed25519'),
    expiresAt: z.string(),
    status: z.literal('pending'),
  }),
  async run(call, { label, publicKey }) {
    const key = readEd25519Key(publicKey) ?? badKey();
    const challenge = randomBytes(CHALLENGE_BYTES);
    const input = { organization: call.tenant, label, public: key, challenge: Uint8Array.from(challenge) };
    const done = await call.change(registerRecoveryKey, input, label);
    switch (done.kind) {
      case 'already-active':
        return refuse('already_exists', 'This key is already active: nothing to do.', {
          resource: 'recovery key',
        });
      case 'too-many':
        return refuse(
          'conflict',
          `Limit reached: an organization has at most ${MAX_RECOVERY_KEYS} recovery keys. Revoke one first.`,
          {
            resource: 'recovery key',
          },
        );
      case 'pending':
        return {
          keyId: publicId('recoveryKey', done.id),
          challenge: challenge.toString('base64url'),
          encoding: 'base64url' as const,
          algorithm: 'Ed25519' as const,
          expiresAt: isoOf(done.expiresAt),
          status: 'pending' as const,
        };
    }
  },
});

function badKey(): never {
  return refuse(
    'invalid_public_key',
    'publicKey must be an Ed25519 public key as SPKI in base64: openssl pkey -in key.pem -pubout -outform DER | base64 -w0',
  );
}

export const verifyKey = operation({
  name: 'verify_recovery_key',
  title: 'Verify a recovery key',
  toolset: 'core',
  core: true,
  reach: 'organization',
  action: 'manage',
  description:
    'Activates a pending recovery key with a signature over the raw 32 challenge bytes (64 bytes, base64 or base64url). Limits: 10 minutes, 5 attempts. Afterwards an organization without a human owner can deploy.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({
    keyId: Id('recoveryKey'),
    signature: z.string().min(1).max(1_000).describe('Base64, 64 bytes'),
  }),
  output: z.object({
    keyId: z.string(),
    status: z.literal('active'),
    activatedAt: z.string(),
    gate: z.enum(['open', 'closed']),
  }),
  async run(call, { keyId, signature }) {
    const id = rowId('recoveryKey', keyId) ?? notFound('recovery key');
    const pending = await call.store.read(pendingKey, { organization: call.tenant, id });
    const challenge = pending?.challenge ?? new Uint8Array();
    const signed = readBase64(signature);
    const good =
      pending !== undefined &&
      challenge.length > 0 &&
      signed !== undefined &&
      verifyEd25519(pending.public, challenge, signed);
    const input = { organization: call.tenant, id, challenge: Uint8Array.from(challenge), good };
    const at = activated(await call.change(verifyRecoveryKey, input, keyId));
    const gate = await call.store.read(deployGateOf, { organization: call.tenant });
    return {
      keyId,
      status: 'active' as const,
      activatedAt: isoOf(at),
      gate: gate.open ? ('open' as const) : ('closed' as const),
    };
  },
});

function activated(done: VerifyKeyResult): number {
  switch (done.kind) {
    case 'active':
      return done.at;
    case 'missing':
      return notFound('recovery key');
    case 'expired':
      return refuse(
        'challenge_expired',
        'The challenge expired after 10 minutes: call register_recovery_key again for a new one.',
      );
    case 'spent':
      return refuse(
        'too_many_attempts',
        'Too many wrong signatures: call register_recovery_key again for a new challenge.',
        {
          attemptsLeft: 0,
        },
      );
    case 'wrong':
      return refuse('invalid_signature', 'The signature is invalid: sign the 32 raw bytes, not their base64 text.', {
        attemptsLeft: done.attemptsLeft,
      });
  }
}

export const listKeys = operation({
  name: 'list_recovery_keys',
  title: 'List recovery keys',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  description: 'Lists the recovery keys of this organization and their state. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    keys: z.array(
      z.object({
        keyId: z.string(),
        label: z.string(),
        status: z.enum(['pending', 'active', 'revoked', 'expired']),
        createdAt: z.string(),
        activatedAt: z.string().nullable(),
      }),
    ),
  }),
  async run(call) {
    const keys = await call.store.read(listRecoveryKeys, { organization: call.tenant, now: call.clock() });
    return {
      keys: keys.map((key) => ({
        keyId: publicId('recoveryKey', key.id),
        label: key.label,
        status: key.status,
        createdAt: isoOf(key.createdAt),
        activatedAt: isoOrNull(key.activatedAt),
      })),
    };
  },
});

export const revokeKey = operation({
  name: 'revoke_recovery_key',
  title: 'Revoke a recovery key',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Revokes a recovery key permanently. An organization without a human owner cannot deploy without another active key.',
  hints: { destructive: true, idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ keyId: Id('recoveryKey') }),
  output: z.object({ keyId: z.string(), revoked: z.literal(true) }),
  async run(call, { keyId }) {
    const id = rowId('recoveryKey', keyId) ?? notFound('recovery key');
    const done = await call.change(revokeRecoveryKey, { organization: call.tenant, id }, keyId);
    return done.kind === 'missing' ? notFound('recovery key') : { keyId, revoked: true as const };
  },
});
