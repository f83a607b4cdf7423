import type { FastifyInstance, FastifyReply } from 'fastify';
import { publicId } from '../core/ids.ts';
import { passwordProblem } from '../people/password.ts';
import { changePassword } from '../people/password-commands.ts';
import { mailProof } from '../people/reset.ts';
import { endMemberMail } from '../webmail-sessions/end-member-mail.ts';
import { ownMailboxes, type OwnMailbox } from '../webmail-sessions/access-queries.ts';
import { formToken } from '../people/secrets.ts';
import { NEW_PASSWORD } from './claim-pages.ts';
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
import { BUSY } from './link-errors.ts';
import { pageFrame } from './organization-routes.ts';
import { checkOwnPassword } from './reauthentication.ts';
import { address, emptyState, pageHead, table, tag } from './components.ts';
import { endDevices } from './device-actions.ts';
import { deviceList, openMailboxes } from './device-list.ts';
import { pathOf } from './visit.ts';

const DONE: Readonly<Record<string, string>> = {
  password: 'Password changed. All other browsers are signed out.',
  ended: 'Session ended.',
  mailbox: 'This mailbox is not assigned to you, or is suspended.',
  others: 'All other browsers are signed out.',
  revoked: 'App password revoked. Its connections were closed.',
  kept: 'Not revoked: the app password no longer exists, or your role does not allow it.',
  mailed: 'Verification link sent to your address. It expires in 24 hours.',
  limited: 'Daily limit of verification emails reached for this address. Try again tomorrow.',
  proven: 'Address verified. You now receive owner notices and can reset your password by email.',
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
  const problem = passwordProblem(fields.text('password'));
  if (problem !== undefined) return again({ password: problem });
  const password = await exchange.people.passwords.hash(fields.text('password'));
  if (password === undefined) return again({}, BUSY);
  const input = { user: person.id, expected: person.password, password, session: session.id };
  const done = await exchange.context.store.write(changePassword, input);
  switch (done.kind) {
    case 'changed':
      await endMemberMail(exchange.context, person.id);
      return redirect(exchange, '/account?done=password');
    case 'stale':
      return again({}, 'Your password was changed elsewhere at the same time. Try again.');
    case 'taken':
      return again({}, 'Another account already uses this address.');
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
  const body = html`${notice !== undefined && html`<div class="note" role="status"><p>${notice}</p></div>`}
  ${problemNote(formState)} ${pageHead('Your account', visitor.person.email)} ${unproven(visitor)}
  ${mailboxList(visitor, openMailboxes(visitor, mailboxes))} ${belongs(visitor)} ${closedNote(exchange, visitor)}
  ${passwordForm(visitor, formState)} ${securityLink(visitor)} ${await deviceList(exchange, visitor)} ${CONNECTED}`;
  return sendPage(
    exchange,
    fullPage(pageFrame(visitor, 'Your account'), html`<div class="reading">${body}</div>`),
    status,
  );
}

/** Mailboxes that open without their password. */
function mailboxList({ secret }: Visitor, mailboxes: readonly OwnMailbox[]): HtmlPart {
  if (mailboxes.length === 0) return undefined;
  return html`<section>
    <h2>Your mail</h2>
    ${table(
      'Your mailboxes',
      ['Mailbox', ''],
      mailboxes.map(({ account, address: text }) => [
        address(text),
        html`<form class="inline" method="post" action="/mail/open">
          ${hidden('form', formToken(secret))} ${hidden('mailbox', publicId('mailbox', account))}
          <button>Open mail</button>
        </form>`,
      ]),
    )}
  </section>`;
}

function securityLink({ person }: Visitor): Html {
  return html`<section>
    <h2>Sign-in security</h2>
    <p>
      Second factor: ${person.secondFactor ? tag('Active', 'ok') : tag('None', 'warn')}
      <a href="/account/security">Manage</a>
    </p>
  </section>`;
}

const CONNECTED = html`<section>
  <h2>Connected programs</h2>
  <p>Assistants and other programs that you gave access. Signing out browsers does not disconnect them.</p>
  <p><a href="/account/apps">View or disconnect them</a></p>
</section>`;

function unproven({ person, secret }: Visitor): HtmlPart {
  return (
    !person.addressProven &&
    html`<div class="note warn">
      <p>
        <strong>Your address is not verified.</strong> Until it is, you receive no notices of the organizations that you
        own and cannot reset your password by email.
      </p>
      <form method="post">
        ${hidden('form', formToken(secret))} ${hidden('do', 'prove')}
        <button class="quiet">Send a verification link</button>
      </form>
    </div>`
  );
}

function belongs({ memberships }: Visitor): HtmlPart {
  if (memberships.length === 0) {
    return emptyState(
      'No organizations',
      'Ask your administrator for an invitation, or open the claim link of your organization.',
    );
  }
  const roles = { owner: 'Owner', admin: 'Administrator', member: 'Member' } as const;
  return html`<section>
    <h2>Organizations</h2>
    ${table(
      'Your organizations',
      ['Name', 'Role'],
      memberships.map(({ organization, name, role, frozen }) => [
        frozen
          ? [name, ' ', tag('Frozen by the operator', 'bad')]
          : html`<a href="${pathOf(organization)}">${name}</a>`,
        roles[role],
      ]),
    )}
  </section>`;
}

/** Names the organizations that need another way to sign in. */
function closedNote({ provider }: PageExchange, { closed, session }: Visitor): HtmlPart {
  if (closed.length === 0) return undefined;
  const names = closed.map(({ name }) => name).join(', ');
  return html`<div class="note warn">
    <p>
      <strong>${names}:</strong> ${session.byProvider ? 'sign in with your password' : 'sign in with single sign-on'} to
      open ${closed.length === 1 ? 'this organization' : 'these organizations'}.
      ${!session.byProvider && provider !== undefined && html`<a href="/login/provider">Sign in with ${provider.settings.name}</a>`}
    </p>
  </div>`;
}

function passwordForm({ person, secret }: Visitor, formState: FormState): Html {
  const current = {
    name: 'current',
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
  } as const;
  return html`<section>
    <h2>${person.password === null ? 'Set a password' : 'Password'}</h2>
    <p>Changing it signs out all other browsers.</p>
    <form class="sheet" method="post">
      ${hidden('form', formToken(secret))} ${hidden('do', 'password')} ${usernameField(person.email)}
      ${person.password !== null && field(current, formState)} ${field(NEW_PASSWORD, formState)}
      <button>Set password</button>
    </form>
  </section>`;
}
