import { ENGLISH, type Translator } from '../translator.ts';
import { publicId } from '../../core/ids.ts';
import { trippedAccounts } from '../../../mail/agents/canary/canary.ts';
import type { layOutCanary } from '../../operations/canaries/plant.ts';
import type { listCanaries } from '../../operations/canaries/canaries.ts';
import { field, select } from '../forms.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, actionButton, actionForm, type PageState, confirmedAction } from '../page.ts';
import { buttonRow, emptyState, descriptionList, timestamp, secret, table, tag } from '../components.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Canary = OutputOf<typeof listCanaries>['canaries'][number];

/** Canaries of a mailbox, and the tokens that touched them. */
export const canaries = mailboxPage('canaries', {
  notices: {
    planted: 'Canary created.',
    settled: 'Canary re-armed. Tokens that it froze stay frozen: activate them on the page Agents.',
    removed: 'Canary and its message deleted.',
  },
  actions: {
    plant: operationAction(
      'plant_canary',
      (result) => planted(result as OutputOf<typeof layOutCanary>),
      (fields, params) => ({
        mailbox: params['id'],
        label: fields.line('label') ?? '',
        kind: fields.text('kind'),
        story: fields.text('story'),
      }),
    ),
    settle: operationAction('settle_canary', 'settled', ['canaryId']),
    remove: operationAction('remove_canary', 'removed', ['canaryId']),
  },
  async show(visit, state) {
    const mailbox = state.params['id'] ?? '';
    const listed = await readOperation<typeof listCanaries>(visit, 'list_canaries', { mailbox });
    if (listed === undefined) return undefined;
    return html`<section>
        <h2>Canaries</h2>
        <p>${ABOUT}</p>
        ${listed.canaries.length === 0 ? NONE : listed.canaries.map((one) => canarySection(visit, one))}
      </section>
      ${form(visit, state)}`;
  },
});

const ABOUT =
  'A message, secret or address that no honest agent uses. An agent that opens it, sends it or writes to it was manipulated: it is frozen at once, and the owners are notified.';
const NONE = emptyState('No canaries', 'Agents cannot see which messages are canaries, nor that any exist.');

function planted({ canary, honeytoken }: OutputOf<typeof layOutCanary>) {
  if (canary.messageId !== null) return { kind: 'done', notice: 'planted' } as const;
  const rows: [string, string][] = [
    ...(honeytoken === null ? [] : [['Secret', honeytoken] as [string, string]]),
    ...(canary.address === null ? [] : [['Address', canary.address] as [string, string]]),
  ];
  const about = 'Place it where only an intruder would look, below the first lines of a message.';
  return { kind: 'shown', panel: secret(canary.label, rows, about) } as const;
}

const ACTIONS: Record<Canary['trips'][number]['what'], string> = {
  opened: 'opened its message',
  shown: 'read its secret',
  sent: 'tried to send it, or to write to its address',
  'written-to': 'wrote to its address',
};

function canarySection(visit: Visit, { canaryId, label, messageId, address, plantedAt, trips }: Canary): Html {
  const open = trips.some(({ settledAt }) => settledAt === null);
  const remove = {
    label: 'Delete',
    question: 'Deletes its message, its address and the list of accesses.',
    yes: 'Delete',
    values: { canaryId },
  };
  return html`<section>
    <h2>${label} ${open && tag('Triggered', 'bad')}</h2>
    ${descriptionList([
      ['Created', timestamp(plantedAt)],
      ['Message', messageId === null ? 'None' : 'In the mailbox'],
      address !== null && ['Address', address],
    ])}
    ${trips.length > 0 && tripTable(trips)}
    ${isAllowed(visit, 'settle_canary') && buttonRow(open && actionButton(visit, 'settle', 'Re-arm', { canaryId }), confirmedAction(visit, 'remove', remove))}
  </section>`;
}

function tripTable(trips: Canary['trips']): Html {
  return table(
    'Accesses',
    ['Token', 'Action', 'Time', 'Protocol'],
    trips.map(({ by, name, at, door: protocol, what, addresses }) => [
      by === '' ? 'Unknown' : [name, html` <code>${by}</code>`],
      [ACTIONS[what], addresses.length > 0 && html`<br /><span class="small soft">${addresses.join(', ')}</span>`],
      timestamp(at),
      protocol,
    ]),
  );
}

const KINDS = [
  { value: 'message', label: 'A message in this mailbox, with a secret and an address' },
  { value: 'secret', label: 'Only a secret, to place elsewhere' },
  { value: 'address', label: 'Only an address, to place elsewhere' },
];
const PRETEXTS = [
  { value: 'console', label: 'access to an admin console' },
  { value: 'payments', label: 'a key of a payment account' },
  { value: 'recovery', label: 'the recovery of a backup' },
];

function form(visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'plant');
  const hint = 'For you and alerts only. Do not mention that it is a canary.';
  const body = html`${field({ name: 'label', label: 'Name', hint }, formState)}
  ${select({ name: 'kind', label: 'Type', choices: KINDS }, formState)}
  ${select({ name: 'story', label: 'Pretext', choices: PRETEXTS }, formState)}`;
  return (
    isAllowed(visit, 'plant_canary') &&
    html`<section>
      <h2>Create a canary</h2>
      ${actionForm(visit, 'plant', 'Create canary', body)}
    </section>`
  );
}

/** Alerts about triggered canaries, for other pages. */
export async function canaryAlertList(visit: Visit, t: Translator = ENGLISH): Promise<HtmlPart> {
  const { context, membership, base, caller } = visit;
  if (!isAllowed(visit, 'list_canaries')) return undefined;
  const all = await context.store.read(trippedAccounts, { tenant: membership.organization });
  return all
    .filter((account) => caller.mailboxes?.includes(account) !== false)
    .map(
      (account) =>
        html`<div class="note bad">
          <p>
            <strong>${t('overview.canary')}</strong>
            <a href="${base}/mailboxes/${publicId('mailbox', account)}/canaries">${t('overview.canary-link')}</a>
          </p>
        </div>`,
    );
}
