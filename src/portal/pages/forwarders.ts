import type { getOrganization } from '../../operations/organization/organization.ts';
import type { listEmailForwarders } from '../../operations/sending/forwarders.ts';
import { checkboxes, field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionButton,
  actionForm,
  type PageState,
  confirmedAction,
} from '../page.ts';
import { address, cursorOf, emptyState, pageHead, nextPage, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Forwarder = OutputOf<typeof listEmailForwarders>['forwarders'][number];

export const forwarders: Page = {
  path: '/forwarding',
  name: 'Forwarding',
  translated: true,
  menu: 'Mail',
  needs: 'list_email_forwarders',
  notices: {
    set: { message: 'forwarding.saved' },
    removed: { message: 'forwarding.removed' },
    policy: { message: 'forwarding.policy-changed' },
  },
  actions: {
    set: operationAction('set_email_forwarder', 'set', (fields) => ({
      sourceAddress: fields.line('sourceAddress') ?? '',
      destinationAddress: fields.line('destinationAddress') ?? '',
      keepLocalCopy: fields.text('keepLocalCopy') === 'true',
    })),
    remove: operationAction('remove_email_forwarder', 'removed', ['forwarderId']),
    policy: operationAction('set_forwarding_policy', 'policy', (fields) => ({
      confirmExternal: fields.text('confirmExternal') === 'true',
    })),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listEmailForwarders>(visit, 'list_email_forwarders', page);
    const all = listed?.forwarders ?? [];
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Forwarding'), t('forwarding.about'))}
    ${all.length === 0 ? emptyState(t('forwarding.none'), t('forwarding.none-text')) : forwarderTable(t, visit, all)}
    ${nextPage(`${visit.base}/forwarding`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'set_email_forwarder') && form(t, visit, state)} ${await policy(t, visit)}`;
  },
};

function forwarderTable(t: Translator, visit: Visit, all: readonly Forwarder[]): HtmlPart {
  return table(
    t('forwarding.forwards'),
    [t('devices.address'), t('overview.destination'), t('forwarding.copy'), ''],
    all.map(({ id, sourceAddress, destinationAddress, mode, keepLocalCopy, state }) => [
      address(sourceAddress),
      [address(destinationAddress), state === 'pending' && [' ', tag(t('forwarding.pending'), 'warn')]],
      mode === 'forward_only'
        ? tag(t('forwarding.no-mailbox'))
        : tag(t(keepLocalCopy ? 'forwarding.kept' : 'forwarding.no-copy')),
      isAllowed(visit, 'remove_email_forwarder') &&
        confirmedAction(visit, 'remove', {
          label: t('mailbox.delete-button'),
          question: t('forwarding.remove-question', { source: sourceAddress, destination: destinationAddress }),
          yes: t('mailbox.delete-button'),
          values: { forwarderId: id },
        }),
    ]),
    t,
  );
}

function form(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'set');
  const source = { name: 'sourceAddress', label: t('devices.address'), placeholder: 'office@example.com' };
  const destination = {
    name: 'destinationAddress',
    label: t('overview.destination'),
    placeholder: 'anna@elsewhere.example',
  };
  const keep = { value: 'true', label: t('forwarding.keep') };
  return html`<section>
    <h2>${t('forwarding.add-title')}</h2>
    ${actionForm(
      visit,
      'set',
      t('forwarding.add'),
      html`<div class="row">${field(source, formState)} ${field(destination, formState)}</div>
        ${checkboxes({ name: 'keepLocalCopy', label: t('forwarding.copy'), choices: [keep], ticked: ['true'] }, formState)}`,
    )}
  </section>`;
}

async function policy(t: Translator, visit: Visit): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_forwarding_policy')) return undefined;
  const found = await readOperation<typeof getOrganization>(visit, 'get_organization', {});
  if (found === undefined) return undefined;
  const { confirmForwards: asks } = found.organization;
  const label = t(asks ? 'forwarding.confirm-off' : 'forwarding.confirm');
  return html`<section>
    <h2>${t('forwarding.confirmation')}</h2>
    <p>${t(asks ? 'forwarding.confirmed' : 'forwarding.unconfirmed')}</p>
    ${actionButton(visit, 'policy', label, { confirmExternal: String(!asks) }, 'button')}
  </section>`;
}
