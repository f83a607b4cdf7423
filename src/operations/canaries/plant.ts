import { SHOWN_PURPOSE } from '../../agents/shown-secrets.ts';
import { publicId } from '../../core/ids.ts';
import { operation, type Call } from '../../core/operation.ts';
import { z } from 'zod';
import { ShownForms } from '../../../mail/agents/secrets/shown-form.ts';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { MAX_CANARIES } from '../../../mail/agents/canary/canary.ts';
import { type NewCanary, plantCanary } from '../../../mail/agents/canary/commands.ts';
import { newHoneytoken, newLocalPart } from '../../canaries/canaries.ts';
import { secretKind, DECOY_TOPICS, composeDecoy } from '../../canaries/decoy.ts';
import { InMailbox, namedMailbox } from '../reading/mailbox-arguments.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Line } from '../../core/schemas.ts';
import type { Mailbox } from '../scope.ts';
import { shownCanary, ShownCanary } from './canaries.ts';

export const layOutCanary = operation({
  name: 'plant_canary',
  title: 'Plant a canary',
  toolset: 'mail',
  reach: 'mailbox',
  action: 'manage',
  peopleOnly: true,
  secret: true,
  description:
    'Plants a canary in a mailbox: message puts a note with a fake secret and an address of its own into the inbox; secret and address only create one to place elsewhere. An agent that opens or sends one is frozen, and the owners are notified.',
  hints: {},
  input: z.strictObject({
    ...InMailbox,
    kind: z.enum(['message', 'secret', 'address']).default('message').describe('Form of the canary'),
    story: z.enum(DECOY_TOPICS).default('console').describe('Topic of the message'),
    label: Line(1, 100).describe('For people'),
  }),
  output: z.object({
    canary: ShownCanary,
    honeytoken: z.string().nullable().describe('shown this once'),
  }),
  async run(call, { mailbox, kind, story, label }) {
    const box = await namedMailbox(call, mailbox);
    const honeytoken = kind === 'address' ? null : newHoneytoken(secretKind(story));
    const address = kind === 'secret' ? null : addressUnder(box);
    const message = kind === 'message' ? messageOf(call, box, { story, honeytoken, address }) : NO_MESSAGE;
    const form = honeytoken === null ? null : formIn(call, honeytoken);
    const who = { tenant: call.tenant, account: box.id, label, by: call.caller.actor };
    const canary = { ...who, form, address, ...message };
    const { id, email } = await planted(call, box, canary);
    const shown = { ...who, id, email, address, secret: form !== null, madeBy: who.by, madeAt: call.clock() };
    return { canary: shownCanary(shown), honeytoken };
  },
});

const NO_MESSAGE = { receivedAt: 0, index: null, data: null } as const;

type Message = Pick<NewCanary, 'receivedAt' | 'index' | 'data'>;

function messageOf(
  { clock }: Call,
  box: Mailbox,
  topic: { story: (typeof DECOY_TOPICS)[number]; honeytoken: string | null; address: string | null },
): Message {
  const { story, honeytoken, address } = topic;
  const owner = ownAddress(box);
  const { data, receivedAt } = composeDecoy(story, {
    owner,
    honeytoken: honeytoken ?? '',
    login: address ?? '',
    now: clock(),
  });
  const octets = Uint8Array.from(data);
  return { receivedAt, data: octets, index: indexMessage(octets) };
}

function ownAddress({ address }: Mailbox): Address {
  return parseAddress(address) ?? notFound('mailbox');
}

function addressUnder(box: Mailbox): string {
  return addressKey({ local: newLocalPart(), domain: ownAddress(box).domain });
}

function formIn({ secrets }: Call, honeytoken: string): NewCanary['form'] {
  return new ShownForms(secrets.subkey(SHOWN_PURPOSE)).make('password', honeytoken) ?? null;
}

async function planted(call: Call, box: Mailbox, canary: NewCanary): Promise<{ id: number; email: number | null }> {
  const done = await call.change(plantCanary, canary, publicId('mailbox', box.id), { label: canary.label });
  switch (done.kind) {
    case 'planted':
      return done;
    case 'missing':
      return notFound('mailbox');
    case 'taken':
      return refuse('conflict', 'The generated address is taken: try again.', { resource: 'canary' });
    case 'over-quota':
      return refuse('too_large', 'The mailbox is full: delete messages first.');
    case 'too-many':
      return refuse('conflict', `Limit reached: a mailbox has at most ${MAX_CANARIES} canaries. Remove one first.`, {
        resource: 'canary',
      });
  }
}
