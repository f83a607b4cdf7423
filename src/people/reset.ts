import type { AppContext } from '../core/app-context.ts';
import { ownerAddress, hashedAddress } from '../notices/owners.ts';
import { composeNotice } from '../notices/compose.ts';
import { secretUrl } from '../notices/secret-pages.ts';
import { findAccount, requestReset, requestProof } from './password-commands.ts';
import { newSecret } from './secrets.ts';
import type { Person } from './session-commands.ts';

/**
 * Mails a password reset link to a verified address. The caller does not wait for this, so that it answers the same, in the
 * same time, for unknown addresses. Never rejects.
 */
export async function mailReset(world: AppContext, email: string): Promise<void> {
  const { store, settings, log } = world;
  const key = ownerAddress(email)?.key;
  const { secret, hash } = newSecret();
  try {
    const account = key === undefined ? undefined : await store.read(findAccount, { key });
    const owner = ownerAddress(account?.email ?? '');
    if (owner === undefined) return;
    const notice = await composeNotice(world, {
      kind: 'password-reset',
      to: owner.address,
      subject: `Reset your password for ${settings.hostname}`,
      text: letterText(secretUrl(world.baseUrl, 'reset', { token: secret }), settings.hostname),
    });
    const done = await store.write(requestReset, { key: owner.key, hash, notice, base: hashedAddress(owner.base) });
    if (done.kind === 'sent') world.queueChanged();
    log.info({ outcome: done.kind }, 'password reset requested');
  } catch (error) {
    log.error({ err: error }, 'failed to mail a password reset');
  }
}

function letterText(url: string, hostname: string): string {
  return [
    'Hello,',
    '',
    `somebody asked to reset your password for the mail server ${hostname}.`,
    'To set a new password, open this page within an hour:',
    '',
    url,
    '',
    'This ends all your sessions. If you did not ask for it, ignore this message: your password does not change.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

/** Mails a person the link that verifies their address. */
export async function mailProof(world: AppContext, { id: user, email }: Person): Promise<'sent' | 'limited'> {
  const { store, settings } = world;
  const owner = ownerAddress(email);
  if (owner === undefined) throw new Error(`user ${user} has an invalid address`);
  const { secret, hash } = newSecret();
  const notice = await composeNotice(world, {
    kind: 'address-proof',
    to: owner.address,
    subject: `Verify your address for ${settings.hostname}`,
    text: [
      'Hello,',
      '',
      `you use this address to sign in to the mail server ${settings.hostname}.`,
      'To verify it, open this page within a day in the browser where you are signed in:',
      '',
      secretUrl(world.baseUrl, 'prove', { token: secret }),
      '',
      'If you do not know about this, ignore this message.',
      '',
      `Mailstead on ${settings.hostname}`,
    ].join('\r\n'),
  });
  const done = await store.write(requestProof, { user, email, hash, notice, base: hashedAddress(owner.base) });
  if (done.kind === 'sent') world.queueChanged();
  return done.kind;
}
