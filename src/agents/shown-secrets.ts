import type { Call } from '../core/operation.ts';
import { ShownForms } from '../../mail/agents/secrets/shown-form.ts';
import { recordShownSecrets, type ShownKind } from '../../mail/agents/secrets/shown-secret.ts';

/** Purpose of the key for stored forms of secrets. */
export const SHOWN_PURPOSE = 'shown secrets';

const HOUR_MS = 3_600_000;
/** Retention: codes and links expire soon, other secrets do not. */
const LIFE_MS: Readonly<Record<ShownKind, number>> = {
  code: HOUR_MS,
  link: HOUR_MS,
  session: HOUR_MS,
  password: 400 * 24 * HOUR_MS,
  token: 400 * 24 * HOUR_MS,
  webhook_secret: 400 * 24 * HOUR_MS,
};

/**
 * Stores the form of a secret before it is shown, so that no agent of the organization can send it. Resolves when that is on
 * disk: the secret must not be shown before.
 */
export async function noteShownSecret(
  { store, secrets, tenant, clock }: Pick<Call, 'store' | 'secrets' | 'tenant' | 'clock'>,
  { kind, text }: { kind: ShownKind; text: string },
): Promise<void> {
  const form = new ShownForms(secrets.subkey(SHOWN_PURPOSE)).make(kind, text);
  if (form !== undefined) await store.write(recordShownSecrets, { tenant, form, expiresAt: clock() + LIFE_MS[kind] });
}
