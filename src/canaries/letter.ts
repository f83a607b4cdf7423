import type { UntoldTrip } from '../../mail/store/canary.ts';
import { lookupKeys } from '../../mail/delivery/route.ts';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { isPlainAddress } from '../../mail/message/plain-address.ts';
import type { OwnerPost } from '../agents/owner-letters.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { publicId } from '../ids.ts';
import { toOwners } from '../letters/owners.ts';
import { nameOfCredential } from './queries.ts';

/** Addresses that a letter names. */
const MOST_NAMED = 5;

/** A letter to each owner of an organization about who went to its canaries. It says of none what it is: agents may read it. */
export async function tripLetters(post: OwnerPost, tenant: number, trips: readonly UntoldTrip[]): Promise<Outgoing[]> {
  const { hostname } = post.settings;
  const pages = `${post.baseUrl()}/o/${publicId('organization', tenant)}`;
  const stopped = trips.some(({ credential }) => credential !== '');
  const named = await Promise.all(trips.map((trip) => tripText(post, pages, trip)));
  return toOwners(post, tenant, {
    subject: stopped ? 'An agent went to a canary and is frozen' : 'Somebody wrote to a canary',
    text: [
      'Hello,',
      '',
      `on the mail server ${hostname} somebody went where nobody has a reason to go:`,
      '',
      ...named.flat(),
      ...(stopped ? STOPPED : UNKNOWN),
      '',
      ...(stopped ? [`What it did, and to let it work again: ${pages}/agents`] : []),
      `What is written down: ${pages}/audit`,
      '',
      `Mailstead on ${hostname}`,
    ],
  });
}

const STOPPED = [
  'It is frozen: it reads and sends nothing, and what it had sent and has not left is held.',
  'Where it was a password, all tokens that open its mailbox are frozen, and it opens nothing',
  'until you say on the page of the canary that you looked.',
  'Once you let it work again, it is frozen again whenever it goes there.',
  'It may have been talked into this by a mail that it read. Look before you let it work again.',
];
const UNKNOWN = [
  'The address stood nowhere else. Who wrote there has it from the canary, or from whoever read it.',
  'Nobody is stopped, as it is not known by whom it got out.',
];

/** Its own address is not among them, and whatever is more than an address neither. */
function addressesOf({ about, address }: UntoldTrip): string[] {
  const plain = about.filter(isPlainAddress).filter((one) => {
    const parsed = parseAddress(one);
    return address === null || parsed === undefined || !lookupKeys(parsed).includes(address);
  });
  const more = plain.length - MOST_NAMED;
  return [...plain.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])];
}

const WHAT: Record<UntoldTrip['what'], string> = {
  opened: 'opened its message',
  shown: 'was shown what only it holds',
  sent: 'wanted to send what only it holds, or to write to its address',
  'written-to': 'wrote to its address',
};

async function tripText({ store }: OwnerPost, pages: string, trip: UntoldTrip): Promise<string[]> {
  const { account, label, credential, at, door, what } = trip;
  const who = await store.read(nameOfCredential, { credential });
  const addresses = addressesOf(trip).join(', ');
  return [
    `  Canary: ${harmless(label)}`,
    `  Who: ${credential === '' ? 'nobody knows' : `${harmless(who)} (${credential})`}`,
    `  What: ${WHAT[what]}, by ${door}`,
    ...(addresses === '' ? [] : [`  ${what === 'sent' ? 'To' : 'From'}: ${addresses}`]),
    `  When: ${new Date(at).toISOString()}`,
    `  Its page: ${pages}/mailboxes/${publicId('mailbox', account)}/canaries`,
    '',
  ];
}
