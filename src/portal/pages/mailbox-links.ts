import type { testInboundWebhook } from '../../operations/sending/webhook-replay.ts';
import type { getInboundWebhook, setInboundWebhook } from '../../operations/sending/webhooks.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { type Act, acting, filledFor, more, type Params, press, type State, sure } from '../page.ts';
import { acts, facts, moment, secret, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import type { Mailbox } from './mailboxes.ts';
import { history, historyActs } from './webhook-history.ts';

const which = (params: Params) => ({ mailboxId: params['id'] });

/** What a mailbox is tied to: services that get its variables, and a URL that is told of new mail. */
export const linkActs: Readonly<Record<string, Act>> = {
  hook: acting(
    'set_email_inbound_webhook',
    (fields, params) => ({ ...which(params), url: fields.line('url') ?? '' }),
    (result) => {
      const { signingSecret } = result as Answer<typeof setInboundWebhook>;
      const about = 'It is shown this once. Deliveries carry X-Service-Signature, an HMAC-SHA256 of the body with it.';
      return { kind: 'shown', panel: secret('The signing secret', [['Signing secret', signingSecret]], about) };
    },
  ),
  ...historyActs(which),
  test: acting(
    'test_inbound_webhook',
    (_fields, params) => which(params),
    (result) => {
      const { status } = result as Answer<typeof testInboundWebhook>;
      return { kind: 'done', said: status === 'told' ? 'tested' : 'untaken' };
    },
  ),
  unhook: acting(
    'remove_email_inbound_webhook',
    (_fields, params) => which(params),
    () => ({
      kind: 'done',
      said: 'hooked',
    }),
  ),
  attach: acting(
    'attach_email_to_service',
    (fields, params) => ({ ...which(params), serviceId: fields.text('serviceId'), alias: fields.line('alias') }),
    () => ({ kind: 'done', said: 'attached' }),
  ),
  detach: acting(
    'detach_email_from_service',
    (fields, params) => ({ ...which(params), serviceId: fields.text('serviceId') }),
    () => ({ kind: 'done', said: 'detached' }),
  ),
};

export async function services(visit: Visit, state: State, one: Mailbox): Promise<Part> {
  if (!can(visit, 'attach_email_to_service')) return undefined;
  const all = (await read<typeof listServicesOf>(visit, 'list_services', { limit: 100 }))?.services ?? [];
  const attached = all.filter(({ id }) => one.attachedServiceIds.includes(id));
  const free = all.filter(({ id }) => !one.attachedServiceIds.includes(id));
  return html`<section>
    <h2>Services</h2>
    <p>An attached service gets the address, servers and password of this mailbox as EMAIL_* variables.</p>
    ${attached.length > 0 && attachedTable(visit, attached)}
    ${all.length === 0 && html`<p class="small soft">There is no service yet: <a href="${visit.base}/services">create one</a>.</p>`}
    ${free.length > 0 && more(visit, state, 'attach', 'Attach a service', 'Attach it', attachInputs(state, free))}
  </section>`;
}

function attachedTable(visit: Visit, attached: readonly { id: string; name: string }[]): Part {
  return table(
    'Attached services',
    ['Service', ''],
    attached.map(({ id, name }) => [
      html`<a href="${visit.base}/services/${id}">${name}</a>`,
      sure(visit, 'detach', {
        label: 'Detach',
        question: `${name} loses the EMAIL_* variables of this mailbox.`,
        yes: 'Detach it',
        values: { serviceId: id },
      }),
    ]),
  );
}

function attachInputs(state: State, free: readonly { id: string; name: string }[]): Part {
  const filled = filledFor(state, 'attach');
  const choices = free.map(({ id, name }) => ({ value: id, label: name }));
  const hint = 'For a second mailbox of one service: the variables are then called EMAIL_<ALIAS>_...';
  return html`${select({ name: 'serviceId', label: 'Service', choices }, filled)}
  ${field({ name: 'alias', label: 'Alias', optional: true, hint }, filled)}`;
}

export async function webhook(visit: Visit, state: State, one: Mailbox): Promise<Part> {
  if (!can(visit, 'set_email_inbound_webhook')) return undefined;
  const found = await read<typeof getInboundWebhook>(visit, 'get_email_inbound_webhook', { mailboxId: one.id });
  const hook = found?.webhook ?? null;
  const url = { name: 'url', label: 'URL', type: 'url', placeholder: 'https://example.com/mail' } as const;
  const body = field({ ...url, value: hook?.url ?? '' }, filledFor(state, 'hook'));
  return html`<section>
    <h2>Webhook</h2>
    <p>A program of yours is told of each mail that arrives here, by a signed HTTP request.</p>
    ${hook !== null && [hookFacts(hook), hookActs(visit, hook), await history(visit, { mailboxId: one.id })]}
    ${hook !== null && html`<div>${sure(visit, 'unhook', REMOVE)}</div>`}
    ${more(visit, state, 'hook', hook === null ? 'Set a webhook' : 'Set another one', 'Set it', body)}
  </section>`;
}

const REMOVE = {
  label: 'Remove the webhook',
  question: 'Nobody is told any more; mail still lands in the mailbox.',
  yes: 'Remove it',
};

function hookActs(visit: Visit, { enabled }: { enabled: boolean }): Part {
  if (!enabled) return acts(can(visit, 'enable_webhook') && press(visit, 'enable', 'Switch it on again', {}, ''));
  return acts(can(visit, 'test_inbound_webhook') && press(visit, 'test', 'Send the newest message', {}, 'quiet'));
}

function hookFacts(hook: NonNullable<Answer<typeof getInboundWebhook>['webhook']>): Part {
  const { url, enabled, lastDeliveryAt, lastStatus, consecutiveFailures: failures, waiting, givenUp } = hook;
  return facts([
    ['URL', [html`<code>${url}</code>`, ' ', !enabled && tag('off', 'bad')]],
    [
      'Last delivery',
      lastDeliveryAt === null ? 'none yet' : [moment(lastDeliveryAt), ` (${lastStatus ?? 'no answer'})`],
    ],
    failures > 0 && ['Failed', `${failures} times in a row`],
    waiting > 0 && ['Waiting', waiting],
    givenUp > 0 && ['Given up', givenUp],
  ]);
}
