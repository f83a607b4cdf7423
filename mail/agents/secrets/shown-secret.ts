import { command, lookup, type Row } from '../../store/engine/types.ts';

/** Kinds of secrets that a refusal names. */
export type ShownKind = 'token' | 'session' | 'webhook_secret' | 'password' | 'code' | 'link';
/** The honeytoken of a canary, by its row: a refusal never names it. */
export type CanaryMark = `canary ${number}`;
/** Kinds that a scan finds. */
/** `invisible`: characters that nobody sees and that can carry anything. */
export type SecretKind = ShownKind | CanaryMark | 'invisible';

/** Stored form of a secret: recognizes it in a text, but does not reveal it. */
export interface ShownForm {
  readonly kind: SecretKind;
  /** Number of letters and digits in the core. */
  readonly length: number;
  /** Rolling hash of the core, masked by the key. */
  readonly print: number;
  /** HMAC-SHA256 under the key. */
  readonly digest: Uint8Array;
}

/** Stored secrets of a tenant; those that expire first are dropped first. */
const MAX_SHOWN_SECRETS = 500;
/** Rows of one slice. */
const SLICE = 200;

/** Stores a secret before it is shown; showing it again extends its expiry. */
export const recordShownSecrets = command(
  'record-shown-secrets',
  async (
    tx,
    { tenant, form, expiresAt }: { tenant: number; form: ShownForm; expiresAt: number },
    { now },
  ): Promise<void> => {
    await tx.run('DELETE FROM shown_secret WHERE tenant = ? AND expires_at <= ?', tenant, now);
    await tx.run(
      `INSERT INTO shown_secret (tenant, digest, kind, length, print, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, digest) DO UPDATE SET expires_at = max(shown_secret.expires_at, excluded.expires_at)`,
      tenant,
      form.digest,
      form.kind,
      form.length,
      form.print,
      expiresAt,
    );
    await tx.run(
      `DELETE FROM shown_secret WHERE tenant = ?1 AND digest IN
         (SELECT digest FROM shown_secret WHERE tenant = ?1 ORDER BY expires_at DESC LIMIT -1 OFFSET ?2)`,
      tenant,
      MAX_SHOWN_SECRETS,
    );
  },
);

interface ShownRow extends Row {
  kind: SecretKind;
  length: number;
  print: number;
  digest: Uint8Array;
}

/** Secrets that agents of a tenant were shown and must not send. */
export const shownSecrets = lookup(
  'shown-secrets',
  (rx, { tenant, now }: { tenant: number; now: number }): Promise<ShownForm[]> =>
    rx.all<ShownRow>(
      'SELECT kind, length, print, digest FROM shown_secret WHERE tenant = ? AND expires_at > ?',
      tenant,
      now,
    ),
);

/** Purges a slice of expired secrets; true: there may be more. */
export const purgeShownSecrets = command(
  'purge-shown-secrets',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const { changes } = await tx.run(
      `DELETE FROM shown_secret WHERE (tenant, digest) IN
       (SELECT tenant, digest FROM shown_secret WHERE expires_at <= ? LIMIT ? + 0)`,
      now,
      SLICE,
    );
    return changes === SLICE;
  },
);
