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
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Forwarder = OutputOf<typeof listEmailForwarders>['forwarders'][number];

export const forwarders: Page = {
  path: '/forwarding',
  name: 'Forwarding',
  menu: 'Mail',
  needs: 'list_email_forwarders',
  notices: {
    set: 'Forward saved. The sender address is unchanged, so a destination that enforces SPF may reject some mail.',
    removed: 'Forward deleted.',
    policy: 'Policy changed.',
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
    return html`${pageHead('Forwarding', 'Addresses whose mail is forwarded to another address.')}
    ${all.length === 0 ? NONE : forwarderTable(visit, all)} ${nextPage(`${visit.base}/forwarding`, listed?.nextCursor)}
    ${isAllowed(visit, 'set_email_forwarder') && form(visit, state)} ${await policy(visit)}`;
  },
};

const NONE = emptyState('No forwards', 'A forwarded address needs a domain, but no mailbox.');

export function forwarderTable(visit: Visit, all: readonly Forwarder[]): HtmlPart {
  return table(
    'Forwards',
    ['Address', 'Destination', 'Local copy', ''],
    all.map(({ id, sourceAddress, destinationAddress, mode, keepLocalCopy, state }) => [
      address(sourceAddress),
      [address(destinationAddress), state === 'pending' && [' ', tag('Pending', 'warn')]],
      mode === 'forward_only' ? tag('No mailbox') : tag(keepLocalCopy ? 'Kept' : 'None'),
      isAllowed(visit, 'remove_email_forwarder') &&
        confirmedAction(visit, 'remove', {
          label: 'Delete',
          question: `Mail for ${sourceAddress} is no longer forwarded to ${destinationAddress}.`,
          yes: 'Delete',
          values: { forwarderId: id },
        }),
    ]),
  );
}

function form(visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'set');
  const source = { name: 'sourceAddress', label: 'Address', placeholder: 'office@example.com' };
  const destination = { name: 'destinationAddress', label: 'Destination', placeholder: 'anna@elsewhere.example' };
  const keep = { value: 'true', label: 'Keep a copy in the local mailbox, if any' };
  return html`<section>
    <h2>Forward an address</h2>
    ${actionForm(
      visit,
      'set',
      'Create forward',
      html`<div class="row">${field(source, formState)} ${field(destination, formState)}</div>
        ${checkboxes({ name: 'keepLocalCopy', label: 'Local copy', choices: [keep], ticked: ['true'] }, formState)}`,
    )}
  </section>`;
}

async function policy(visit: Visit): Promise<HtmlPart> {
  if (!isAllowed(visit, 'set_forwarding_policy')) return undefined;
  const found = await readOperation<typeof getOrganization>(visit, 'get_organization', {});
  if (found === undefined) return undefined;
  const { confirmForwards: asks } = found.organization;
  const label = asks ? 'Do not require confirmation' : 'Require confirmation';
  return html`<section>
    <h2>Destination confirmation</h2>
    <p>
      ${
        asks
          ? 'External destinations must confirm by email before mail is forwarded to them.'
          : 'New forwards are active at once, without confirmation by the destination.'
      }
    </p>
    ${actionButton(visit, 'policy', label, { confirmExternal: String(!asks) }, 'button')}
  </section>`;
}
