import type { getOrganization } from '../../operations/organization/organization.ts';
import type { listEmailForwarders } from '../../operations/sending/forwarders.ts';
import { checks, field } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, press, sheet, type State, sure } from '../page.ts';
import { address, cursorOf, empty, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Forwarder = Answer<typeof listEmailForwarders>['forwarders'][number];

export const forwarders: Page = {
  path: '/forwarding',
  name: 'Forwarding',
  menu: 'Mail',
  needs: 'list_email_forwarders',
  done: {
    set: 'The forward is set. Mail keeps its author, so a destination that is strict about SPF may refuse some of it.',
    removed: 'The forward is removed.',
    policy: 'The policy is changed.',
  },
  acts: {
    set: acting(
      'set_email_forwarder',
      (fields) => ({
        sourceAddress: fields.line('sourceAddress') ?? '',
        destinationAddress: fields.line('destinationAddress') ?? '',
        keepLocalCopy: fields.text('keepLocalCopy') === 'true',
      }),
      () => ({ kind: 'done', said: 'set' }),
    ),
    remove: acting(
      'remove_email_forwarder',
      (fields) => ({ forwarderId: fields.text('forwarderId') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
    policy: acting(
      'set_forwarding_policy',
      (fields) => ({ confirmExternal: fields.text('confirmExternal') === 'true' }),
      () => ({ kind: 'done', said: 'policy' }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listEmailForwarders>(visit, 'list_email_forwarders', page);
    const all = listed?.forwarders ?? [];
    return html`${head('Forwarding', 'Mail for an address here is passed on to one elsewhere.')}
    ${all.length === 0 ? NONE : forwarderTable(visit, all)} ${nextPage(`${visit.base}/forwarding`, listed?.nextCursor)}
    ${can(visit, 'set_email_forwarder') && form(visit, state)} ${await policy(visit)}`;
  },
};

const NONE = empty('Nothing is forwarded', 'An address needs no mailbox here to be forwarded, only a domain.');

export function forwarderTable(visit: Visit, all: readonly Forwarder[]): Part {
  return table(
    'Forwards',
    ['Mail for', 'Goes to', 'Here', ''],
    all.map(({ id, sourceAddress, destinationAddress, mode, keepLocalCopy, state }) => [
      address(sourceAddress),
      [address(destinationAddress), state === 'pending' && [' ', tag('not confirmed yet', 'warn')]],
      mode === 'forward_only' ? tag('no mailbox') : tag(keepLocalCopy ? 'a copy stays' : 'no copy'),
      can(visit, 'remove_email_forwarder') &&
        sure(visit, 'remove', {
          label: 'Remove',
          question: `Mail for ${sourceAddress} no longer goes to ${destinationAddress}.`,
          yes: 'Remove it',
          values: { forwarderId: id },
        }),
    ]),
  );
}

function form(visit: Visit, state: State): Part {
  const filled = filledFor(state, 'set');
  const source = { name: 'sourceAddress', label: 'Mail for', placeholder: 'office@example.com' };
  const destination = { name: 'destinationAddress', label: 'Goes to', placeholder: 'anna@elsewhere.example' };
  const keep = { value: 'true', label: 'Keep a copy in the mailbox, where there is one' };
  return html`<section>
    <h2>Forward an address</h2>
    ${sheet(
      visit,
      'set',
      'Forward it',
      html`<div class="row">${field(source, filled)} ${field(destination, filled)}</div>
        ${checks({ name: 'keepLocalCopy', label: 'Copy', choices: [keep], ticked: ['true'] }, filled)}`,
    )}
  </section>`;
}

async function policy(visit: Visit): Promise<Part> {
  if (!can(visit, 'set_forwarding_policy')) return undefined;
  const found = await read<typeof getOrganization>(visit, 'get_organization', {});
  if (found === undefined) return undefined;
  const { confirmForwards: asks } = found.organization;
  const label = asks ? 'Forward at once' : 'Ask destinations first';
  return html`<section>
    <h2>Before mail leaves</h2>
    <p>
      ${
        asks
          ? 'A destination elsewhere is asked by mail. Until it confirms, the mail stays here.'
          : 'New forwards work at once. They can wait until the destination confirms them by a link that it is mailed.'
      }
    </p>
    ${press(visit, 'policy', label, { confirmExternal: String(!asks) }, 'button')}
  </section>`;
}
