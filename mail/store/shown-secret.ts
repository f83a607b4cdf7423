import { command, query, type Row } from './engine/types.ts';

/** Kinds of secrets, as who sends one is told. */
export type ShownKind = 'token' | 'session' | 'webhook_secret' | 'password' | 'code' | 'link';
/** The honeytoken of a canary, by its row: who sends one is never told. */
export type CanaryMark = `canary ${number}`;
/** What is found in a text. */
export type SecretKind = ShownKind | CanaryMark;

/** A secret as it is remembered: found again in a text, and never read out of it. */
export interface ShownForm {
  readonly kind: SecretKind;
  /** Letters and digits of what is sought. */
  readonly length: number;
  /** A number that most other texts of this length do not have; masked by the key. */
  readonly print: number;
  /** HMAC-SHA256 under the key. */
  readonly digest: Uint8Array;
}

/** Secrets that are remembered of a tenant; those that are over first go first. */
const MOST = 500;
/** Rows of one slice. */
const SLICE = 200;

/** Remembers a secret before it is shown. Shown again it is remembered longer. */
export const noteShown = command(
  'note-shown',
  async (
    tx,
    { tenant, form, expiresAt }: { tenant: number; form: ShownForm; expiresAt: number },
    { now },
  ): Promise<void> => {
    await tx.run('DELETE FROM shown_secret WHERE tenant = ? AND expires_at <= ?', tenant, now);
    await tx.run(
      `INSERT INTO shown_secret (tenant, digest, kind, length, print, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, digest) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
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
      MOST,
    );
  },
);

interface ShownRow extends Row {
  kind: SecretKind;
  length: number;
  print: number;
  digest: Uint8Array;
}

/** What agents of a tenant were shown and must not send. */
export const shownSecrets = query(
  'shown-secrets',
  (rx, { tenant, now }: { tenant: number; now: number }): Promise<ShownForm[]> =>
    rx.all<ShownRow>(
      'SELECT kind, length, print, digest FROM shown_secret WHERE tenant = ? AND expires_at > ?',
      tenant,
      now,
    ),
);

/** Drops what is over, a slice at a time; true: there may be more. */
export const forgetShown = command('forget-shown', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM shown_secret WHERE (tenant, digest) IN
       (SELECT tenant, digest FROM shown_secret WHERE expires_at <= ? LIMIT ? + 0)`,
    now,
    SLICE,
  );
  return changes === SLICE;
});
