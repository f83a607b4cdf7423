import type { listRoutes } from '../../operations/queue/routes.ts';
import { field, type FormState, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { operationAction, formStateFor, type Page, actionForm, type PageState, confirmedAction } from '../page.ts';
import { emptyState, pageHead, table, tag } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';

type Listed = OutputOf<typeof listRoutes>;
type Route = Listed['routes'][number];

export const routes: Page = {
  path: '/routes',
  name: 'Routes',
  translated: true,
  menu: 'Mail',
  needs: 'list_outbound_routes',
  notices: {
    set: { message: 'route.set' },
    removed: { message: 'route.removed' },
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
    const t = translatorOf(visit.request);
    const about = t.rich('route.about', { otherwise: t.english(listed.otherwise) });
    return html`${pageHead(t('page.Routes'), about)}
    ${listed.routes.length === 0 ? emptyState(t('route.none'), t('route.none-text')) : listOf(t, visit, listed.routes)}
    ${isAllowed(visit, 'set_outbound_route') && form(t, visit, state)}`;
  },
};

function listOf(t: Translator, visit: Visit, all: readonly Route[]): HtmlPart {
  return table(
    t('page.Routes'),
    [t('route.mail'), t('queue.route'), t('route.smarthost'), t('route.login'), ''],
    all.map((one) => [
      whichMail(t, one),
      t(`route-way.${one.use}`),
      one.host === null ? '' : html`<code>${one.host}:${one.port ?? ''}</code>${protection(t, one)}`,
      [one.username ?? t('route.no-login'), one.problem !== null && rejection(t, one.problem)],
      isAllowed(visit, 'remove_outbound_route') && removal(t, visit, one),
    ]),
    t,
  );
}

function whichMail(t: Translator, { receiverDomain, senderDomain }: Route): string {
  if (receiverDomain !== null) return t('route-mail.to', { domain: receiverDomain });
  return senderDomain === null ? t('route-mail.all') : t('route-mail.from', { domain: senderDomain });
}

function protection(t: Translator, { tls, certificate }: Route): HtmlPart {
  const encryption = tls === 'implicit' ? 'TLS' : 'STARTTLS';
  const words = certificate === 'any' ? t('route.any-certificate', { encryption }) : encryption;
  return html`<br /><span class="small soft">${words}</span>`;
}

function rejection(t: Translator, problem: string): HtmlPart {
  return html` ${tag(t('route.rejected'), 'bad')} ${t.english(problem)}`;
}

function removal(t: Translator, visit: Visit, one: Route): HtmlPart {
  return confirmedAction(visit, 'remove', {
    label: t('mailbox.delete-button'),
    question: removalQuestion(t, one),
    yes: t('mailbox.delete-button'),
    values: { routeId: one.routeId },
  });
}

function removalQuestion(t: Translator, { receiverDomain, senderDomain }: Route): string {
  if (receiverDomain !== null) return t('route-remove.to', { domain: receiverDomain });
  return senderDomain === null ? t('route-remove.all') : t('route-remove.from', { domain: senderDomain });
}

function form(t: Translator, visit: Visit, state: PageState): HtmlPart {
  const formState = formStateFor(state, 'set');
  return html`<section>
    <h2>${t('route.add-title')}</h2>
    <p>${t('route.add-about')}</p>
    ${actionForm(visit, 'set', t('route.save'), [
      mailFields(t, formState),
      use(t, formState),
      serverFields(t, formState),
      encryption(t, formState),
      loginFields(t, formState),
    ])}
  </section>`;
}

function mailFields(t: Translator, formState: FormState): HtmlPart {
  const optional = t('field.optional');
  const to = { label: t('route.recipient-domain'), optional, placeholder: 'elsewhere.example' };
  const from = { label: t('route.sender-domain'), optional, hint: t('route.sender-hint') };
  return [field({ name: 'receiverDomain', ...to }, formState), field({ name: 'senderDomain', ...from }, formState)];
}

function serverFields(t: Translator, formState: FormState): HtmlPart {
  const host = { label: t('route.smarthost'), optional: t('field.optional'), hint: t('route.smarthost-hint') };
  return [
    field({ name: 'host', ...host }, formState),
    field({ name: 'port', label: t('route.port'), value: '587' }, formState),
  ];
}

function loginFields(t: Translator, formState: FormState): HtmlPart {
  const optional = t('field.optional');
  const user = { label: t('access.user-name'), optional, autocomplete: 'off' };
  const password = { label: t('field.password'), optional, hint: t('route.password-hint') };
  return [
    field({ name: 'username', ...user }, formState),
    field({ name: 'password', type: 'password', autocomplete: 'new-password', ...password }, formState),
  ];
}

function use(t: Translator, formState: FormState): HtmlPart {
  const choices = (['always', 'failover', 'never'] as const).map((value) => ({
    value,
    label: t(`route-way.${value}`),
  }));
  return select({ name: 'use', label: t('queue.route'), choices }, formState);
}

function encryption(t: Translator, formState: FormState): HtmlPart {
  const tls = [
    { value: '', label: t('route.automatic') },
    { value: 'starttls', label: 'STARTTLS' },
    { value: 'implicit', label: t('route.implicit') },
  ];
  const certificate = [
    { value: 'verified', label: t('route.verified') },
    { value: 'any', label: t('route.any') },
  ];
  return [
    select({ name: 'tls', label: t('route.encryption'), choices: tls }, formState),
    select({ name: 'certificate', label: t('route.certificate'), choices: certificate }, formState),
  ];
}
