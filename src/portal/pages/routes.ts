import type { listRoutes } from '../../operations/queue/routes.ts';
import { type FormField, field, type FormState, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { emptyState, pageHead, table, tag } from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Listed = OutputOf<typeof listRoutes>;
type Route = Listed['routes'][number];

export const routes: Page = {
  path: '/routes',
  name: 'Routes',
  menu: 'Mail',
  needs: 'list_outbound_routes',
  notices: {
    set: 'Route saved. Queued mail uses it.',
    removed: 'Route and its password deleted. Mail uses the other routes.',
  },
  actions: {
    set: operationAction('set_outbound_route', 'set', (fields) => ({
      receiverDomain: fields.line('receiverDomain'),
      senderDomain: fields.line('senderDomain'),
      use: fields.line('use'),
      host: fields.line('host'),
      port: fields.line('port'),
      tls: fields.line('tls'),
      certificate: fields.line('certificate'),
      username: fields.line('username'),
      password: fields.text('password') || undefined,
    })),
    remove: operationAction('remove_outbound_route', 'removed', ['routeId']),
  },
  async show(visit, state) {
    const listed = await readOperation<typeof listRoutes>(visit, 'list_outbound_routes', {});
    if (listed === undefined) return undefined;
    return html`${pageHead('Routes', ['Routes for outgoing mail. The most specific one applies. Other mail: ', listed.otherwise, '.'])}
    ${listed.routes.length === 0 ? NONE : listOf(visit, listed.routes)}
    ${isAllowed(visit, 'set_outbound_route') && form(visit, state)}`;
  },
};

const NONE = emptyState('No routes', 'A route sends some or all mail through another server (smarthost).');

function listOf(visit: Visit, all: readonly Route[]): HtmlPart {
  return table(
    'Routes',
    ['Mail', 'Route', 'Smarthost', 'Login', ''],
    all.map((one) => [
      whichMail(one),
      WAYS[one.use],
      one.host === null ? '' : html`<code>${one.host}:${one.port ?? ''}</code>${protection(one)}`,
      [one.username ?? 'None', one.problem !== null && html` ${tag('Rejected', 'bad')} ${one.problem}`],
      isAllowed(visit, 'remove_outbound_route') && removal(visit, one),
    ]),
  );
}

function whichMail({ receiverDomain, senderDomain }: Route): string {
  if (receiverDomain !== null) return `to ${receiverDomain}`;
  return senderDomain === null ? 'all' : `from ${senderDomain}`;
}

const WAYS: Readonly<Record<Route['use'], string>> = {
  always: 'Smarthost',
  failover: 'Direct, smarthost if the recipient’s server refuses this one',
  never: 'Direct only',
};

function protection({ tls, certificate }: Route): HtmlPart {
  const how = tls === 'implicit' ? 'TLS' : 'STARTTLS';
  return html`<br /><span class="small soft">${how}${certificate === 'any' && ', any certificate'}</span>`;
}

function removal(visit: Visit, one: Route): HtmlPart {
  return confirmedAction(visit, 'remove', {
    label: 'Delete',
    question: `Deletes the route for ${whichMail(one) === 'all' ? 'all mail' : `mail ${whichMail(one)}`} and its password. Queued mail uses the other routes.`,
    yes: 'Delete',
    values: { routeId: one.routeId },
  });
}

function form(visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'set');
  return html`<section>
    <h2>Add a route</h2>
    <p>Replaces an existing route for the same mail. Without a domain it applies to all mail.</p>
    ${actionForm(visit, 'set', 'Save route', [
      FIELDS.mail.map((one) => field(one, formState)),
      use(formState),
      FIELDS.server.map((one) => field(one, formState)),
      encryption(formState),
      FIELDS.login.map((one) => field(one, formState)),
    ])}
  </section>`;
}

const FIELDS = {
  mail: [
    { name: 'receiverDomain', label: 'Recipient domain', optional: true, placeholder: 'elsewhere.example' },
    { name: 'senderDomain', label: 'Sender domain', optional: true, hint: 'One of this organization.' },
  ],
  server: [
    { name: 'host', label: 'Smarthost', optional: true, hint: 'Required unless the route is direct only.' },
    { name: 'port', label: 'Port', value: '587' },
  ],
  login: [
    { name: 'username', label: 'User name', optional: true, autocomplete: 'off' },
    {
      name: 'password',
      label: 'Password',
      type: 'password',
      optional: true,
      autocomplete: 'new-password',
      hint: 'Sent over TLS only, stored encrypted, never shown again.',
    },
  ],
} as const satisfies Record<string, readonly FormField[]>;

function use(formState: FormState): HtmlPart {
  const choices = (['always', 'failover', 'never'] as const).map((value) => ({ value, label: WAYS[value] }));
  return select({ name: 'use', label: 'Route', choices }, formState);
}

function encryption(formState: FormState): HtmlPart {
  const tls = [
    { value: '', label: 'Automatic: TLS on 465, else STARTTLS' },
    { value: 'starttls', label: 'STARTTLS' },
    { value: 'implicit', label: 'Implicit TLS' },
  ];
  const certificate = [
    { value: 'verified', label: 'Verified' },
    { value: 'any', label: 'Any (not verified)' },
  ];
  return [
    select({ name: 'tls', label: 'Encryption', choices: tls }, formState),
    select({ name: 'certificate', label: 'Certificate', choices: certificate }, formState),
  ];
}
