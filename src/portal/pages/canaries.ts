import { trippedAccounts } from '../../../mail/store/canary.ts';
import { publicId } from '../../ids.ts';
import type { layOutCanary } from '../../operations/canaries/plant.ts';
import type { listCanaries } from '../../operations/canaries/canaries.ts';
import { field, select } from '../forms.ts';
import { html, type Html, type Part } from '../html.ts';
import { acting, filledFor, type Page, press, sheet, type State, sure } from '../page.ts';
import { acts, crumb, empty, facts, head, moment, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Canary = Answer<typeof listCanaries>['canaries'][number];

/** What lies in a mailbox for nobody to open, and who did. */
export const canaries: Page = {
  path: '/mailboxes/:id/canaries',
  name: 'Canaries',
  menu: null,
  needs: 'list_canaries',
  done: {
    planted: 'The canary is planted.',
    settled: 'It is watched again. Tokens that it froze stay frozen: the page Agents lets them work.',
    removed: 'The canary is removed, and its message with it.',
  },
  acts: {
    plant: acting(
      'plant_canary',
      (fields, params) => ({
        mailbox: params['id'],
        label: fields.line('label') ?? '',
        kind: fields.text('kind'),
        story: fields.text('story'),
      }),
      (result) => planted(result as Answer<typeof layOutCanary>),
    ),
    settle: acting(
      'settle_canary',
      (fields) => ({ canaryId: fields.text('canaryId') }),
      () => ({ kind: 'done', said: 'settled' }),
    ),
    remove: acting(
      'remove_canary',
      (fields) => ({ canaryId: fields.text('canaryId') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const mailbox = state.params['id'] ?? '';
    const listed = await read<typeof listCanaries>(visit, 'list_canaries', { mailbox });
    if (listed === undefined) return undefined;
    return html`${crumb(`${visit.base}/mailboxes/${mailbox}`, 'The mailbox')} ${head('Canaries', ABOUT)}
    ${listed.canaries.length === 0 ? NONE : listed.canaries.map((one) => shown(visit, one))} ${form(visit, state)}`;
  },
};

const ABOUT =
  'A message, secret or address that nobody has a reason to touch. An agent that opens it, sends it or writes to it was talked into looking: it is frozen at once, and the owners are told.';
const NONE = empty('No canary yet', 'Agents are not told which messages are canaries, nor that there are any.');

function planted({ canary, honeytoken }: Answer<typeof layOutCanary>) {
  if (canary.messageId !== null) return { kind: 'done', said: 'planted' } as const;
  const rows: [string, string][] = [
    ...(honeytoken === null ? [] : [['Secret', honeytoken] as [string, string]]),
    ...(canary.address === null ? [] : [['Address', canary.address] as [string, string]]),
  ];
  const about = 'Put it where only somebody who looks for such things comes, and below the first lines of a message.';
  return { kind: 'shown', panel: secret(canary.label, rows, about) } as const;
}

const WHAT: Record<Canary['trips'][number]['what'], string> = {
  opened: 'opened its message',
  shown: 'was shown its secret',
  sent: 'wanted to send it, or to write to its address',
  'written-to': 'wrote to its address',
};

function shown(visit: Visit, { canaryId, label, messageId, address, plantedAt, trips }: Canary): Html {
  const open = trips.some(({ settledAt }) => settledAt === null);
  const remove = {
    label: 'Remove',
    question: 'Its message, its address and what is written here of who went to it are gone.',
    yes: 'Remove it',
    values: { canaryId },
  };
  return html`<section>
    <h2>${label} ${open && tag('tripped', 'bad')}</h2>
    ${facts([
      ['Planted', moment(plantedAt)],
      ['Message', messageId === null ? 'none' : 'in the mailbox'],
      address !== null && ['Address', address],
    ])}
    ${trips.length > 0 && tripTable(trips)}
    ${can(visit, 'settle_canary') && acts(open && press(visit, 'settle', 'I looked: watch it again', { canaryId }), sure(visit, 'remove', remove))}
  </section>`;
}

function tripTable(trips: Canary['trips']): Html {
  return table(
    'Who went there',
    ['Who', 'What', 'When', 'Where'],
    trips.map(({ by, name, at, door, what, addresses }) => [
      by === '' ? 'nobody knows' : [name, html` <code>${by}</code>`],
      [WHAT[what], addresses.length > 0 && html`<br /><span class="small soft">${addresses.join(', ')}</span>`],
      moment(at),
      door,
    ]),
  );
}

const KINDS = [
  { value: 'message', label: 'A message in this mailbox, with a secret and an address' },
  { value: 'secret', label: 'Only a secret, to put elsewhere' },
  { value: 'address', label: 'Only an address, to put elsewhere' },
];
const STORIES = [
  { value: 'console', label: 'access to an admin console' },
  { value: 'payments', label: 'a key of a payment account' },
  { value: 'recovery', label: 'the recovery of a backup' },
];

function form(visit: Visit, state: State): Part {
  const filled = filledFor(state, 'plant');
  const hint = 'For you and the letters about it: do not write what it is.';
  const body = html`${field({ name: 'label', label: 'Name', hint }, filled)}
  ${select({ name: 'kind', label: 'What', choices: KINDS }, filled)}
  ${select({ name: 'story', label: 'It seems to be', choices: STORIES }, filled)}`;
  return (
    can(visit, 'plant_canary') &&
    html`<section>
      <h2>Plant one</h2>
      ${sheet(visit, 'plant', 'Plant it', body)}
    </section>`
  );
}

/** What a person has to look at, on other pages. */
export async function tripped(visit: Visit): Promise<Part> {
  const { world, membership, base, caller } = visit;
  if (!can(visit, 'list_canaries')) return undefined;
  const all = await world.store.read(trippedAccounts, { tenant: membership.organization });
  return all
    .filter((account) => caller.mailboxes?.includes(account) !== false)
    .map(
      (account) =>
        html`<div class="note bad">
          <p>
            <strong>Somebody went to a canary.</strong>
            <a href="${base}/mailboxes/${publicId('mailbox', account)}/canaries">Look at who it was</a>
          </p>
        </div>`,
    );
}
