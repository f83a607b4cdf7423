import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId } from '../core/ids.ts';
import { passwordFault } from '../people/password.ts';
import { changePassword } from '../people/password-commands.ts';
import { mailProof } from '../people/reset.ts';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { ownMailboxes, type OwnMailbox } from '../webmail-sessions/access-queries.ts';
import { formToken } from '../people/secrets.ts';
import { newPasswordField } from './claim-pages.ts';
import {
  type PageExchange,
  type PortalDeps,
  ownForm,
  redirect,
  sendPage,
  type Visitor,
  visitorOf,
} from './page-exchange.ts';
import { type FormState, field, hidden, problemNote, EMPTY_FORM, usernameField } from './forms.ts';
import type { Fields } from './form-fields.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { fullPage } from './layout.ts';
import { passwordFaultText } from './link-errors.ts';
import type { PlainPortalKey } from './message-types.ts';
import { type Translator, translatorOf } from './translator.ts';
import { pageFrame } from './organization-routes.ts';
import { checkOwnPassword } from './reauthentication.ts';
import { address, emptyState, pageHead, table, tag } from './components.ts';
import { endDevices } from './device-actions.ts';
import { deviceList, openMailboxes } from './device-list.ts';
import { pathOf } from './visit.ts';

const DONE: Readonly<Record<string, PlainPortalKey>> = {
  password: 'account.done-password',
  ended: 'account.done-ended',
  mailbox: 'account.done-mailbox',
  others: 'account.done-others',
  revoked: 'account.done-revoked',
  kept: 'account.done-kept',
  mailed: 'account.done-mailed',
  limited: 'account.done-limited',
  proven: 'account.done-proven',
};

/** `/account`: the signed-in person's password and sessions, independent of organizations. */
export function accountRoutes(deps: PortalDeps): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/account', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      const visitor = await visitorOf(exchange);
      return visitor === undefined
        ? redirect(exchange, '/login?next=/account')
        : accountPage(exchange, visitor, EMPTY_FORM);
    });
    app.post('/account', async (request, reply) => {
      const exchange = { ...deps, request, reply };
      const visitor = await visitorOf(exchange);
      return visitor === undefined ? redirect(exchange, '/login?next=/account') : act(exchange, visitor);
    });
  };
}

async function act(exchange: PageExchange, visitor: Visitor): Promise<FastifyReply> {
  const fields = ownForm(exchange, visitor, '/account');
  if (fields === undefined) return exchange.reply;
  const ended = await endDevices(exchange, visitor, fields);
  if (ended !== undefined) return redirect(exchange, `/account?done=${ended}`);
  switch (fields.text('do')) {
    case 'password':
      return setPassword(exchange, visitor, fields);
    case 'prove': {
      const done = await mailProof(exchange.context, visitor.person);
      return redirect(exchange, `/account?done=${done === 'sent' ? 'mailed' : 'limited'}`);
    }
    default:
      return redirect(exchange, '/account');
  }
}

async function setPassword(exchange: PageExchange, visitor: Visitor, fields: Fields): Promise<FastifyReply> {
  const { person, session } = visitor;
  const again = (errors: FormState['errors'], problem?: string): Promise<FastifyReply> =>
    accountPage(exchange, visitor, { values: {}, errors, problem }, 422);
  const wrong = await checkOwnPassword(exchange, visitor, fields.text('current'));
  if (wrong !== undefined) return again({ current: wrong });
  const t = translatorOf(exchange.request);
  const fault = passwordFault(fields.text('password'));
  if (fault !== undefined) return again({ password: passwordFaultText(t, fault) });
  const password = await exchange.people.passwords.hash(fields.text('password'));
  if (password === undefined) return again({}, t('error.busy'));
  const input = { user: person.id, expected: person.password, password, session: session.id };
  const done = await exchange.context.store.write(changePassword, input);
  switch (done.kind) {
    case 'changed':
      await endMemberMail(exchange.context, person.id);
      return redirect(exchange, '/account?done=password');
    case 'stale':
      return again({}, t('account.stale'));
    case 'taken':
      return again({}, t('account.taken'));
  }
}

async function accountPage(
  exchange: PageExchange,
  visitor: Visitor,
  formState: FormState,
  status = 200,
): Promise<FastifyReply> {
  const { done } = exchange.request.query as Record<string, unknown>;
  const notice = typeof done === 'string' ? DONE[done] : undefined;
  const { store } = exchange.context;
  const mailboxes = await store.read(ownMailboxes, { user: visitor.person.id });
  const t = translatorOf(exchange.request);
  const title = t('account.title');
  const body = html`${notice !== undefined && html`<div class="note" role="status"><p>${t(notice)}</p></div>`}
  ${problemNote(formState)} ${pageHead(title, visitor.person.email)} ${unproven(t, visitor)}
  ${mailboxList(t, visitor, openMailboxes(visitor, mailboxes))} ${belongs(t, visitor)} ${closedNote(exchange, visitor)}
  ${passwordForm(t, visitor, formState)} ${securityLink(t, visitor)} ${await deviceList(exchange, visitor)}
  ${connected(t)}`;
  const frame = pageFrame(exchange.request, visitor, title);
  return sendPage(exchange, fullPage(frame, html`<div class="reading">${body}</div>`), status);
}

/** Mailboxes that open without their password. */
function mailboxList(t: Translator, { secret }: Visitor, mailboxes: readonly OwnMailbox[]): HtmlPart {
  if (mailboxes.length === 0) return undefined;
  return html`<section>
    <h2>${t('account.mail')}</h2>
    ${table(
      t('account.mailboxes'),
      [t('account.mailbox'), ''],
      mailboxes.map(({ account, address: text }) => [
        address(text),
        html`<form class="inline" method="post" action="/mail/open">
          ${hidden('form', formToken(secret))} ${hidden('mailbox', publicId('mailbox', account))}
          <button>${t('account.open-mail')}</button>
        </form>`,
      ]),
      t,
    )}
  </section>`;
}

function securityLink(t: Translator, { person }: Visitor): Html {
  return html`<section>
    <h2>${t('security.title')}</h2>
    <p>
      ${t('account.factor')} ${person.secondFactor ? tag(t('state.active'), 'ok') : tag(t('account.no-factor'), 'warn')}
      <a href="/account/security">${t('account.manage')}</a>
    </p>
  </section>`;
}

function connected(t: Translator): Html {
  return html`<section>
    <h2>${t('apps.title')}</h2>
    <p>${t('account.apps')}</p>
    <p><a href="/account/apps">${t('account.apps-link')}</a></p>
  </section>`;
}

function unproven(t: Translator, { person, secret }: Visitor): HtmlPart {
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p><strong>${t('account.unverified')}</strong> ${t('account.unverified-text')}</p>
      <form method="post">
        ${hidden('form', formToken(secret))} ${hidden('do', 'prove')}
        <button class="quiet">${t('account.send-link')}</button>
      </form>
    </div>`
  );
}

function belongs(t: Translator, { memberships }: Visitor): HtmlPart {
  if (memberships.length === 0) {
    return emptyState(t('account.no-organizations'), t('account.no-organizations-text'));
  }
  return html`<section>
    <h2>${t('layout.organizations')}</h2>
    ${table(
      t('account.your-organizations'),
      [t('account.name'), t('account.role')],
      memberships.map(({ organization, name, role, frozen }) => [
        frozen ? [name, ' ', tag(t('account.frozen'), 'bad')] : html`<a href="${pathOf(organization)}">${name}</a>`,
        t(`role.${role}`),
      ]),
    )}
  </section>`;
}

/** Names the organizations that need another way to sign in. */
function closedNote({ provider, request }: PageExchange, { closed, session }: Visitor): HtmlPart {
  if (closed.length === 0) return undefined;
  const t = translatorOf(request);
  const names = closed.map(({ name }) => name).join(', ');
  const how = t(session.byProvider ? 'account.closed-password' : 'account.closed-provider', { count: closed.length });
  const label = provider && t('provider.sign-in', { provider: provider.settings.name });
  return html`<div class="note warn">
    <p>
      <strong>${names}:</strong> ${how}
      ${!session.byProvider && label !== undefined && html`<a href="/login/provider">${label}</a>`}
    </p>
  </div>`;
}

function passwordForm(t: Translator, { person, secret }: Visitor, formState: FormState): Html {
  const current = {
    name: 'current',
    label: t('account.current-password'),
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  return html`<section>
    <h2>${person.password === null ? t('account.set-password') : t('field.password')}</h2>
    <p>${t('account.password-about')}</p>
    <form class="sheet" method="post">
      ${hidden('form', formToken(secret))} ${hidden('do', 'password')} ${usernameField(person.email)}
      ${person.password !== null && field(current, formState)} ${field(newPasswordField(t), formState)}
      <button>${t('button.set-password')}</button>
    </form>
  </section>`;
}
