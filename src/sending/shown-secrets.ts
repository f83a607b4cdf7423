import { ShownForms } from '../../mail/delivery/agent/secrets/shown-form.ts';
import { noteShown, type ShownKind } from '../../mail/store/shown-secret.ts';
import type { Call } from '../operations/operation.ts';

/** For what the key is under which secrets are remembered. */
export const SHOWN_PURPOSE = 'shown secrets';

const HOUR_MS = 3_600_000;
/** Codes and links are over soon; what opens a mailbox is not. */
const LIFE_MS: Readonly<Record<ShownKind, number>> = {
  code: HOUR_MS,
  link: HOUR_MS,
  session: HOUR_MS,
  password: 400 * 24 * HOUR_MS,
  token: 400 * 24 * HOUR_MS,
  webhook_secret: 400 * 24 * HOUR_MS,
};

/**
 * Remembers a secret that is about to be shown, so that no agent of the organization sends it. Resolves when that is on
 * disk: only then may it be shown.
 */
export async function noteShownSecret(
  { store, secrets, tenant, clock }: Pick<Call, 'store' | 'secrets' | 'tenant' | 'clock'>,
  { kind, text }: { kind: ShownKind; text: string },
): Promise<void> {
  const form = new ShownForms(secrets.subkey(SHOWN_PURPOSE)).make(kind, text);
  if (form !== undefined) await store.write(noteShown, { tenant, form, expiresAt: clock() + LIFE_MS[kind] });
}
