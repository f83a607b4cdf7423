import { ownerAddress, subjectOf } from '../bootstrap/claim-letter.ts';
import { prepareLetter } from '../letters/letter.ts';
import { secretUrl } from '../letters/secret-pages.ts';
import type { World } from '../operations/world.ts';
import { requestProof } from './proof-commands.ts';
import { newSecret } from './secrets.ts';
import type { Person } from './session-commands.ts';

/** Mails a person the link that proves their address. */
export async function mailProof(world: World, { id: user, email }: Person): Promise<'sent' | 'limited'> {
  const { store, settings } = world;
  const owner = ownerAddress(email);
  if (owner === undefined) throw new Error(`a person has an address that is none: ${user}`);
  const { secret, hash } = newSecret();
  const letter = await prepareLetter(world, {
    to: owner.address,
    subject: `Your address on ${settings.hostname}`,
    text: [
      'Hello,',
      '',
      `you sign in on the mail server ${settings.hostname} with this address.`,
      'To show that you read its mail, open this page within a day in the browser where you are signed in:',
      '',
      secretUrl(world.baseUrl, 'prove', { token: secret }),
      '',
      'If you know nothing of this, do nothing.',
      '',
      `Mailstead on ${settings.hostname}`,
    ].join('\r\n'),
  });
  const done = await store.write(requestProof, { user, email, hash, letter, base: subjectOf(owner.base) });
  if (done.kind === 'sent') world.queueChanged();
  return done.kind;
}
