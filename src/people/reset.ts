import { ownerAddress, subjectOf } from '../bootstrap/claim-letter.ts';
import { prepareLetter } from '../letters/letter.ts';
import { secretUrl } from '../letters/secret-pages.ts';
import type { World } from '../operations/world.ts';
import { findAccount, requestReset } from './password-commands.ts';
import { newSecret } from './secrets.ts';

/**
 * Mails a link for a new password to who has proved this address. The caller answers the same, in the same time,
 * whether or not there is such a person: it does not wait for this. Never rejects.
 */
export async function mailReset(world: World, email: string): Promise<void> {
  const { store, settings, log } = world;
  const key = ownerAddress(email)?.key;
  const { secret, hash } = newSecret();
  try {
    const account = key === undefined ? undefined : await store.read(findAccount, { key });
    const owner = ownerAddress(account?.email ?? '');
    if (owner === undefined) return;
    const letter = await prepareLetter(world, {
      to: owner.address,
      subject: `A new password for ${settings.hostname}`,
      text: letterText(secretUrl(world.baseUrl, 'reset', { token: secret }), settings.hostname),
    });
    const done = await store.write(requestReset, { key: owner.key, hash, letter, base: subjectOf(owner.base) });
    if (done.kind === 'sent') world.queueChanged();
    log.info({ outcome: done.kind }, 'password reset asked for');
  } catch (error) {
    log.error({ err: error }, 'a password reset could not be mailed');
  }
}

function letterText(url: string, hostname: string): string {
  return [
    'Hello,',
    '',
    `somebody asked for a new password for your sign-in on the mail server ${hostname}.`,
    `To set one, open this page within an hour:`,
    '',
    url,
    '',
    'All your sessions end then. If you did not ask for this, do nothing: your password stays as it is.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}
