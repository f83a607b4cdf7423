import type { listRoutes } from '../../operations/queue/routes.ts';
import { type Field, field, type Filled, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State, sure } from '../page.ts';
import { empty, head, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Listed = Answer<typeof listRoutes>;
type Route = Listed['routes'][number];

export const routes: Page = {
  path: '/routes',
  name: 'Routes',
  menu: 'Mail',
  needs: 'list_outbound_routes',
  done: {
    set: 'The route is there. Waiting mail follows it.',
    removed: 'The route and its password are removed. Mail goes as the others say.',
  },
  acts: {
    set: acting(
      'set_outbound_route',
      (fields) => ({
        receiverDomain: fields.line('receiverDomain'),
        senderDomain: fields.line('senderDomain'),
        use: fields.line('use'),
        host: fields.line('host'),
        port: fields.line('port'),
        tls: fields.line('tls'),
        certificate: fields.line('certificate'),
        username: fields.line('username'),
        password: fields.text('password') || undefined,
      }),
      () => ({ kind: 'done', said: 'set' }),
    ),
    remove: acting(
      'remove_outbound_route',
      (fields) => ({ routeId: fields.text('routeId') }),
      () => ({ kind: 'done', said: 'removed' }),
    ),
  },
  async show(visit, state) {
    const listed = await read<typeof listRoutes>(visit, 'list_outbound_routes', {});
    if (listed === undefined) return undefined;
    return html`${head('Routes', ['Mail leaves by these, the most specific first; the rest goes ', listed.otherwise, '.'])}
    ${listed.routes.length === 0 ? NONE : listOf(visit, listed.routes)}
    ${can(visit, 'set_outbound_route') && form(visit, state)}`;
  },
};

const NONE = empty('There are no routes', 'With one, mail leaves by another server, a smarthost: all of it, or some.');

function listOf(visit: Visit, all: readonly Route[]): Part {
  return table(
    'Routes',
    ['Mail', 'Way', 'Smarthost', 'Login', ''],
    all.map((one) => [
      whichMail(one),
      WAYS[one.use],
      one.host === null ? '' : html`<code>${one.host}:${one.port ?? ''}</code>${protection(one)}`,
      [one.username ?? 'none', one.problem !== null && html` ${tag('refused', 'bad')} ${one.problem}`],
      can(visit, 'remove_outbound_route') && removal(visit, one),
    ]),
  );
}

function whichMail({ receiverDomain, senderDomain }: Route): string {
  if (receiverDomain !== null) return `to ${receiverDomain}`;
  return senderDomain === null ? 'all' : `from ${senderDomain}`;
}

const WAYS: Readonly<Record<Route['use'], string>> = {
  always: 'by the smarthost',
  failover: 'directly, and by the smarthost where a receiver refuses this box',
  never: 'directly only',
};

function protection({ tls, certificate }: Route): Part {
  const how = tls === 'implicit' ? 'TLS' : 'STARTTLS';
  return html`<br /><span class="small soft">${how}${certificate === 'any' && ', any certificate'}</span>`;
}

function removal(visit: Visit, one: Route): Part {
  return sure(visit, 'remove', {
    label: 'Remove',
    question: `The route for ${whichMail(one) === 'all' ? 'all mail' : `mail ${whichMail(one)}`} and its password are gone; what waits goes as the other routes say.`,
    yes: 'Remove it',
    values: { routeId: one.routeId },
  });
}

function form(visit: Visit, state: State): Part {
  const filled = filledFor(state, 'set');
  return html`<section>
    <h2>Set a route</h2>
    <p>It replaces the one that there is for the same mail. With no domain it is for all mail.</p>
    ${sheet(visit, 'set', 'Set it', [
      FIELDS.mail.map((one) => field(one, filled)),
      use(filled),
      FIELDS.server.map((one) => field(one, filled)),
      encryption(filled),
      FIELDS.login.map((one) => field(one, filled)),
    ])}
  </section>`;
}

const FIELDS = {
  mail: [
    { name: 'receiverDomain', label: 'Mail to the domain', optional: true, placeholder: 'elsewhere.example' },
    { name: 'senderDomain', label: 'Mail from the domain', optional: true, hint: 'One of this organization.' },
  ],
  server: [
    { name: 'host', label: 'Smarthost', optional: true, hint: 'Left out only where mail goes directly.' },
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
      hint: 'Sent over TLS only, kept sealed, and never shown again.',
    },
  ],
} as const satisfies Record<string, readonly Field[]>;

function use(filled: Filled): Part {
  const choices = (['always', 'failover', 'never'] as const).map((value) => ({ value, label: WAYS[value] }));
  return select({ name: 'use', label: 'It leaves', choices }, filled);
}

function encryption(filled: Filled): Part {
  const tls = [
    { value: '', label: 'as the port says: TLS on 465, else STARTTLS' },
    { value: 'starttls', label: 'STARTTLS' },
    { value: 'implicit', label: 'TLS from the start' },
  ];
  const certificate = [
    { value: 'verified', label: 'must be good for the name' },
    { value: 'any', label: 'may be any' },
  ];
  return [
    select({ name: 'tls', label: 'Encryption', choices: tls }, filled),
    select({ name: 'certificate', label: 'Its certificate', choices: certificate }, filled),
  ];
}
