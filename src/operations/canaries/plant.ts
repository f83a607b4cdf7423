import { z } from 'zod';
import { ShownForms } from '../../../mail/delivery/agent/secrets/shown-form.ts';
import { type Address, addressKey, parseAddress } from '../../../mail/message/address.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { MOST_CANARIES } from '../../../mail/store/canary.ts';
import { type NewCanary, plantCanary } from '../../../mail/store/canary-commands.ts';
import { newHoneytoken, newLocalPart } from '../../canaries/honeytoken.ts';
import { formOf, STORIES, tellStory } from '../../canaries/story.ts';
import { publicId } from '../../ids.ts';
import { SHOWN_PURPOSE } from '../../sending/shown-secrets.ts';
import { type Call, operation } from '../operation.ts';
import { InMailbox, namedMailbox } from '../reading/which.ts';
import { notFound, refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
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
    'Plants a canary in a mailbox: message puts a note with a made-up secret and an address of its own into the inbox; secret and address only make one, to put it elsewhere. An agent that opens or sends one is frozen, and the owners are told.',
  hints: {},
  input: z.strictObject({
    ...InMailbox,
    kind: z.enum(['message', 'secret', 'address']).default('message'),
    story: z.enum(STORIES).default('console').describe('what the message seems to be about'),
    label: Line(1, 100).describe('for people'),
  }),
  output: z.object({
    canary: ShownCanary,
    honeytoken: z.string().nullable().describe('shown this once'),
  }),
  async run(call, { mailbox, kind, story, label }) {
    const box = await namedMailbox(call, mailbox);
    const honeytoken = kind === 'address' ? null : newHoneytoken(formOf(story));
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
  told: { story: (typeof STORIES)[number]; honeytoken: string | null; address: string | null },
): Message {
  const { story, honeytoken, address } = told;
  const owner = ownAddress(box);
  const { data, receivedAt } = tellStory(story, {
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
      return refuse('conflict', 'The address that was made up is taken: try again.', { resource: 'canary' });
    case 'over-quota':
      return refuse('too_large', 'The mailbox is full: make room in it first.');
    case 'too-many':
      return refuse('conflict', `A mailbox has at most ${MOST_CANARIES} canaries: remove one first.`, {
        resource: 'canary',
      });
  }
}
