import { openKeyFile } from '../../mail/store/key-file.ts';
import type { SecretBox } from '../../mail/store/secrets.ts';
import { getSetting, setSetting } from '../../mail/store/setting.ts';
import { MailStore } from '../../mail/store/store.ts';
import type { Settings } from '../../config/settings.ts';
import { secretLinksOf } from '../letters/secret-pages.ts';
import { CannotStart, type Surroundings } from './surroundings.ts';

/** Opens what is remembered, and brings its tables up to date. */
export function openStore({ settings, log, metrics, clock, fatal, keepFree }: Surroundings): Promise<MailStore> {
  return MailStore.open({
    dataDir: settings.dataDir,
    engine: new URL('../store-thread.ts', import.meta.url),
    keepFree: keepFree ?? Math.max(100 * 1024 * 1024, 2 * settings.maxMessageBytes),
    secretLinks: secretLinksOf(settings),
    clock,
    log,
    meter: metrics,
    fatal,
  });
}

/** The key file belongs to the database: a missing or a foreign one stops the start, and never becomes a new one. */
export async function openSecrets(settings: Settings, store: MailStore): Promise<SecretBox> {
  const check = await store.read(getSetting, { name: 'key-check' });
  const box = await openKeyFile(settings.keyFile, { create: check === undefined });
  if ('problem' in box) throw new CannotStart(box.problem);
  if (check === undefined) {
    await store.write(setSetting, { name: 'key-check', value: Uint8Array.from(box.checkValue()) });
  } else if (!box.verifyCheck(Buffer.from(check))) {
    throw new CannotStart(
      `The key file ${settings.keyFile} is not the one that the database was made with: put the right one back, or name it with MAILSTEAD_KEY_FILE.`,
    );
  }
  return box;
}
