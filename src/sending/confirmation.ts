import type { Address } from '../../mail/message/address.ts';
import { formatAddress } from '../../mail/message/address.ts';
import { harmless, ownerAddress, subjectOf } from '../bootstrap/claim-letter.ts';
import { prepareLetter } from '../letters/letter.ts';
import { secretUrl } from '../letters/secret-pages.ts';
import type { World } from '../operations/world.ts';
import { newSecret } from '../people/secrets.ts';
import { type Confirmation, CONFIRM_DAYS } from './confirmation-commands.ts';

export interface Asking {
  /** As its organization calls itself: strangers read it. */
  organization: string;
  source: Address;
  destination: Address;
}

/** The letter that asks a destination whether it wants what is forwarded to it. Undefined when nobody can be mailed there. */
export async function prepareConfirmation(world: World, asking: Asking): Promise<Confirmation | undefined> {
  const { organization, source, destination } = asking;
  const { hostname } = world.settings;
  const owner = ownerAddress(formatAddress(destination));
  if (owner === undefined) return undefined;
  const { secret, hash } = newSecret();
  const letter = await prepareLetter(world, {
    to: destination,
    subject: `Mail for ${formatAddress(source)} to you?`,
    text: [
      'Hello,',
      '',
      `the organization "${harmless(organization)}" on the mail server ${hostname} wants to forward all mail for`,
      `${formatAddress(source)} to this address.`,
      `If you want that, open this page within ${CONFIRM_DAYS} days and confirm it:`,
      '',
      secretUrl(world.baseUrl, 'forward', { token: secret }),
      '',
      'If you do not, do nothing: no mail is forwarded to you.',
      '',
      `Mailstead on ${hostname}`,
    ].join('\r\n'),
  });
  return { hash, letter, base: subjectOf(owner.base) };
}
