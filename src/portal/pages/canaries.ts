import { publicId } from '../../core/ids.ts';
import { trippedAccounts } from '../../../mail/agents/canary/canary.ts';
import type { layOutCanary } from '../../operations/canaries/plant.ts';
import type { listCanaries } from '../../operations/canaries/canaries.ts';
import { field, select } from '../forms.ts';
import { html, type Html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, actionButton, actionForm, type PageState, confirmedAction } from '../page.ts';
import { buttonRow, emptyState, descriptionList, timestamp, secret, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { mailboxPage } from './mailbox-tabs.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Canary = OutputOf<typeof listCanaries>['canaries'][number];

/** Canaries of a mailbox, and the tokens that touched them. */
export const canaries = mailboxPage('canaries', {
  translated: true,
  notices: {
    planted: { message: 'canary.planted' },
    settled: { message: 'canary.settled' },
    removed: { message: 'canary.removed' },
  },
  actions: {
    plant: operationAction(
      'plant_canary',
      (result, { request }) => planted(translatorOf(request), result as OutputOf<typeof layOutCanary>),
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
    const t = translatorOf(visit.request);
    const none = emptyState(t('canary.none'), t('canary.none-text'));
    return html`<section>
        <h2>${t('page.Canaries')}</h2>
        <p>${t('canary.about')}</p>
        ${listed.canaries.length === 0 ? none : listed.canaries.map((one) => canarySection(t, visit, one))}
      </section>
      ${form(t, visit, state)}`;
  },
});

function planted(t: Translator, { canary, honeytoken }: OutputOf<typeof layOutCanary>) {
  if (canary.messageId !== null) return { kind: 'done', notice: 'planted' } as const;
  const rows: [string, string][] = [
    ...(honeytoken === null ? [] : [[t('proposal.secret'), honeytoken] as [string, string]]),
    ...(canary.address === null ? [] : [[t('devices.address'), canary.address] as [string, string]]),
  ];
  return { kind: 'shown', panel: secret(canary.label, rows, t('canary.place')) } as const;
}

function canarySection(t: Translator, visit: Visit, one: Canary): Html {
  const { canaryId, label, messageId, address, plantedAt, trips } = one;
  const open = trips.some(({ settledAt }) => settledAt === null);
  return html`<section>
    <h2>${label} ${open && tag(t('canary.triggered'), 'bad')}</h2>
    ${descriptionList([
      [t('mailbox.created'), timestamp(plantedAt, t)],
      [t('find.message'), t(messageId === null ? 'canary.no-message' : 'canary.in-mailbox')],
      address !== null && [t('devices.address'), address],
    ])}
    ${trips.length > 0 && tripTable(t, trips)}
    ${isAllowed(visit, 'settle_canary') && buttonRow(open && actionButton(visit, 'settle', t('canary.re-arm'), { canaryId }), removal(t, visit, canaryId))}
  </section>`;
}

function removal(t: Translator, visit: Visit, canaryId: string): Html {
  return confirmedAction(visit, 'remove', {
    label: t('mailbox.delete-button'),
    question: t('canary.remove-question'),
    yes: t('mailbox.delete-button'),
    values: { canaryId },
  });
}

function tripTable(t: Translator, trips: Canary['trips']): Html {
  return table(
    t('canary.accesses'),
    [t('token.name'), t('find.action'), t('charts.time'), t('canary.protocol')],
    trips.map(({ by, name, at, door: protocol, what, addresses }) => [
      by === '' ? t('devices.unknown') : [name, html` <code>${by}</code>`],
      [
        t(`canary-act.${what}`),
        addresses.length > 0 && html`<br /><span class="small soft">${addresses.join(', ')}</span>`,
      ],
      timestamp(at, t),
      protocol,
    ]),
    t,
  );
}

const KINDS = ['message', 'secret', 'address'] as const;
const PRETEXTS = ['console', 'payments', 'recovery'] as const;

function form(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'plant');
  const kinds = KINDS.map((value) => ({ value, label: t(`canary-type.${value}`) }));
  const pretexts = PRETEXTS.map((value) => ({ value, label: t(`canary-pretext.${value}`) }));
  const body = html`${field({ name: 'label', label: t('account.name'), hint: t('canary.name-hint') }, formState)}
  ${select({ name: 'kind', label: t('canary.type'), choices: kinds }, formState)}
  ${select({ name: 'story', label: t('canary.pretext'), choices: pretexts }, formState)}`;
  return (
    isAllowed(visit, 'plant_canary') &&
    html`<section>
      <h2>${t('canary.create-title')}</h2>
      ${actionForm(visit, 'plant', t('canary.create'), body)}
    </section>`
  );
}

/** Alerts about triggered canaries, for other pages. */
export async function canaryAlertList(visit: Visit, t: Translator): Promise<HtmlPart> {
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
