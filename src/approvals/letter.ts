import { listOutbox, type OutboxItem } from '../../mail/delivery/outbox-items.ts';
import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { type Proposal, waitingProposals } from '../agents/proposal-queries.ts';
import { harmless } from '../bootstrap/claim-letter.ts';
import { prepareLetter, type Post } from '../letters/letter.ts';
import { type LetterOwner, letterOwners } from '../letters/owners.ts';
import type { World } from '../operations/world.ts';
import { publicId } from '../ids.ts';
import { inPlainSight } from '../untrusted/plain-sight.ts';
import { askerOf } from './asked-mail.ts';
import { approvalLink } from './link.ts';

/** Messages that one letter names; the page has all of them. */
const MOST_NAMED = 20;
const MOST_RECIPIENTS = 5;

export type LetterGround = Post & Pick<World, 'baseUrl'>;

/** What waits for the owners of an organization: one more of each than a letter names, where there are more. */
interface Waiting {
  mail: readonly OutboxItem[];
  proposals: readonly Proposal[];
}

/** A letter to each owner of an organization about all that waits for them. */
export async function approvalLetters(ground: LetterGround, tenant: number): Promise<Outgoing[]> {
  const { store, clock } = ground;
  const some = { limit: MOST_NAMED + 1, now: clock() };
  const page = { tenant, accounts: null, state: 'pending', asked: true, before: null, ...some } as const;
  const waiting: Waiting = {
    mail: await store.read(listOutbox, page),
    proposals: await store.read(waitingProposals, { organization: tenant, ...some }),
  };
  const owners = await store.read(letterOwners, { organization: tenant, daily: false });
  const letters = await Promise.all(owners.map((owner) => letterTo(ground, tenant, owner, waiting)));
  return letters.filter((one) => one !== undefined);
}

async function letterTo(
  ground: LetterGround,
  tenant: number,
  owner: LetterOwner,
  waiting: Waiting,
): Promise<Outgoing | undefined> {
  const to = parseAddress(owner.email);
  if (to === undefined) return undefined;
  const write = async (linked: boolean): Promise<Outgoing> =>
    prepareLetter(ground, {
      to,
      subject: subjectOf(waiting),
      text: await textOf(ground, tenant, waiting, linked ? owner.user : undefined),
    });
  const plain = await write(false);
  return leavesTheBox(plain) ? write(true) : plain;
}

/** What arrives in a mailbox here, or passes through one, an agent may read: then the letter carries no link that decides. */
function leavesTheBox({ here, onward = [] }: Outgoing): boolean {
  return here.length === 0 && onward.length === 0;
}

function subjectOf({ mail, proposals }: Waiting): string {
  if (mail.length > 0 && proposals.length > 0) return 'Mail and proposals of agents wait for you';
  if (mail.length > 0) return mail.length === 1 ? 'A message waits for you' : 'Messages wait for you';
  return proposals.length === 1 ? 'A proposal of an agent waits for you' : 'Proposals of agents wait for you';
}

async function textOf(
  ground: LetterGround,
  tenant: number,
  { mail, proposals }: Waiting,
  user: number | undefined,
): Promise<string> {
  const { hostname } = ground.settings;
  const pages = `${ground.baseUrl()}/o/${publicId('organization', tenant)}`;
  return [
    'Hello,',
    '',
    ...(mail.length > 0 ? await mailText(ground, tenant, mail, { user, pages }) : []),
    ...(proposals.length > 0 ? proposalText(hostname, proposals, pages) : []),
    'To refuse something, open it and refuse it, or do nothing.',
    '',
    `Mailstead on ${hostname}`,
  ].join('\r\n');
}

async function mailText(
  ground: LetterGround,
  tenant: number,
  mail: readonly OutboxItem[],
  { user, pages }: { user: number | undefined; pages: string },
): Promise<string[]> {
  const { hostname } = ground.settings;
  const named = await Promise.all(mail.slice(0, MOST_NAMED).map((one) => itemText(ground, tenant, one, user)));
  return [
    `an agent of yours wants to send mail by the mail server ${hostname} that a person has to look at first.`,
    'It is sent only when you approve it. After 24 hours it is given up.',
    '',
    ...named.flat(),
    ...(mail.length > MOST_NAMED ? [MORE, ''] : []),
    'All that waits, for who is signed in:',
    `${pages}/outbox`,
    '',
  ];
}

/** A proposal is looked at by who is signed in only: what it asks for stands on the page, and nothing decides from here. */
function proposalText(hostname: string, proposals: readonly Proposal[], pages: string): string[] {
  const named = proposals
    .slice(0, MOST_NAMED)
    .flatMap(({ operation, tokenName, expiresAt }) => [
      `  What: ${operation.replaceAll('_', ' ')}`,
      `  Asked for by: ${inPlainSight(harmless(tokenName))}`,
      `  Open until: ${new Date(expiresAt).toISOString().slice(0, 10)}`,
      '',
    ]);
  return [
    `an agent of yours on the mail server ${hostname} asks for a change that would outlive it. Nothing of it holds until`,
    'you accept it.',
    '',
    ...named,
    ...(proposals.length > MOST_NAMED ? [MORE, ''] : []),
    'What exactly it asks for, for who is signed in:',
    `${pages}/proposals`,
    '',
  ];
}

const MORE = 'There is more; the page below has all of it.';

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
    `  Subject: ${inPlainSight(harmless(approval?.subject ?? ''))}`,
    `  To: ${inPlainSight(recipients.slice(0, MOST_RECIPIENTS).join(', '))}${more > 0 ? ` and ${more} more` : ''}`,
    `  Asked for by: ${harmless(asker)}`,
    `  Why it waits: ${inPlainSight((approval?.reasons ?? []).map(({ text }) => text).join('; '))}`,
    ...(link === undefined ? [] : [`  Look at it and decide: ${link}`]),
    '',
  ];
}
