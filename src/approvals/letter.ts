import { listOutbox, type OutboxItem } from '../../mail/delivery/outbox-items.ts';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { prepareLetter, type Post } from '../letters/letter.ts';
import type { World } from '../operations/world.ts';
import { publicId } from '../ids.ts';
import { askerOf } from './asked-mail.ts';
import { approvalLink } from './link.ts';
import { type Approver, approversOf } from './queries.ts';

/** Messages that one letter names; the page has all of them. */
const MOST_NAMED = 20;
const MOST_RECIPIENTS = 5;

export type LetterGround = Post & Pick<World, 'baseUrl'>;

/** A letter to each owner of an organization about all that waits for them. */
export async function approvalLetters(ground: LetterGround, tenant: number): Promise<Outgoing[]> {
  const { store, clock } = ground;
  const page = { tenant, accounts: null, state: 'pending', before: null, limit: MOST_NAMED + 1, now: clock() } as const;
  const waiting = (await store.read(listOutbox, page)).filter(({ approval }) => approval !== null);
  const owners = await store.read(approversOf, { organization: tenant });
  const letters = await Promise.all(owners.map((owner) => letterTo(ground, tenant, owner, waiting)));
  return letters.filter((one) => one !== undefined);
}

async function letterTo(
  ground: LetterGround,
  tenant: number,
  owner: Approver,
  waiting: readonly OutboxItem[],
): Promise<Outgoing | undefined> {
  const to = parseAddress(owner.email);
  if (to === undefined) return undefined;
  const subject = waiting.length === 1 ? 'A message waits for you' : 'Messages wait for you';
  const write = async (linked: boolean): Promise<Outgoing> =>
    prepareLetter(ground, {
      to,
      subject,
      text: await textOf(ground, tenant, waiting, linked ? owner.user : undefined),
    });
  const plain = await write(false);
  return owner.proven === 1 && leavesTheBox(plain) ? write(true) : plain;
}

/** What arrives in a mailbox here, or passes through one, an agent may read: then the letter carries no link that decides. */
function leavesTheBox({ here, onward = [] }: Outgoing): boolean {
  return here.length === 0 && onward.length === 0;
}

async function textOf(
  ground: LetterGround,
  tenant: number,
  waiting: readonly OutboxItem[],
  user: number | undefined,
): Promise<string> {
  const { hostname } = ground.settings;
  const named = await Promise.all(waiting.slice(0, MOST_NAMED).map((one) => itemText(ground, tenant, one, user)));
  return [
    'Hello,',
    '',
    `an agent of yours wants to send mail by the mail server ${hostname} that a person has to look at first.`,
    'It is sent only when you approve it. After 24 hours it is given up.',
    '',
    ...named.flat(),
    ...(waiting.length > MOST_NAMED ? ['There is more; the page below has all of it.', ''] : []),
    'All that waits, for who is signed in:',
    `${ground.baseUrl()}/o/${publicId('organization', tenant)}/outbox`,
    '',
    'To refuse something, open it and refuse it, or do nothing.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

/** Words of others are cut down to words: nothing in them becomes a link. */
async function itemText(
  ground: LetterGround,
  tenant: number,
  { id, recipients, approval }: OutboxItem,
  user: number | undefined,
): Promise<string[]> {
  const asker = await askerOf(ground, tenant, approval?.credential ?? '');
  const link = user === undefined ? undefined : await approvalLink(ground, { id, user });
  const more = recipients.length - MOST_RECIPIENTS;
  return [
    `  Subject: ${harmless(approval?.subject ?? '')}`,
    `  To: ${recipients.slice(0, MOST_RECIPIENTS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    `  Asked for by: ${harmless(asker)}`,
    `  Why it waits: ${(approval?.reasons ?? []).map(({ text }) => text).join('; ')}`,
    ...(link === undefined ? [] : [`  Look at it and decide: ${link}`]),
    '',
  ];
}
