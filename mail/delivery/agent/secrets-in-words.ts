import { canaryForms } from '../../store/canary.ts';
import { type SecretKind, shownSecrets } from '../../store/shown-secret.ts';
import type { MailStore } from '../../store/store.ts';
import { SecretFormats } from './secrets/formats.ts';
import { SecretScan, type Sought } from './secrets/scan.ts';
import { ShownForms } from './secrets/shown-form.ts';
import type { EgressWatch } from './types.ts';

/** What must not leave a tenant, and whether secrets were shown to its agents. */
export async function soughtIn(
  store: Pick<MailStore, 'read'>,
  { prefix, key }: Pick<EgressWatch, 'prefix' | 'key'>,
  { tenant, now }: { tenant: number; now: number },
): Promise<Sought & { sawSecrets: boolean }> {
  const [shown, laidOut] = await Promise.all([
    store.read(shownSecrets, { tenant, now }),
    store.read(canaryForms, { tenant }),
  ]);
  return {
    formats: new SecretFormats(prefix),
    shown: new ShownForms(key).search([...shown, ...laidOut]),
    sawSecrets: shown.length > 0,
  };
}

/** Looks for secrets in words that leave by another way than a message: names in letters of the box, names of hosts. */
export async function secretsInWords(words: readonly string[], sought: Sought): Promise<SecretKind[]> {
  const scan = new SecretScan(sought);
  for (const one of words) await scan.words(one);
  await scan.end();
  return [...scan.found];
}
